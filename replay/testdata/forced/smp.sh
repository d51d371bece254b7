. /common.sh; . /pairs.sh
# 6.1.0-50-amd64, 4 CPUs, plain emulation: real-time and deadline tasks that may use all of them
EV="-e timer:hrtimer_expire_entry -e timer:hrtimer_start"
for e in switch waking wakeup wakeup_new migrate_task process_fork process_exit pi_setprio stat_runtime; do EV="$EV -e sched:sched_$e"; done
before; rec smp load +0 a:F10@*:0:0:p7000/3000/12 b:F20@*:100:0:p5000/2000/16 c:F30@*:200:0:p6000/2500/14 e:F50@*:400:0:p9000/3000/10 f:R20@*:500:0:p11000/4000/8 g:D3000/10000:600:0:p10000/2500/9 h:D4000/12000:700:0:p12000/3000/8 i:D2000/8000:800:0:p8000/1500/11 j:D3000/9000:900:0:p9000/2500/10 k:D2500/11000:950:0:p11000/2000/9
back
