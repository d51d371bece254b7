. /common.sh
# 6.1.0-50-rt-amd64: 95000 of 100000 us
echo -1 > /proc/sys/kernel/sched_rt_runtime_us; echo 100000 > /proc/sys/kernel/sched_rt_period_us; echo 95000 > /proc/sys/kernel/sched_rt_runtime_us
O="-C mono"; rec thr-95of100 load +0 hi25:R25:0:0:p10000/1000/100 lo10:F10:0:0:p20000/200/50 burn22:F22:0:0:b1000 cfs:O0:-100000:0:b1100
back
