. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: thr2 with set sched_rt_runtime_us=80000 and set sched_rt_period_us=100000
rt 80000 100000; before; rec thr2-80of100 load +0 hi30:R30:3000:0:p8000/1200/300 spin20:F20:0:0:r2100000
back
