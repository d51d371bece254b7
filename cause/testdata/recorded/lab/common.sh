# Sourced by each script inside the guest.
# symbols: a /proc/kallsyms of only those symbols that a scheduler trace needs, each with the one behind it
symbols(){ awk '{n=$3} hit{print;hit=0} n ~ /^(sched_cfs_period_timer|sched_cfs_slack_timer|sched_rt_period_timer|dl_task_timer|dl_server_timer|inactive_task_timer|hrtimer_wakeup|tick_sched_timer|tick_nohz_handler|it_real_fn|alarm_timer|posix_timer_fn|timerfd_tmrproc|hrtick|throttle_cfs_rq|unthrottle_cfs_rq|do_exit|do_group_exit|exit_mm|exit_mmap|mmput|__mmput|do_coredump|get_signal|begin_new_exec|unmap_vmas|tlb_finish_mmu|dup_fd|kernel_clone|copy_process|seccomp_filter|__mmdrop|pgd_free|free_pcppages_bulk)$/{print;hit=1}' /proc/kallsyms > /tmp/kallsyms; mount --bind /tmp/kallsyms /proc/kallsyms; }
T=/sys/kernel/tracing
[ "$IN" ] || { export IN=1; symbols; mkdir -p /b; exec > /b/out.txt 2>&1; }
cd /b
SCHED="-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_migrate_task -e sched:sched_process_exit -e sched:sched_process_fork -e sched:sched_process_exec -e sched:sched_pi_setprio -e sched:sched_stat_runtime"
IRQ="-e irq:irq_handler_entry -e irq:irq_handler_exit -e irq:softirq_entry -e irq:softirq_exit -e irq:softirq_raise"
HR="-e timer:hrtimer_start -e timer:hrtimer_expire_entry -e timer:hrtimer_cancel"
TASK="-e task:task_rename -e task:task_newtask"
rec(){ rn=$1; shift; trace-cmd record -q -b 12000 $EV $O -o /b/$rn.dat "$@" > /b/$rn.log 2>&1; cat /b/$rn.log; }
facts(){ uname -r; echo "preempt: $(cat /sys/kernel/debug/sched/preempt 2>/dev/null)"; echo "features: $(cat /sys/kernel/debug/sched/features)"; cat /proc/sys/kernel/sched_rt_runtime_us; cat /proc/cmdline; ls $T/events | tr '\n' ' '; }
back(){ tar -C /b -cf - . | gzip -9 > /tmp/back.tgz; sendback /tmp/back.tgz; }
