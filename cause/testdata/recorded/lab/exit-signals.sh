. /common.sh
# one victim, FIFO 10, every 2 ms; the rest is the case
load(){ n=$1; shift; actor victim F 10 loop 2000 50 $1 & v=$!; shift; "$@" & wait; }
chk(){ grep -H . /b/*.said; ls -la /b; }
nested=$1; case "$1" in
'') ;;
prempt) actor tick50 F 50 loop 3000 100 150 & load $* ;;
kill9) actor victim F 10 loop 2000 50 200 & actor hog F 11 end 64 0 0 wait & h=$!; (sleep 0.2; kill -9 $h); wait ;;
core) ulimit -c unlimited; echo /tmp/core > /proc/sys/kernel/core_pattern; actor victim F 10 loop 2000 50 250 & actor hog F 11 end 64 200 0 segv; wait; ls -la /tmp/core; rm -f /tmp/core ;;
*) load $* ;;
esac
[ "$nested" ] && exit
facts
go(){ nn=$1; shift; rec $nn sh -c "sh /run.sh $* > /b/$nn.said 2>&1"; }
SYS="-e raw_syscalls:sys_enter -f id==231||id==60"
B="$SCHED $HR $TASK"
FG="-p function_graph"; for f in do_exit do_group_exit exit_mm exit_mmap mmput do_coredump begin_new_exec; do grep -qE "^$f( |\$)" $T/available_filter_functions && FG="$FG -l $f"; done; echo "$FG"
O="-C mono"
SIG="-e signal:signal_deliver -e signal:signal_generate"
EV="$B $SIG $FG"; go kill9-fn kill9
EV="$B $SIG"; go kill9 kill9
EV="$B $SIG $FG"; go core-fn core
EV="$B $SIG"; go core core
EV="$B $SIG $SYS"; go thread-sys x 200 actor hog F 11 end 64 100 0 thread
EV="$B $SIG $FG"; go thread-fn x 200 actor hog F 11 end 64 100 0 thread
EV="$B"; go spin64 x 200 actor hog F 11 end 64 100 60000 exit
chk
back
