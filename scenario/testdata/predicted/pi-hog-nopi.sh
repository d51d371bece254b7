. /common.sh
# 6.1.0-50-rt-amd64: the same without priority inheritance
O="-C mono"; export NOPI=1; rec pi-hog-nopi load +0 high:F40:2000:0:p20000/100/1,n0 holder:F10:20000:0:L0,r5000,U0 mid:F20:21000:0:r30000
back
