. /common.sh
# 6.12.107+deb12-rt-amd64: real-time load that begins half a second after the fair hog
O="-C mono"; rec fair-late load +0 hi25:R25:400000:0:p10000/1000/300 burn22:F22:400000:0:b3000 cfs:O0:-100000:0:b3500
back
