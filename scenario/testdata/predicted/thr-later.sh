. /common.sh
# 6.1.0-50-rt-amd64: 950000, the load 300 ms later in the period, no fair hog
echo 950000 > /proc/sys/kernel/sched_rt_runtime_us
O="-C mono"; rec thr-later load +0 hi25:R25:300000:0:p10000/1000/300 lo10:F10:300000:0:p20000/200/150 burn22:F22:300000:0:b3000
back
