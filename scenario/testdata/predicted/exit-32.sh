. /common.sh
# 6.1.0-50-rt-amd64: a SCHED_RR 11 task with 32 MB of locked memory exits above a FIFO 10 task of 2 ms
O="-C mono"; rec exit-32 load +0 victim:F10:0:0:p2000/50/200 hog:R11:101000:32:r100,e
back
