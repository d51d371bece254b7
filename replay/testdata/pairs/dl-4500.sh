. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: dl with task=dlo runtime=4500
before; rec dl-4500 load +0 dlo:D4500/10000:0:0:p20000/5000/50 fifo30:F30:1500:0:p10000/800/100
back
