. /common.sh
# 6.1.0-50-rt-amd64: a FIFO 10 task holds a PI mutex for 5 ms below a FIFO 20 hog; a FIFO 40 task wants it
O="-C mono"; rec pi-hog load +0 high:F40:2000:0:p20000/100/1,n0 holder:F10:20000:0:L0,r5000,U0 mid:F20:21000:0:r30000
back
