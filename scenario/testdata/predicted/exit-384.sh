. /common.sh
# 6.1.0-50-rt-amd64: the same with 384 MB
O="-C mono"; rec exit-384 load +0 victim:F10:0:0:p2000/50/400 hog:R11:101000:384:r100,e
back
