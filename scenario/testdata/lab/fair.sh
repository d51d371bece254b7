. /common.sh
# one load of fair tasks: NAME.load beside this script. STATES: how often the scheduler's state is taken within
EV=; for e in switch waking wakeup wakeup_new migrate_task process_fork process_exec process_exit pi_setprio stat_runtime; do EV="$EV -e sched:sched_$e"; done
tick=$(awk '$3 ~ /^(tick_sched_timer|tick_nohz_handler)$/{print "0x" $1; exit}' /proc/kallsyms)
EV="$EV -e irq:irq_handler_entry -e irq:irq_handler_exit -e irq:softirq_entry -e irq:softirq_exit -e timer:hrtimer_expire_entry -e timer:hrtimer_start -f function!=$tick -e timer:hrtimer_cancel -e cgroup:cgroup_attach_task"
grep -q " auto " /*.load && echo 1 > /proc/sys/kernel/sched_autogroup_enabled
L=$(ls /*.load); N=$(basename $L .load)
grep -v '^#' $L | grep -qE ' y |\( y| c[a-z/]+ | a[oibf]' && EV="$EV -e raw_syscalls:sys_enter -f id==24||id==314"
facts
for i in /sys/kernel/debug/sched/*; do [ -f $i ] && case $i in */debug|*/features|*/preempt) ;; *) echo "sched $(basename $i) $(cat $i)";; esac; done
for i in sched_cfs_bandwidth_slice_us sched_autogroup_enabled sched_rt_runtime_us sched_rt_period_us sched_rr_timeslice_ms sched_child_runs_first; do [ -f /proc/sys/kernel/$i ] && echo "sysctl $i $(cat /proc/sys/kernel/$i)"; done
trace-cmd start -C mono -b 16000 $EV > /b/log 2>&1; echo 0 > $T/tracing_on; echo > $T/trace
fairload $L $STATES > /b/said 2>&1
for g in $(find /sys/fs/cgroup -mindepth 1 -type d); do echo "cgroup ${g#/sys/fs/cgroup} weight=$(cat $g/cpu.weight) idle=$(cat $g/cpu.idle) max=$(cat $g/cpu.max | tr ' ' /) burst=$(cat $g/cpu.max.burst) stat=$(grep -E 'nr_periods|nr_throttled|throttled_usec|nr_bursts|burst_usec|usage_usec' $g/cpu.stat | tr ' \n' ':,')"; done
# trace-cmd extract stores the formats of all events that it finds: leave it only those recorded
formats(){ for e in $(cd $T/events; ls -d ftrace/print sched/sched_* irq/* timer/hrtimer_* cgroup/cgroup_attach_task raw_syscalls/sys_enter 2>/dev/null); do [ -f $T/events/$e/format ] && { [ "$(cat $T/events/$e/enable 2>/dev/null)" = 0 ] && continue; mkdir -p /tmp/ev/$e; cat $T/events/$e/format > /tmp/ev/$e/format; cat $T/events/$e/id > /tmp/ev/$e/id; }; done; cp $T/events/header_* /tmp/ev/; mount --bind /tmp/ev $T/events; : > /tmp/none; mount --bind /tmp/none $T/printk_formats; }
formats; trace-cmd extract -o /b/$N.dat >> /b/log 2>&1
cat /b/log; ls -la /b; back
