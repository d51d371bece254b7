. /common.sh
# 6.1.0-50-rt-amd64: a chain of two mutexes: FIFO 40 waits for FIFO 25, which waits for FIFO 10, below a FIFO 30 hog
O="-C mono"; rec pi-chain load +0 high:F40:22000:0:n0 midlock:F25:21000:0:L0,n1,r1000,U0 low:F10:20000:0:L1,r6000,U1 hog:F30:21500:0:r40000
back
