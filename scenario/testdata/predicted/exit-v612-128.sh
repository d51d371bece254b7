. /common.sh
# 6.12.107+deb12-amd64: 128 MB on 6.12 with voluntary preemption
O="-C mono"; rec exit-v612-128 load +0 victim:F10:0:0:p2000/50/300 hog:R11:101000:128:r100,e
back
