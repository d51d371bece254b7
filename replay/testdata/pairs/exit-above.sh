. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: exit with task=victim policy=fifo prio=12
before; syscall 231; rec exit-above load +0 victim:F12:500:0:p2000/100/400 hog:R11:200000:128:r100,e
back
