. /common.sh; . /disk.sh
# 6.1.0-50-rt-amd64: the same with 60 of 100 ms and the thread of the interrupt at FIFO 20, below hi25
disk; rt 60000 100000; irq14 chrt -f -p 20; O="-C mono"; rec ata-fifo20 load +0 hi25:R25:0:0:p10000/300/100 dd:O0:100000:0:d200
back
