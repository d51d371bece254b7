#!/bin/bash
# qlab.sh KNAME SCRIPT OUTDIR [timeout]: deterministic boot with SMP CPUs; SCRIPT runs as /run.sh, common.sh beside it as /common.sh;
# what the guest sends with sendback comes to OUTDIR. ICOUNT= (empty) for plain emulation. APP = extra kernel command line.
cd "${LAB:?}"; n=$1; d=$3; rm -rf $d; mkdir -p $d/r; cp $2 $d/r/run.sh; cp ${COMMON:-common.sh} $d/r/common.sh; for f in $FILES; do cp $f $d/r/; done; (cd $d/r; touch -d @1700000000 *)
(cat out/$n.cpio.gz; cd $d/r; ls | cpio -o -H newc --quiet --reproducible | gzip -n1) > $d/i.cpio.gz
t0=$(date +%s)
timeout -k 3 ${4:-300} qemu-system-x86_64 ${ACC--accel tcg,thread=single -icount shift=0,sleep=off -rtc base=2020-01-01,clock=vm -seed 1} -machine pc -cpu ${CPU-qemu64} -smp ${SMP:-1} -m ${MEM:-2048} -nodefaults -no-reboot -display none -serial file:$d/serial.txt -debugcon file:$d/back.tgz \
 $X -kernel out/$n.vmlinux -initrd $d/i.cpio.gz -append "console=ttyS0 quiet panic=-1 nokaslr tsc=reliable $APP" </dev/null >$d/qerr 2>&1
echo "rc $? wall $(( $(date +%s) - t0 ))" | tee $d/res.txt; rm -f $d/i.cpio.gz
mkdir -p $d/o; tar -C $d/o -xzf $d/back.tgz 2>/dev/null || { echo "nothing came back"; tail -20 $d/serial.txt; }
ls -la $d/o
