# Sourced by each script inside the guest.
# symbols: a /proc/kallsyms of only those symbols that a scheduler trace needs, each with the one behind it
symbols(){ awk '{n=$3} hit{print;hit=0} n ~ /^(sched_cfs_period_timer|sched_cfs_slack_timer|sched_rt_period_timer|dl_task_timer|dl_server_timer|inactive_task_timer|hrtimer_wakeup|tick_sched_timer|tick_nohz_handler|it_real_fn|alarm_timer|posix_timer_fn|timerfd_tmrproc|hrtick|do_exit|do_group_exit|exit_mm|exit_mmap|mmput|__mmput|do_coredump|get_signal|begin_new_exec|unmap_vmas|tlb_finish_mmu|__mmdrop|pgd_free|free_pcppages_bulk)$/{print;hit=1}' /proc/kallsyms > /tmp/kallsyms; mount --bind /tmp/kallsyms /proc/kallsyms; }
T=/sys/kernel/tracing
[ "$IN" ] || { export IN=1; symbols; mkdir -p /b; exec > /b/out.txt 2>&1; }
cd /b
# the events of the recordings in shared/traces, so that tracing itself costs the same
EV="-e sched -e irq -e timer:hrtimer_expire_entry -e timer:hrtimer_start -e timer:hrtimer_cancel -e signal -e task"
rec(){ rn=$1; shift; trace-cmd record -q -b 16000 $EV $O -o /b/$rn.dat "$@" > /b/$rn.log 2>&1; cat /b/$rn.log; }
facts(){ uname -r; echo "preempt: $(cat /sys/kernel/debug/sched/preempt 2>/dev/null)"; echo "features: $(cat /sys/kernel/debug/sched/features)"; cat /proc/sys/kernel/sched_rt_runtime_us /proc/sys/kernel/sched_rt_period_us; cat /proc/cmdline; grep -m1 -E '^ *nohz|highres' /proc/timer_list; grep -E "hres_active|\.nohz_mode|tick_stopped" /proc/timer_list | head; [ -d /sys/kernel/debug/sched/fair_server ] && cat /sys/kernel/debug/sched/fair_server/cpu0/runtime; }
threads(){ for p in /proc/[0-9]*; do set -- $(sed 's/(.*)/x/' $p/stat); echo "$1 prio ${18} rt ${40} pol ${41} $(cat $p/comm)"; done | awk '$7>0'; }
back(){ tar -C /b -cf - . | gzip -9 > /tmp/back.tgz; sendback /tmp/back.tgz; }
run3(){ [ "$2" = hog ] && { rtper cfs O 0 0 burn 0 0 $1 > /tmp/cf & e=$!; }; rtper hi25 R 25 0 per 10000 1000 $1 > /tmp/hi & a=$!; rtper lo10 F 10 0 per 20000 200 $1 > /tmp/lo & b=$!; rtper burn22 F 22 0 burn 0 0 $1 > /tmp/bu & d=$!; wait $a $b $d $e; cat /tmp/hi /tmp/lo /tmp/bu; [ "$2" = hog ] && cat /tmp/cf; }
