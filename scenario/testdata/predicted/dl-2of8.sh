. /common.sh
# 6.1.0-50-rt-amd64: a deadline task with 2 of 8 ms that wants 3 ms every 16 ms, above FIFO 30
O="-C mono"; rec dl-2of8 load +0 dlo:D2000/8000:0:0:p16000/3000/60 fifo30:F30:0:0:p5000/1000/200
back
