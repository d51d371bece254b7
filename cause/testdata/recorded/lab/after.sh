. /common.sh
# what a dead task leaves behind: its last page table is given back by whoever runs next
if [ "$1" ]; then actor victim F 10 loop 2000 50 200 & actor hog F 11 end 64 0 0 wait & h=$!; (sleep 0.2; kill -9 $h); wait; exit; fi
FL=""; for f in do_group_exit do_exit exit_mmap __mmdrop pgd_free; do grep -qE "^$f( |\$)" $T/available_filter_functions && FL="$FL -l $f"; done; echo $FL
EV="$SCHED $HR $TASK -e signal:signal_deliver -p function_graph $FL"; O="-C mono"
rec after sh -c "sh /run.sh x > /b/after.said 2>&1"; cat /b/after.said; back
