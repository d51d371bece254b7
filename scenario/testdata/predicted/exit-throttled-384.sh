. /common.sh
# 6.1.0-50-rt-amd64: the dying task uses up what real-time tasks may use, 150 ms a second
echo 150000 > /proc/sys/kernel/sched_rt_runtime_us
O="-C mono"; rec exit-throttled-384 load +0 victim:F10:0:0:p2000/50/900 hog:F11:101000:384:r100,e
back
