. /common.sh
# 6.1.0-50-amd64: 128 MB on the kernel with voluntary preemption
O="-C mono"; rec exit-v61-128 load +0 victim:F10:0:0:p2000/50/300 hog:R11:101000:128:r100,e
back
