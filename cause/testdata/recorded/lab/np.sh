. /common.sh
# kernel code that a kernel with voluntary preemption does not leave: fork with many descriptors (a spinlock is held), a long seccomp filter (none is)
load(){ actor victim F 10 loop 1700 30 150 & case $1 in fork) actor forker O 0 forks 300000 25 9000 ;; bpf) actor bpfer O 0 bpf 500 350 ;; esac & wait; }
[ "$1" ] && { load $1; exit; }
facts; echo 0 > /proc/sys/net/core/bpf_jit_enable; echo 400000 > /proc/sys/fs/nr_open; ls $T/events/preemptirq 2>&1
EV="$SCHED $HR $IRQ"; O="-C mono"
rec np-bpf sh -c "sh /run.sh bpf > /b/np-bpf.said 2>&1"
rec np-fork sh -c "sh /run.sh fork > /b/np-fork.said 2>&1"
EV="$SCHED $HR $IRQ -p function_graph -l dup_fd"; rec np-fork-fn sh -c "sh /run.sh fork > /b/np-fork-fn.said 2>&1"
grep -H . /b/*.said; ls -la /b; back
