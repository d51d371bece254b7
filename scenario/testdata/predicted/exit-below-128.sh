. /common.sh
# 6.1.0-50-rt-amd64: the dying task is FIFO 5, below the FIFO 10 task
O="-C mono"; rec exit-below-128 load +0 victim:F10:0:0:p2000/50/300 hog:F5:101000:128:r100,e
back
