. /common.sh
# 6.1.0-50-rt-amd64: a fair task of 10 ms whose timer expires in ktimers, starved by 25 of 40 ms of FIFO 22
O="-C mono"; rec ktimers load +0 sleeper:O0:0:0:p10000/500/200 rtload:F22:3000:0:p40000/25000/50
back
