. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: exit with exit_teardown ×0.25
before; syscall 231; rec exit-quarter load +0 victim:F10:500:0:p2000/100/400 hog:R11:200000:32:r100,e
back
