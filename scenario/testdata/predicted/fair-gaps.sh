. /common.sh
# 6.12.107+deb12-rt-amd64: real-time load that leaves a tenth: the fair server has nothing to do
O="-C mono"; rec fair-gaps load +0 hi25:R25:0:0:p10000/1000/200 load90:F22:0:0:p100000/80000/20 cfs:O0:-100000:0:b2100
back
