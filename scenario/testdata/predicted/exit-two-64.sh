. /common.sh
# 6.1.0-50-rt-amd64: two tasks with 64 MB exit at once
O="-C mono"; rec exit-two-64 load +0 victim:F10:0:0:p2000/50/300 hog:F11:101000:64:r100,e twin:F11:101000:64:r100,e
back
