#!/bin/bash
# smprec.sh KNAME FILE.load OUT [SEED]: one recording of a load on 4 CPUs (smp.sh), with another seed where one is given: OUT.dat,
# OUT.dat.xz, OUT.dat.xz.sysinfo.json, and in OUT.d what the guest said. TURNS=US: one instruction per ns and turns of so many us (pairs.sh);
# else plain emulation, in which the host's other work is stolen time. out/ in the folder LAB as mkinitrd.sh makes it with PROGRAMS=hackbench.
set -e
here=$(cd "$(dirname "$0")" && pwd); n=$1; b=$(basename $2 .load); o=$(realpath -m $3); d=$(mktemp -d)
install -m 755 $here/common.sh $d
sed -n '/^# turns/,/^turns/p' $here/pairs.sh >> $d/common.sh
sed -e "${4:+s/^seed .*/seed $4/}" -e "${RUN_MS:+s/^run .*/run $RUN_MS/}" $2 > $d/$b.load
[ "$TURNS" ] || echo "turns ${LOOP:-80}" >> $d/$b.load
echo "TURNS=$TURNS" | cat - $here/smp.sh > $d/smp.sh
[ "$TURNS" ] || export ACC="-accel tcg,thread=multi -seed 1"
SMP=${SMP:-4} FILES="$d/$b.load" COMMON=$d/common.sh $here/qlab.sh $n $d/smp.sh $d/w ${TIMEOUT:-900}
trace-cmd convert -i $d/w/o/$b.dat -o $o.dat --compression none --file-version 7 > /dev/null
xz -f -k --lzma2=preset=9e,lc=0,lp=2,pb=2 $o.dat
rm -rf $o.d; cp -r $d/w/o $o.d; cp $d/$b.load $d/w/serial.txt $o.d/; rm -f $o.d/$b.dat
[ -f $here/smpsnap.py ] && python3 $here/smpsnap.py $o.d/out.txt $o.d/$b.load $o.d/said $o.dat > $o.dat.xz.sysinfo.json
rm -rf $d
