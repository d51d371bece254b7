#!/bin/bash
# boot.sh KERNEL NAME SMP [qemu...] -- [append]
k=$1; n=$2; smp=$3; shift 3; q=(); while [ $# -gt 0 ] && [ "$1" != -- ]; do q+=("$1"); shift; done; shift
timeout -k 3 400 qemu-system-x86_64 -accel tcg,thread=multi -machine pc -cpu ${CPU:-max} -smp $smp -m 1024 -nodefaults -no-reboot -display none -serial stdio -kernel $k.vmlinuz -initrd i.gz -append "console=ttyS0 quiet panic=-1 nokaslr tsc=reliable no_timer_check sched_verbose $*" "${q[@]}" < /dev/null > out/$n-$k.txt 2>&1
grep -c . out/$n-$k.txt; tail -1 out/$n-$k.txt
