. /common.sh; . /pairs.sh
# 6.1.0-50-rt-amd64, 1 CPU: three deadline tasks, two SCHED_RR and two SCHED_FIFO of one priority
EV="$EV -e sched:sched_stat_runtime"
before; rec edf load +0 d1:D2000/10000:0:0:p10000/1500/30 d2:D3000/15000:0:0:p15000/2500/20 d3:D4000/20000:500:0:p20000/5000/15 r1:R20:2000:0:b130 r2:R20:2000:0:b130 f1:F15:1000:0:p20000/1500/15 f2:F15:1000:0:p20000/1500/15
back
