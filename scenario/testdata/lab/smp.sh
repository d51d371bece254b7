. /common.sh
# one load on several CPUs: NAME.load beside this script, recorded from before its tasks are made
EV=; for e in switch waking wakeup wakeup_new migrate_task process_fork process_exec process_exit pi_setprio stat_runtime; do EV="$EV -e sched:sched_$e"; done
wake=$(awk '$3=="hrtimer_wakeup"{print "0x" $1; exit}' /proc/kallsyms)
EV="$EV -e irq:softirq_raise -f vec==7 -e irq:softirq_entry -f vec==7 -e irq:softirq_exit -f vec==7 -e timer:hrtimer_expire_entry -e timer:hrtimer_start -f function==$wake -e timer:tick_stop"
L=$(ls /*.load); N=$(basename $L .load)
# who wakes in read(2) or write(2) of a pipe says that it will sleep (WF_SYNC)
EV="$EV -e raw_syscalls:sys_enter -f id==0||id==1"
[ "$TURNS" ] && turns $TURNS
facts
for i in /sys/kernel/debug/sched/*; do [ -f $i ] && case $i in */debug|*/features|*/preempt) ;; *) echo "sched $(basename $i) $(cat $i)";; esac; done
for i in sched_cfs_bandwidth_slice_us sched_autogroup_enabled sched_rt_runtime_us sched_rt_period_us sched_rr_timeslice_ms sched_child_runs_first; do [ -f /proc/sys/kernel/$i ] && echo "sysctl $i $(cat /proc/sys/kernel/$i)"; done
for c in /sys/devices/system/cpu/cpu[0-9]*; do llc=; for x in $c/cache/index*; do [ -f $x/level ] && llc="$(cat $x/level):$(cat $x/shared_cpu_list) $llc"; done; echo "cpu ${c##*cpu} core $(cat $c/topology/core_cpus_list) package $(cat $c/topology/package_cpus_list) node $(ls -d $c/node* | sed 's/.*node//') capacity $(cat $c/cpu_capacity 2>/dev/null) caches $llc"; done
echo Y > /sys/kernel/debug/sched/verbose
for d in /sys/kernel/debug/sched/domains/cpu*/domain*; do echo "domain ${d#*domains/} $(for i in $d/*; do echo "$(basename $i)=$(cat $i | tr ' ' ,)"; done | tr '\n' ' ')"; done
threads
trace-cmd start -C mono -b 16000 $EV > /b/log 2>&1; echo 0 > $T/tracing_on; echo > $T/trace
fairload $L 2 whole > /b/said 2>&1
for p in /proc/[0-9]*; do set -- $(sed 's/(.*)/x/' $p/stat); echo "task $1 parent $4 flags $9 prio ${18} rt ${40} policy ${41} cpus $(awk '/^Cpus_allowed_list/{print $2}' $p/status) comm $(cat $p/comm)"; done
cat /proc/schedstat
# trace-cmd extract stores the formats of all events that it finds: leave it only those recorded
formats(){ for e in $(cd $T/events; ls -d ftrace/print sched/sched_* irq/* timer/* raw_syscalls/sys_enter 2>/dev/null); do [ -f $T/events/$e/format ] && { [ "$(cat $T/events/$e/enable 2>/dev/null)" = 0 ] && continue; mkdir -p /tmp/ev/$e; cat $T/events/$e/format > /tmp/ev/$e/format; cat $T/events/$e/id > /tmp/ev/$e/id; }; done; cp $T/events/header_* /tmp/ev/; mount --bind /tmp/ev $T/events; : > /tmp/none; mount --bind /tmp/none $T/printk_formats; }
formats; trace-cmd extract -o /b/$N.dat >> /b/log 2>&1
cat /b/log; ls -la /b; back
