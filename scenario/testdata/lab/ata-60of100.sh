. /common.sh; . /disk.sh
# an IDE disk in PIO mode (libata dma=0) is read as fast as it can be
disk; rt 60000 100000
O="-C mono"; rec ata-60of100 load +0 hi25:R25:0:0:p10000/300/80 dd:O0:100000:0:d200
back
