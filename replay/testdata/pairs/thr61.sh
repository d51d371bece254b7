. /common.sh; . /pairs.sh
# 6.1.0-50-amd64, 1 CPU: the same with a fair task
before; rec thr61 load +0 hi30:R30:3000:0:p8000/1200/300 spin20:F20:0:0:r2000000 cfs:O0:-100000:0:r500000
back
