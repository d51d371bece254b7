. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: prio with task=hog policy=fifo prio=10
before; rec prio-down load +0 hog:F10:1000:0:p20000/5000/50 mid:F25:3000:0:p40000/3000/25 victim:F20:2300:0:p10000/1500/100
back
