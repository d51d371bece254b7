# Two CPUs, plain emulation: a group with cpu.max, one with cpuset.cpus, and what docs/sysinfo.md
# says of the machine, by hand. Needs debugfs and cgroup2, and an awk and a sed.
. /common.sh
# what docs/sysinfo.md says, by hand
q(){ printf '"%s"' "$1"; }
snap(){
echo '{'
echo '"schema": "whylate.sysinfo/1",'
echo "\"time_ns\": $(awk '{printf "%.0f", $1*1e9}' /proc/uptime),"
echo "\"kernel\": {\"release\": \"$(uname -r)\", \"version\": \"$(uname -v)\", \"machine\": \"$(uname -m)\"},"
printf '"settings": ['; c=
set1(){ printf '%s\n{"name": "%s", "value": "%s"}' "$c" "$1" "$2"; c=,; }
for s in sched_rt_runtime_us sched_rt_period_us sched_rr_timeslice_ms; do [ -f /proc/sys/kernel/$s ] && set1 $s $(cat /proc/sys/kernel/$s); done
p=$(sed -n 's/.*(\(.*\)).*/\1/p' /sys/kernel/debug/sched/preempt 2>/dev/null); [ "$p" ] && set1 preempt $p
[ "$(cat /sys/kernel/realtime 2>/dev/null)" = 1 ] && set1 preempt rt
grep -q threadirqs /proc/cmdline && set1 threadirqs on || set1 threadirqs off
grep -q highres=off /proc/cmdline && set1 highres off || set1 highres on
for f in runtime period; do n=$(cat /sys/kernel/debug/sched/fair_server/cpu*/$f 2>/dev/null | sort -u); [ "$(echo "$n" | wc -w)" = 1 ] && set1 fair_server_${f}_ns $n; done
echo '],'
printf '"features": ['; c=
for f in $(cat /sys/kernel/debug/sched/features); do case $f in NO_*) printf '%s{"name": "%s", "on": false}' "$c" ${f#NO_};; *) printf '%s{"name": "%s", "on": true}' "$c" $f;; esac; c=', 
'; done; echo '],'
in_list(){ awk -v l="$(cat $1 2>/dev/null)" -v c=$2 'BEGIN{n=split(l,a,",");for(i=1;i<=n;i++){split(a[i],r,"-");if(r[2]=="")r[2]=r[1];if(c>=r[1]&&c<=r[2]){print "true";exit}}print "false"}'; }
first(){ sed 's/[,-].*//' $1 2>/dev/null || echo -1; }
printf '"cpus": ['; c=
for d in /sys/devices/system/cpu/cpu[0-9]*; do n=${d##*cpu}
 llc=-1; lv=0; for i in $d/cache/index*; do [ -f $i/level ] || continue; v=$(cat $i/level); [ $v -ge $lv ] && { lv=$v; llc=$(first $i/shared_cpu_list); }; done
 node=-1; for x in $d/node[0-9]*; do [ -e $x ] && node=${x##*node}; done
 core=$(first $d/topology/core_cpus_list); sib=$(cat $d/topology/core_cpus_list 2>/dev/null)
 printf '%s\n{"cpu": %s, "online": %s, "core": %s, "llc": %s, "node": %s, "capacity": %s, "siblings": "%s", "isolated": %s, "nohz_full": %s' "$c" $n $(in_list /sys/devices/system/cpu/online $n) ${core:--1} $llc $node $(cat $d/cpu_capacity 2>/dev/null || echo 1024) "$sib" $(in_list /sys/devices/system/cpu/isolated $n) $(in_list /sys/devices/system/cpu/nohz_full $n)
 f=/sys/kernel/debug/sched/fair_server/cpu$n; [ -d $f ] && printf ', "fair_server": {"runtime_ns": %s, "period_ns": %s}' $(cat $f/runtime) $(cat $f/period)
 printf '}'; c=,; done; echo '],'
printf '"tasks": ['; c=
for t in /proc/[0-9]*/task/[0-9]*; do tid=${t##*/}; pid=${t#/proc/}; pid=${pid%%/*}
 comm=$(cat $t/comm 2>/dev/null) || continue
 set -- $(sed 's/.*) //' $t/stat); # $1 is field 3
 nice=${17}; rt=${38}; pol=${39}; flags=$7
 case $pol in 0) p=SCHED_OTHER;; 1) p=SCHED_FIFO;; 2) p=SCHED_RR;; 3) p=SCHED_BATCH;; 5) p=SCHED_IDLE;; 6) p=SCHED_DEADLINE;; *) p=policy-$pol;; esac
 cpus=$(sed -n 's/^Cpus_allowed_list:[ \t]*//p' $t/status); cg=$(sed -n 's/^0:://p' $t/cgroup)
 k=false; [ $(( flags & 0x200000 )) != 0 ] && k=true
 sl=$(cat /proc/$tid/timerslack_ns 2>/dev/null)
 printf '%s\n{"pid": %s, "tgid": %s, "comm": "%s", "policy": "%s", "priority": %s, "nice": %s, "cpus": "%s", "cgroup": "%s", "kernel": %s%s}' "$c" $tid $pid "$comm" $p $rt $nice "$cpus" "$cg" $k "${sl:+, \"timer_slack_ns\": $sl}"; c=,; done; echo '],'
printf '"cgroups": ['; c=
for g in $(find /sys/fs/cgroup -type d); do p=${g#/sys/fs/cgroup}; printf '%s\n{"path": "%s"' "$c" "${p:-/}"; c=,
 [ -f $g/cpu.weight ] && printf ', "weight": %s' $(cat $g/cpu.weight)
 [ -f $g/cpu.idle ] && [ $(cat $g/cpu.idle) = 1 ] && printf ', "idle": true'
 if [ -f $g/cpu.max ]; then set -- $(cat $g/cpu.max); [ $1 != max ] && printf ', "quota_ns": %s000' $1; printf ', "period_ns": %s000' $2; fi
 [ -f $g/cpu.max.burst ] && printf ', "burst_ns": %s' $(( $(cat $g/cpu.max.burst) * 1000 ))
 [ -f $g/cpuset.cpus.effective ] && printf ', "cpus": "%s"' $(cat $g/cpuset.cpus.effective)
 [ -f $g/cpuset.cpus.partition ] && printf ', "partition": "%s"' "$(cat $g/cpuset.cpus.partition)"
 printf '}'; done; echo '],'
printf '"irqs": ['; c=
for d in /proc/irq/[0-9]*; do n=${d##*/}; for h in $d/*/; do [ -d $h ] || continue; nm=$(basename $h)
 th=$(for s in /proc/[0-9]*; do case "$(cat $s/comm 2>/dev/null)" in irq/$n-*) echo ${s#/proc/};; esac; done | head -1)
 printf '%s\n{"number": %s, "name": "%s", "cpus": "%s", "effective": "%s", "thread": %s}' "$c" $n "$nm" "$(cat $d/smp_affinity_list)" "$(cat $d/effective_affinity_list)" ${th:-0}; c=,; done; done; echo ']}'
}
echo +cpu +cpuset > /sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/web /sys/fs/cgroup/rt; echo "20000 100000" > /sys/fs/cgroup/web/cpu.max; echo 50 > /sys/fs/cgroup/web/cpu.weight; echo 1 > /sys/fs/cgroup/rt/cpuset.cpus
cat > /tmp/start.sh <<'W'
[ "$1" = / ] || echo $$ > /sys/fs/cgroup/$1/cgroup.procs
shift
while [ ! -f /tmp/go ]; do sleep 1; done
exec "$@"
W
sh /tmp/start.sh web rtper qspin1 O 0 0 burn 0 0 800 &
sh /tmp/start.sh web rtper qspin2 O 0 1 burn 0 0 800 &
sh /tmp/start.sh / rtper outspin O 0 0 burn 0 0 800 &
sh /tmp/start.sh rt rtper ctl R 25 1 per 10000 1000 800 &
chrt -d --sched-runtime 1000000 --sched-deadline 5000000 --sched-period 10000000 0 sleep 90 & 
chrt -b 0 sleep 90 & chrt -i 0 sleep 90 & true
sleep 1
snap > /b/snap.json
cat /sys/fs/cgroup/web/cpu.stat > /b/cpu.stat
trace-cmd record -q -C mono -b 8000 -p function -l throttle_cfs_rq -l unthrottle_cfs_rq -e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_migrate_task -e sched:sched_process_fork -e sched:sched_process_exit -e timer:hrtimer_expire_entry -o /b/q.dat sh -c "touch /tmp/go; sleep 1" > /b/q.log 2>&1
cat /sys/fs/cgroup/web/cpu.stat > /b/cpu.stat2
back
