package replay

import (
	"math/rand/v2"
	"testing"

	"github.com/whylate/whylate/event"
)

// TestDamagedInterrupts: whatever interrupts, softirqs, wakes and switches a trace has, in an order
// that no kernel would record, is read and run, and a run of it gives the same again.
func TestDamagedInterrupts(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWritten([]string{"6.1.0", "6.1.0-rt", "6.12.0"}[seed%3])
		w.info.CPUs = 2
		names := []string{"task", "irq/14-disk", "irq/-", "ksoftirqd/0", "migration/0"}
		at := event.Time(0)
		for range 50 + r.IntN(200) {
			at += event.Time(r.IntN(30)) * us
			pid := event.PID(r.IntN(len(names) + 1))
			comm := "swapper/0"
			if pid > 0 {
				comm = names[pid-1]
			}
			kind := []event.Kind{event.IRQHandlerEntry, event.IRQHandlerExit, event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit,
				event.SchedWaking, event.SchedSwitch, event.HrtimerExpireEntry, event.VectorEntry, event.VectorExit}[r.IntN(10)]
			ev := w.event(at, kind, pid, comm)
			ev.CPU = event.CPU(r.IntN(2))
			ev.Flags |= event.Flags(r.IntN(256))
			ev.Arg = []int64{14, 9, 3, 1, -1, event.NoArg, 1 << 40}[r.IntN(7)]
			ev.Text = w.names.Intern(names[r.IntN(len(names))])
			switch kind {
			case event.SchedWaking:
				n := r.IntN(len(names))
				ev.Task, ev.TaskComm, ev.TaskPrio, ev.Target = event.PID(n+1), w.names.Intern(names[n]), event.DefaultPrio, ev.CPU
			case event.SchedSwitch:
				ev.Task, ev.TaskComm, ev.TaskPrio, ev.State = pid, ev.Comm, event.Prio(r.IntN(140)), []event.State{event.StateRunnable, event.StateSleeping, event.StateDisk}[r.IntN(3)]
				n := r.IntN(len(names))
				ev.Next, ev.NextComm, ev.NextPrio = event.PID(n+1), w.names.Intern(names[n]), event.Prio(r.IntN(140))
			case event.HrtimerExpireEntry:
				ev.Func, ev.Arg2 = w.names.Intern([]string{"hrtimer_wakeup", "sched_rt_period_timer", "tick_sched_timer"}[r.IntN(3)]), int64(at)
			}
		}
		l, err := Read(w, Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var runs [2]int
		for i := range runs {
			if _, err := l.Run(RunOptions{Sink: func(ev *event.Event) { runs[i] = runs[i]*31 + int(ev.Time) + int(ev.Kind) }}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if runs[0] != runs[1] {
			t.Errorf("seed %d: two runs are not the same", seed)
		}
	}
}
