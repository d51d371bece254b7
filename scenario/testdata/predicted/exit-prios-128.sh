. /common.sh
# 6.1.0-50-rt-amd64: one FIFO task above and one below the dying one
O="-C mono"; rec exit-prios-128 load +0 above:F12:0:0:p2000/50/300 victim:F10:0:0:p2000/50/300 hog:F11:101000:128:r100,e
back
