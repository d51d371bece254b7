. /common.sh; . /pairs.sh
# 6.1.0-50-amd64, 1 CPU: thr61 with task=hi30 policy=fifo prio=10
before; rec thr61-below load +0 hi30:F10:3000:0:p8000/1200/300 spin20:F20:0:0:r2000000 cfs:O0:-100000:0:r500000
back
