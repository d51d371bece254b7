. /common.sh
# 6.12.107+deb12-amd64: 6.12, voluntary preemption: a FIFO 12 task above the dying one
O="-C mono"; rec exit-v612-above-128 load +0 above:F12:0:0:p2000/50/300 hog:R11:101000:128:r100,e
back
