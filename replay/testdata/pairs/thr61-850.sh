. /common.sh; . /pairs.sh
# 6.1.0-50-amd64, 1 CPU: thr61 with set sched_rt_runtime_us=850000
echo 850000 > /proc/sys/kernel/sched_rt_runtime_us; before; rec thr61-850 load +0 hi30:R30:3000:0:p8000/1200/300 spin20:F20:0:0:r2000000 cfs:O0:-100000:0:r500000
back
