. /common.sh
# 6.1.0-50-amd64 highres=off: 91000 of 100000 us on the kernel without PREEMPT_RT and without high-resolution timers
echo -1 > /proc/sys/kernel/sched_rt_runtime_us; echo 100000 > /proc/sys/kernel/sched_rt_period_us; echo 91000 > /proc/sys/kernel/sched_rt_runtime_us
O="-C mono"; rec thr-lowres-v61 load +0 hi25:R25:0:0:p10000/1000/200 lo10:F10:0:0:p20000/200/100 burn22:F22:0:0:b2000 cfs:O0:-100000:0:b2100
back
