. /common.sh
# 6.1.0-50-amd64: a deadline task with 5 of 20 ms that wants 7 ms every 40 ms, on the kernel without PREEMPT_RT
O="-C mono"; rec dl-5of20 load +0 dlo:D5000/20000:0:0:p40000/7000/40 fifo30:F30:0:0:p5000/1000/320
back
