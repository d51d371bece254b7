. /common.sh
# 6.1.0-50-rt-amd64: a paused task with 128 MB is killed with SIGKILL
O="-C mono"; rec exit-kill-128 load +0 victim:F10:0:0:p2000/50/300 hog:R11:50000:128:w killer:F20:101000:0:khog
back
