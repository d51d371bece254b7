. /common.sh
# 6.1.0-50-rt-amd64: the dying task becomes SCHED_OTHER before it exits, while a FIFO 20 task uses 80 % of the CPU; its parent waits
O="-C mono"; rec exit-normal-busy-64 load +0 victim:F10:0:0:p2000/50/400 busy:F20:0:0:p10000/8000/60 hog:F11:101000:64:r100,o,e
back
