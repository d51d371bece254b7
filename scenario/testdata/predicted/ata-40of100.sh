. /common.sh; . /disk.sh
# 6.1.0-50-rt-amd64: {d}
disk; rt {rt} {per}; {cmd+'; ' if cmd else ''}O="-C mono"; rec {n} load +0 hi25:R25:0:0:p10000/300/{rounds} dd:O0:100000:0:d{reads}
back
