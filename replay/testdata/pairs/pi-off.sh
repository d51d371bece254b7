. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: pi with mutex=* pi=off
before; export NOPI=1; rec pi-off load +0 high:F40:2000:0:l50000/0/300/20 holder:F10:500:0:l50000/0/6000/20 mid:F20:3000:0:p50000/12000/20
back
