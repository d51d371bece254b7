. /common.sh
# 6.1.0-50-rt-amd64: the same with 128 MB
O="-C mono"; rec exit-128 load +0 victim:F10:0:0:p2000/50/300 hog:R11:101000:128:r100,e
back
