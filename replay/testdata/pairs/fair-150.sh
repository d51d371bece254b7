. /common.sh; . /pairs.sh
# 6.12.107+deb12-rt-amd64, 1 CPU: fair with set fair_server_runtime_ns=150000000
server 150000000; before; rec fair-150 load +0 hi25:R25:0:0:p10000/1000/240 burn22:F22:0:0:r2000000 cfs:O0:-100000:0:r600000
back
