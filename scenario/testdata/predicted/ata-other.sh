. /common.sh; . /disk.sh
# 6.1.0-50-rt-amd64: the same with 60 of 100 ms and the thread of the interrupt as SCHED_OTHER
disk; rt 60000 100000; irq14 chrt -o -p 0; O="-C mono"; rec ata-other load +0 hi25:R25:0:0:p10000/300/100 dd:O0:100000:0:d200
back
