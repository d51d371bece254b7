. /common.sh
# 6.1.0-50-rt-amd64: real-time load of 93 % at 950000: no throttling
echo 950000 > /proc/sys/kernel/sched_rt_runtime_us
O="-C mono"; rec thr-below load +0 hi25:R25:0:0:p10000/1000/200 load93:F22:0:0:p100000/83000/20 cfs:O0:-100000:0:b2100
back
