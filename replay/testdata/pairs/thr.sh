. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: real-time throttling without fair tasks
before; rec thr load +0 hi25:R25:0:0:p10000/1000/240 burn22:F22:0:0:b2400
back
