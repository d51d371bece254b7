. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: a deadline task with 3 of 10 ms works 5 ms in 20
before; rec dl load +0 dlo:D3000/10000:0:0:p20000/5000/50 fifo30:F30:1500:0:p10000/800/100
back
