. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: dl with task=dlo policy=fifo prio=20
before; rec dl-fifo load +0 dlo:F20:0:0:p20000/5000/50 fifo30:F30:1500:0:p10000/800/100
back
