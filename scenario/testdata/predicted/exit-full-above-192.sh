. /common.sh
# 6.1.0-50-amd64 preempt=full: 6.1 with preempt=full: a FIFO 12 task above a dying one with 192 MB
O="-C mono"; rec exit-full-above-192 load +0 above:F12:0:0:p2000/50/300 hog:R11:101000:192:r100,e
back
