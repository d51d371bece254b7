package replay

import (
	"math/rand/v2"
	"testing"

	"github.com/whylate/whylate/event"
)

// madeUp makes a trace of bytes: any kind of event about few tasks on few CPUs, mostly in an
// order that no kernel makes.
func madeUp(data []byte) *memory {
	m := &memory{names: event.NewNames(), info: event.Info{Kernel: "6.1.0-50-amd64", Machine: "x86_64"}}
	releases := [...]string{"6.1.0-50-rt-amd64", "6.1.0-50-amd64", "6.12.1-rt", "", "7.9"}
	names := [...]event.Name{m.names.Intern("hrtimer_wakeup"), m.names.Intern("dl_task_timer"), m.names.Intern("sched_rt_period_timer"),
		m.names.Intern("tick_sched_timer"), m.names.Intern("ktimers/0"), m.names.Intern("migration/1"), m.names.Intern("a")}
	prios := [...]event.Prio{-1, 0, 49, 89, 98, 120, 139, event.NoPrio}
	if len(data) > 0 {
		m.info.Kernel = releases[int(data[0])%len(releases)]
	}
	at := event.Time(1_000_000_000)
	for ; len(data) >= 8; data = data[8:] {
		var e event.Event
		e.Reset()
		b := func(i, n int) int { return int(data[i]) % n }
		at += event.Time(data[7]) * event.Time(data[7]) * 40
		e.Time, e.Kind, e.CPU = at, event.Kind(b(0, int(event.NumKinds))), event.CPU(b(1, 3))
		if data[0] >= 128 { // mostly what matters
			e.Kind = [...]event.Kind{event.SchedSwitch, event.SchedSwitch, event.SchedWaking, event.SchedWakeup, event.SchedPISetprio, event.HrtimerExpireEntry}[b(0, 6)]
		}
		e.PID, e.Task, e.Next = event.PID(b(2, 7)), event.PID(b(3, 7)), event.PID(b(4, 7))
		e.TaskComm, e.NextComm, e.Func, e.Name = names[b(3, len(names))], names[b(4, len(names))], names[b(5, len(names))], names[b(5, len(names))]
		e.TaskPrio, e.NextPrio = prios[b(5, len(prios))], prios[b(6, len(prios))]
		e.State = [...]event.State{event.StateRunnable, event.StateSleeping, event.StateDisk, event.StateZombie, event.StateUnknown, event.StatePreempted}[b(6, 6)]
		e.Flags = event.FlagsKnown | event.Flags(data[5])&(event.HardIRQ|event.SoftIRQ|event.IRQsOff)
		e.Orig, e.Target = event.CPU(b(4, 4))-1, event.CPU(b(5, 4))-1
		e.Arg, e.Arg2, e.Arg3 = int64(data[4]), int64(at)+int64(data[5]), int64(at)+int64(data[6])
		if e.Kind == event.Gap {
			e.From = at - event.Time(data[6])
		}
		m.events = append(m.events, e)
	}
	return m
}

// readAndRun must not fail on anything but loads that make no sense.
func readAndRun(t *testing.T, data []byte) {
	l, err := Read(madeUp(data), Options{})
	if err != nil {
		return
	}
	for i := range l.Recorded {
		if i > 0 && l.Recorded[i-1].Key.Compare(l.Recorded[i].Key) >= 0 {
			t.Fatalf("keys %+v and %+v are not in order", l.Recorded[i-1].Key, l.Recorded[i].Key)
		}
	}
	for i := range l.Tasks {
		for j := range l.Tasks[i].Ops {
			if op := &l.Tasks[i].Ops[j]; op.NS < 0 || op.Kind == OpRun && op.NS == 0 {
				t.Fatalf("task %d, operation %d: %+v", i, j, op)
			}
		}
	}
	if err := l.check(); err != nil {
		t.Fatal(err)
	}
	if l.To-l.From < 2_000_000_000 {
		_, _ = l.Run(RunOptions{}) // may get stuck, must not break
	}
}

// TestReadOfAnything reads random events.
func TestReadOfAnything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	for range 3000 {
		data := make([]byte, 8*(1+rnd.IntN(120)))
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		readAndRun(t, data)
		if t.Failed() {
			break
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("12345678abcdefghABCDEFGH"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 8*500 {
			readAndRun(t, data)
		}
	})
}
