. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: exit with set exit_normalize=rt
before; syscall 231; rec exit-normal load +0 victim:F10:500:0:p2000/100/400 hog:R11:200000:128:r100,o,e
back
