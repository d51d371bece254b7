# Sourced after common.sh: an IDE disk that does PIO only, on a QEMU with
#   -drive if=ide,driver=null-co,size=629145600,read-zeroes=on
# (reads cost the host nothing), and an initramfs with the modules of ata_piix and sd_mod.
disk(){ for m in $(cat /mod/list); do p=; [ $m = libata.ko ] && p="dma=0"; insmod /mod/$m $p 2>/dev/null; done; sleep 2; }
# irq14 COMMAND...: COMMAND with the pid of the thread of the disk's interrupt
irq14(){ for p in /proc/[0-9]*; do [ "$(cat $p/comm)" = irq/14-ata_piix ] && "$@" ${p#/proc/}; done; }
rt(){ echo -1 > /proc/sys/kernel/sched_rt_runtime_us; echo $2 > /proc/sys/kernel/sched_rt_period_us; echo $1 > /proc/sys/kernel/sched_rt_runtime_us; }
EV="-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_process_exit -e sched:sched_stat_runtime -e sched:sched_pi_setprio -e irq:irq_handler_entry -e irq:irq_handler_exit -e timer:hrtimer_expire_entry -e timer:hrtimer_start -e timer:hrtimer_cancel"
