#!/bin/bash
# fairrec.sh KNAME FILE.load OUT [SEED]: one recording of a load of fair tasks (fair.sh), with another seed where one is given:
# OUT.dat.xz, OUT.dat.xz.sysinfo.json, OUT.truth.json, OUT.dat. RUN_MS= for another length, GUEST= and FILES= for another script. out/
# in the folder LAB as mkinitrd.sh makes it.
set -e
here=$(cd "$(dirname "$0")" && pwd); n=$1; b=$(basename $2 .load); o=$(realpath -m $3); d=$(mktemp -d)
install -m 755 $here/common.sh $d # as it was: the mode is in the initramfs, and that in the bytes of a recording
sed -e "${4:+s/^seed .*/seed $4/}" -e "${RUN_MS:+s/^run .*/run $RUN_MS/}" $2 > $d/$b.load
FILES="$d/$b.load ${FILES:+$here/$FILES}" COMMON=$d/common.sh $here/qlab.sh $n $here/${GUEST:-fair.sh} $d/w ${TIMEOUT:-900}
trace-cmd convert -i $d/w/o/$b.dat -o $o.dat --compression none --file-version 7 > /dev/null
xz -f -k --lzma2=preset=9e,lc=0,lp=2,pb=2 $o.dat
python3 $here/fairsnap.py $o.dat $d/w/o/said $d/w/o/out.txt $d/$b.load $o
rm -rf $d
