. /common.sh
# 6.1.0-50-rt-amd64: the dying task is a deadline task with 2 of 10 ms
O="-C mono"; rec exit-dl-64 load +0 victim:F10:0:0:p2000/50/300 hog:D2000/10000:101000:64:r100,e
back
