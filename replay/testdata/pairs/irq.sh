. /common.sh; . /disk.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: the thread of a disk's interrupt (FIFO 50) uses up 60 of each 100 ms
disk; rt 60000 100000; before; rec irq load +0 hi25:R25:0:0:p10000/300/50 dd:O0:100000:0:d80
back
