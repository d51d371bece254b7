. /common.sh
facts; ls $T/events/ipi; nproc
I=""; [ -d $T/events/ipi ] && I="-e ipi"; [ -d $T/events/irq_vectors ] && I="$I -e irq_vectors:reschedule_entry -e irq_vectors:reschedule_exit -e irq_vectors:call_function_single_entry -e irq_vectors:call_function_single_exit -e irq_vectors:local_timer_entry -e irq_vectors:local_timer_exit"
EV="$SCHED $HR -e power:cpu_idle $I"
rec idle-remote sh -c "actor pinger F 40 pong 0 1 60 3000 > /b/idle-remote.said 2>&1"
EV="$SCHED $HR"
rec idle-bare sh -c "actor pinger F 40 pong 0 1 60 3000 > /b/idle-bare.said 2>&1"
grep -H . /b/*.said; ls -la /b; back
