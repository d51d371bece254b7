. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: a FIFO 10 holder of a PI mutex, boosted to 40, is in the way of mid
before; rec pi load +0 high:F40:2000:0:l50000/0/300/20 holder:F10:500:0:l50000/0/6000/20 mid:F20:3000:0:p50000/12000/20
back
