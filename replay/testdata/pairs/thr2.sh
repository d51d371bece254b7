. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: real-time throttling of tasks that work for an amount
before; rec thr2 load +0 hi30:R30:3000:0:p8000/1200/300 spin20:F20:0:0:r2100000
back
