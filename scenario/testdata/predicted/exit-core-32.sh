. /common.sh
# 6.1.0-50-rt-amd64: a task with 32 MB gets SIGSEGV and writes a core dump
ulimit -c unlimited; echo /tmp/core > /proc/sys/kernel/core_pattern
O="-C mono"; rec exit-core-32 load +0 victim:F10:0:0:p2000/50/300 hog:R11:101000:32:r100,x
back
