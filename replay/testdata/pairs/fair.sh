. /common.sh; . /pairs.sh
# 6.12.107+deb12-rt-amd64, 1 CPU: the fair server takes the CPU from real-time tasks
before; rec fair load +0 hi25:R25:0:0:p10000/1000/240 burn22:F22:0:0:r2000000 cfs:O0:-100000:0:r600000
back
