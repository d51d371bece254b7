. /common.sh
# 6.1.0-50-amd64: 950000 on the kernel without PREEMPT_RT, no fair hog
echo 950000 > /proc/sys/kernel/sched_rt_runtime_us
O="-C mono"; rec thr-v61 load +0 hi25:R25:0:0:p10000/1000/300 lo10:F10:0:0:p20000/200/150 burn22:F22:0:0:b3000
back
