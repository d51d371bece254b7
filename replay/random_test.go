package replay

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// randomLoad draws a load of real-time, deadline and fair tasks that sleep, wake each other,
// fork, share locks and end.
func randomLoad(t *rapid.T) *Load {
	kernels := []struct {
		name    string
		preempt kernel.Preempt
	}{{"6.1-rt", kernel.PreemptRT}, {"6.1", kernel.PreemptFull}, {"6.12-rt", kernel.PreemptRT}, {"6.1", kernel.PreemptVoluntary}}
	k := rapid.SampledFrom(kernels).Draw(t, "kernel")
	l := &Load{Names: event.NewNames(), Kernel: k.name, Preempt: k.preempt, CPUs: rapid.IntRange(1, 3).Draw(t, "cpus"), Tick: 4 * ms,
		Zero: 99_997 * ms, From: 100_000 * ms, To: 100_200 * ms, RTPeriod: event.NoTime}
	n := rapid.IntRange(1, 6).Draw(t, "tasks")
	for range rapid.IntRange(0, 2).Draw(t, "mutexes") {
		l.Mutexes = append(l.Mutexes, Mutex{PI: rapid.Bool().Draw(t, "pi"), Held: -1})
	}
	for i := range n {
		task := Task{PID: event.PID(100 + i), TGID: event.PID(100 + i), Comm: l.Names.Intern(string(rune('a' + i))), Attr: randomAttr(t),
			CPU: event.CPU(rapid.IntRange(0, l.CPUs-1).Draw(t, "cpu")), Begin: Begin(rapid.IntRange(0, int(BeginNew)).Draw(t, "begin"))}
		task.Ops = randomOps(t, l, i, n, task.Begin)
		l.Tasks = append(l.Tasks, task)
	}
	return l
}

func randomAttr(t *rapid.T) sched.Attr {
	switch rapid.IntRange(0, 5).Draw(t, "policy") {
	case 0:
		return sched.Attr{Policy: sched.Normal, Nice: rapid.IntRange(-5, 5).Draw(t, "nice")}
	case 1:
		return sched.Attr{Policy: sched.RR, Priority: rapid.IntRange(1, 5).Draw(t, "prio")}
	case 2:
		period := event.Time(rapid.IntRange(5, 30).Draw(t, "period")) * ms
		return sched.Attr{Policy: sched.Deadline, Runtime: period / event.Time(rapid.IntRange(8, 20).Draw(t, "share")), Deadline: period, Period: period}
	}
	return sched.Attr{Policy: sched.FIFO, Priority: rapid.IntRange(1, 5).Draw(t, "prio")}
}

// randomOps draws a script. Locks are taken one at a time.
func randomOps(t *rapid.T, l *Load, self, tasks int, begin Begin) []Op {
	now := l.From
	forward := func() event.Time {
		now += event.Time(rapid.Int64Range(1, 40_000).Draw(t, "later")) * us
		return now
	}
	var ops []Op
	if begin == BeginBlocked {
		ops = append(ops, Op{Kind: OpSleep, At: forward()})
	}
	if begin == BeginNew {
		ops = append(ops, Op{Kind: OpRun, NS: 1, At: forward()})
	}
	held := -1
	for range rapid.IntRange(1, 12).Draw(t, "ops") {
		ops = append(ops, Op{Kind: OpRun, NS: event.Time(rapid.Int64Range(1, 4_000_000).Draw(t, "ns")), Mode: machine.Mode(rapid.IntRange(0, 1).Draw(t, "mode"))})
		switch rapid.IntRange(0, 7).Draw(t, "op") {
		case 0, 1:
			ops = append(ops, Op{Kind: OpSleep, At: forward()})
		case 2:
			ops = append(ops, Op{Kind: OpNap, NS: event.Time(rapid.Int64Range(1, 20_000).Draw(t, "nap")) * us})
		case 3:
			ops = append(ops, Op{Kind: OpWait})
		case 4, 5:
			ops = append(ops, Op{Kind: OpWake, Ref: (self + rapid.IntRange(1, tasks).Draw(t, "whom")) % tasks})
		case 6:
			ops = append(ops, Op{Kind: OpYield})
		case 7:
			if len(l.Mutexes) > 0 && held < 0 {
				held = rapid.IntRange(0, len(l.Mutexes)-1).Draw(t, "mutex")
				ops = append(ops, Op{Kind: OpLock, Ref: held})
			} else if held >= 0 {
				ops = append(ops, Op{Kind: OpUnlock, Ref: held})
				held = -1
			}
		}
	}
	if held >= 0 {
		ops = append(ops, Op{Kind: OpUnlock, Ref: held})
	}
	if rapid.Bool().Draw(t, "exits") {
		ops = append(ops, Op{Kind: OpRun, NS: 2 * ms, Mode: machine.Kernel, Dying: true}, Op{Kind: OpExit})
	}
	return ops
}

func TestRunsOfOneLoadAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := randomLoad(t)
		runs := func(procs int) (*Run, []event.Event) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			var list []event.Event
			r, err := l.Clone().Run(RunOptions{Sink: func(ev *event.Event) { list = append(list, *ev) }})
			if err != nil {
				t.Fatal(err)
			}
			return r, list
		}
		one, events := runs(1)
		two, again := runs(2)
		if diff := cmp.Diff(one, two); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(events, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What a stream yields is what a run does, wherever its slices end.
func TestASourceYieldsTheEventsOfTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := randomLoad(t)
		var want []event.Event
		if _, err := l.Run(RunOptions{Sink: func(ev *event.Event) { want = append(want, *ev) }}); err != nil {
			t.Fatal(err)
		}
		src, err := l.Source()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, eventsOf(t, src)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// eventsOf are all events of a source.
func eventsOf(t interface{ Fatal(...any) }, src event.Source) []event.Event {
	st, err := src.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var list []event.Event
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, *ev)
	}
}
