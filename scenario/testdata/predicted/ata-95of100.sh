. /common.sh; . /disk.sh
# 6.1.0-50-rt-amd64: the same with 95 of 100 ms
disk; rt 95000 100000; O="-C mono"; rec ata-95of100 load +0 hi25:R25:0:0:p10000/300/100 dd:O0:100000:0:d200
back
