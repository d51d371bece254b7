. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: a RR 11 task dies with 128 MB; victim is FIFO 10
before; syscall 231; rec exit load +0 victim:F10:500:0:p2000/100/400 hog:R11:200000:128:r100,e
back
