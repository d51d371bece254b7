. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: thr with set sched_rt_runtime_us=90000 and set sched_rt_period_us=100000
rt 90000 100000; before; rec thr-90of100 load +0 hi25:R25:0:0:p10000/1000/240 burn22:F22:0:0:b2400
back
