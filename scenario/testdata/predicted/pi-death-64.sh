. /common.sh
# 6.1.0-50-rt-amd64: a task with 64 MB dies with a mutex that a FIFO 40 task waits for
O="-C mono"; rec pi-death-64 load +0 victim:F10:0:0:p2000/50/300 hog:F11:50000:64:L0,z51000,r100,e high:F40:60000:0:n0
back
