. /common.sh
# 6.1.0-50-rt-amd64: two real-time hogs, one of them in bursts of 40 of 100 ms
echo 950000 > /proc/sys/kernel/sched_rt_runtime_us
O="-C mono"; rec thr-two load +0 hi25:R25:0:0:p10000/1000/300 lo10:F10:0:0:p20000/200/150 burn22:F22:0:0:b3000 burst30:F30:0:0:p100000/40000/30 cfs:O0:-100000:0:b3100
back
