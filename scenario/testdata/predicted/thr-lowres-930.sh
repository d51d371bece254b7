. /common.sh
# 6.1.0-50-rt-amd64 highres=off: 930000 without high-resolution timers
echo 930000 > /proc/sys/kernel/sched_rt_runtime_us
O="-C mono"; rec thr-lowres-930 load +0 hi25:R25:0:0:p10000/1000/300 lo10:F10:0:0:p20000/200/150 burn22:F22:0:0:b3000 cfs:O0:-100000:0:b3100
back
