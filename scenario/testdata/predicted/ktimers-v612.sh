. /common.sh
# 6.12.107+deb12-rt-amd64: 6.12-rt: a fair task of 7 ms below 12 of 30 ms of FIFO 22
O="-C mono"; rec ktimers-v612 load +0 sleeper:O0:0:0:p7000/300/300 rtload:F22:3000:0:p30000/12000/70
back
