package replay

import "testing"

// late is a trace in which the timer of a, due at 2000, interrupts b at 16000.
func late(middle ...string) []string {
	lines := []string{
		"a-10 d... 1000 hrtimer_start: hrtimer=0000000000000001 function=hrtimer_wakeup expires=2000000 softexpires=2000000",
		"a-10 d... 1001 sched_switch: prev_comm=a prev_pid=10 prev_prio=49 prev_state=S ==> next_comm=b next_pid=11 next_prio=120"}
	lines = append(lines, middle...)
	last := "b-11"
	if len(middle) > 0 {
		last = "c-12"
	}
	return append(lines,
		last+" d.h. 16000 hrtimer_expire_entry: hrtimer=0000000000000001 function=hrtimer_wakeup now=16000000",
		last+" d.h. 16001 sched_waking: comm=a pid=10 prio=49 target_cpu=000",
		last+" d.h. 16002 hrtimer_expire_exit: hrtimer=0000000000000001",
		last+" d... 16005 sched_switch: prev_comm="+last[:1]+" prev_pid="+last[2:]+" prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=49",
		"a-10 d... 16100 sched_switch: prev_comm=a prev_pid=10 prev_prio=49 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120")
}

// TestLateTimersWithInterruptsOn: where one task follows another while a timer is due, no task
// had interrupts off: the timer is as late in every run.
func TestLateTimersWithInterruptsOn(t *testing.T) {
	l := readLoad(t, "6.1.0", late()...)
	if len(l.Late) != 0 || assumed(l, "irqs_off") != 1 {
		t.Errorf("one task all the while: %d late, assumed %v", len(l.Late), l.Assumed)
	}
	l = readLoad(t, "6.1.0", late("b-11 d... 4000 sched_switch: prev_comm=b prev_pid=11 prev_prio=120 prev_state=R ==> next_comm=c next_pid=12 next_prio=120")...)
	if len(l.Late) != 1 || assumed(l, "irqs_off") != 0 || assumed(l, "late_timers") != 1 {
		t.Fatalf("two tasks: %v, assumed %v", l.Late, l.Assumed)
	}
	if s := l.Late[0]; s.From != 2_000_000 || s.To != 16_001_000 {
		t.Errorf("late from %d to %d", s.From, s.To)
	}
}
