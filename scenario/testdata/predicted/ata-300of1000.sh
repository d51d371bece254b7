. /common.sh; . /disk.sh
# 6.1.0-50-rt-amd64: the same with 300 of 1000 ms
disk; rt 300000 1000000; O="-C mono"; rec ata-300of1000 load +0 hi25:R25:0:0:p10000/300/200 dd:O0:100000:0:d300
back
