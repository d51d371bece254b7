. /common.sh
# 6.1.0-50-rt-amd64: the same without becoming SCHED_OTHER
O="-C mono"; rec exit-rt-busy-64 load +0 victim:F10:0:0:p2000/50/400 busy:F20:0:0:p10000/8000/60 hog:F11:101000:64:r100,e
back
