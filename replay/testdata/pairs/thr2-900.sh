. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: thr2 with set sched_rt_runtime_us=900000
echo 900000 > /proc/sys/kernel/sched_rt_runtime_us; before; rec thr2-900 load +0 hi30:R30:3000:0:p8000/1200/300 spin20:F20:0:0:r2100000
back
