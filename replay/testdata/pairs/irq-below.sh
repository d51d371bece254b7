. /common.sh; . /disk.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: irq with irq=14-ata_piix policy=fifo prio=10
disk; rt 60000 100000; irq14 chrt -f -p 10; before; rec irq-below load +0 hi25:R25:0:0:p10000/300/50 dd:O0:100000:0:d80
back
