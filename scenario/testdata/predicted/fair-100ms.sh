. /common.sh
# 6.12.107+deb12-rt-amd64: the fair server's runtime is 100 ms
echo 100000000 > /sys/kernel/debug/sched/fair_server/cpu0/runtime; cat /sys/kernel/debug/sched/fair_server/cpu0/runtime
O="-C mono"; rec fair-100ms load +0 hi25:R25:0:0:p10000/1000/300 burn22:F22:0:0:b3000 cfs:O0:-100000:0:b3100
back
