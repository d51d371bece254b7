# Sourced after common.sh: the pairs of replay/testdata/pairs.
EV="-e irq -e timer:hrtimer_expire_entry -e timer:hrtimer_start -e timer:hrtimer_cancel -e signal -e task"
for e in switch waking wakeup wakeup_new migrate_task process_fork process_exec process_exit pi_setprio; do EV="$EV -e sched:sched_$e"; done
O="-C mono"
# syscall N: also record the system call of that number
syscall(){ EV="$EV -e raw_syscalls -f id==$1"; }
# rt RUNTIME PERIOD, in us
rt(){ echo -1 > /proc/sys/kernel/sched_rt_runtime_us; echo $2 > /proc/sys/kernel/sched_rt_period_us; echo $1 > /proc/sys/kernel/sched_rt_runtime_us; }
# server NS: the runtime of the fair servers
server(){ for f in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do echo $1 > $f; done; }
# before the recording: what of the machine a snapshot would say
before(){ facts; threads; }
# turns US: QEMU's processors take turns on one host thread, and an idle one that is woken is
# without its turn until a timer of the emulated machine expires. Timer 2 of the HPET does so
# every US, on a pin of the IOAPIC that is masked: the guest sees nothing of it.
turns(){ h=0xfed00000; devmem $((h+0x140)) 64 $(((22<<9)|0x4c)); devmem $((h+0x148)) 64 $(($1*100)); devmem $((h+0x148)) 64 $(($1*100)); devmem $((h+0x10)) 64 1; devmem $((h+0x140)) 64; devmem $((h+0xf0)) 64; }
