package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// simpleLoad draws a load of which a trace of scheduling and timer events shows all that
// matters: real-time tasks of different priorities that work, sleep until times and for times, wake
// each other and end.
func simpleLoad(t *rapid.T) *Load {
	l := &Load{Names: event.NewNames(), Kernel: "6.1-rt", Preempt: kernel.PreemptRT, CPUs: 1, Tick: 4 * ms,
		Zero: 99_997 * ms, From: 100_000 * ms, To: 100_400 * ms, RTPeriod: event.NoTime}
	n := rapid.IntRange(1, 5).Draw(t, "tasks")
	for i := range n {
		task := Task{PID: event.PID(100 + i), TGID: event.PID(100 + i), Comm: l.Names.Intern("task-" + string(rune('a'+i))),
			Attr: sched.Attr{Policy: sched.FIFO, Priority: 10 + 10*i}, Begin: BeginBlocked}
		now := l.From
		later := func() event.Time {
			now += event.Time(rapid.Int64Range(1_000, 20_000).Draw(t, "later")) * us
			return now + event.Time(i) // no two timers are due in one ns: nothing tells which was first
		}
		task.Ops = append(task.Ops, Op{Kind: OpSleep, At: later()})
		for range rapid.IntRange(1, 15).Draw(t, "ops") {
			task.Ops = append(task.Ops, Op{Kind: OpRun, NS: event.Time(rapid.Int64Range(10, 3_000).Draw(t, "ns")) * us})
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0, 1, 2:
				task.Ops = append(task.Ops, Op{Kind: OpSleep, At: later()})
			case 3:
				task.Ops = append(task.Ops, Op{Kind: OpWait})
			default:
				if n > 1 {
					task.Ops = append(task.Ops, Op{Kind: OpWake, Ref: (i + rapid.IntRange(1, n-1).Draw(t, "whom")) % n})
				}
			}
		}
		task.Ops = append(task.Ops, Op{Kind: OpRun, NS: 50_000, Mode: machine.User}, Op{Kind: OpExit})
		l.Tasks = append(l.Tasks, task)
	}
	return l
}

// The load that is read from a run of the model has the waits of that run, to the ns.
func TestWhatIsReadFromARunRunsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { roundTrip(t, simpleLoad(t)) })
}

// Equal priorities, SCHED_RR and a deadline task that overruns.
func TestRunsOfAllClassesAreReadAndRunTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := simpleLoad(t)
		dl := false
		for i := range l.Tasks {
			switch rapid.IntRange(0, 3).Draw(t, "class") {
			case 0:
				l.Tasks[i].Attr = sched.Attr{Policy: sched.RR, Priority: rapid.IntRange(1, 3).Draw(t, "prio")}
			case 1:
				l.Tasks[i].Attr.Priority = rapid.IntRange(1, 3).Draw(t, "prio")
			case 2:
				if !dl {
					l.Tasks[i].Attr = sched.Attr{Policy: sched.Deadline, Runtime: 5 * ms, Deadline: 20 * ms, Period: 20 * ms}
				}
				dl = true
			}
		}
		roundTrip(t, l)
	})
}

// Tasks that are bound to two CPUs and wake each other there.
func TestRunsOnTwoCPUsAreReadAndRunTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := simpleLoad(t)
		l.CPUs = 2
		for i := range l.Tasks {
			l.Tasks[i].CPU = event.CPU(rapid.IntRange(0, 1).Draw(t, "cpu"))
			l.Tasks[i].CPUs = []event.CPU{l.Tasks[i].CPU}
		}
		roundTrip(t, l)
	})
}

func roundTrip(t *rapid.T, l *Load) {
	src, err := l.Source()
	if err != nil {
		t.Fatal(err)
	}
	if len(eventsOf(t, src)) == 0 {
		t.Skip("nothing happens")
	}
	read, err := Read(src, Options{Kernel: "6.1.0-rt"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range read.Tasks {
		// What a snapshot of the machine says and few events do not: the parameters of deadline tasks.
		for j := range l.Tasks {
			if l.Tasks[j].PID == read.Tasks[i].PID && l.Tasks[j].Attr.Policy == sched.Deadline {
				read.Tasks[i].Attr = l.Tasks[j].Attr
			}
		}
	}
	first, err := l.Run(RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := read.Run(RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := listed(l, first.Waits), listed(read, again.Waits)
	if a != b {
		t.Fatalf("waits of the run:\n%swaits of what was read from it:\n%s%s", a, b, scripts(read))
	}
}

// listed are waits in order of time, by the pids of tasks.
func listed(l *Load, list []Wait) string {
	lines := make([]string, 0, len(list))
	for _, w := range list {
		lines = append(lines, fmt.Sprintf("%d %s/%d %s to %d\n", w.Woken, l.Names.String(l.Tasks[w.Key.Task].Comm), l.Tasks[w.Key.Task].PID, w.Key.Kind, w.OnCPU))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// scripts tells what tasks do.
func scripts(l *Load) string {
	var b strings.Builder
	for i := range l.Tasks {
		t := &l.Tasks[i]
		fmt.Fprintf(&b, "%s/%d begin %d %+v\n", l.Names.String(t.Comm), t.PID, t.Begin, t.Attr)
		for _, op := range t.Ops {
			fmt.Fprintf(&b, "   %d slept %d at %d ns %d ref %d\n", op.Kind, op.Slept, op.At, op.NS, op.Ref)
		}
	}
	return b.String()
}
