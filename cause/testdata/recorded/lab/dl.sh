. /common.sh
# a deadline task that wants 5 ms of its 3 ms; a FIFO hog; a FIFO task above the hog
load(){ [ "$1" = fair ] && { actor fairhog O 0 burn 1300 & sleep 0.05; }; actor dlo D 3000,10000 loop 30000 5000 20 & actor rt30 F 30 loop 5000 200 120 & sleep 0.05; actor hog F 20 burn 1200 & wait; }
[ "$1" ] && { load $1; exit; }
facts; cat /sys/kernel/debug/sched/fair_server/cpu0/runtime
EV="$SCHED $HR"; O="-C mono"
for m in nofair fair; do rec dl-$m sh -c "sh /run.sh $m > /b/dl-$m.said 2>&1"; done
grep -H . /b/*.said; ls -la /b; back
