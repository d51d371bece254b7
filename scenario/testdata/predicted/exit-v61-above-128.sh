. /common.sh
# 6.1.0-50-amd64: voluntary preemption: a FIFO 12 task above the dying one
O="-C mono"; rec exit-v61-above-128 load +0 above:F12:0:0:p2000/50/300 hog:R11:101000:128:r100,e
back
