. /common.sh
# 6.12.107+deb12-rt-amd64: a mutex holder below a hog on 6.12-rt, 8 ms
O="-C mono"; rec pi-v612rt load +0 high:F40:2000:0:p20000/100/1,n0 holder:F10:20000:0:L0,r8000,U0 mid:F20:21000:0:r30000
back
