. /common.sh
G=/sys/fs/cgroup/quota
ing(){ sh -c "echo 0 > $G/cgroup.procs; exec $*"; }
load(){ cat $G/cpu.stat > /b/$1.stat0
 ing actor qspin1 O 0 burn 620 & ing actor qspin2 O 0 burn 620 & ing actor qper O 0 loop 10000 300 45 &
 actor outper O 0 loop 7000 300 80 & [ "$1" = busy ] && actor outspin O 0 burn 600 &
 wait; cat $G/cpu.stat > /b/$1.stat1; }
if [ "$1" ]; then load $1 > /b/$1.said 2>&1; exit; fi
facts; echo +cpu > /sys/fs/cgroup/cgroup.subtree_control; mkdir $G; echo "20000 100000" > $G/cpu.max; cat $G/cpu.max
wc -l /proc/kallsyms; grep -E "^(un)?throttle_cfs_rq|^(a|de)sync.*throttle" $T/available_filter_functions; EV="$SCHED $HR -p function -l throttle_cfs_rq -l unthrottle_cfs_rq"
rec idle sh /run.sh idle
rec busy sh /run.sh busy
grep -H . /b/*.stat? /b/*.said; ls -la /b
back
