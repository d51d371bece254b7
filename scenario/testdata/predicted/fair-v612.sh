. /common.sh
# 6.12.107+deb12-amd64: the fair server on the kernel without PREEMPT_RT
O="-C mono"; rec fair-v612 load +0 hi25:R25:0:0:p10000/1000/300 burn22:F22:0:0:b3000 cfs:O0:-100000:0:b3100 cfs2:O0:-100000:0:b3100
back
