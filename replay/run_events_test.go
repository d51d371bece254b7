package replay

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// sound reports what in the events of a run could not be in a trace of a kernel: a switch away
// from a task that did not run, a wake of one that did not sleep, times that go back, a CPU that
// is not there.
func sound(t interface{ Errorf(string, ...any) }, l *Load) {
	state := timeline.NewTracker(l.Info.Machine, l.Names)
	track := latency.NewTracker(state, func(*latency.Wait) {})
	last := l.From
	_, err := l.Run(RunOptions{Sink: func(ev *event.Event) {
		if ev.Time < last || ev.Time > l.To {
			t.Errorf("an event at %d after one at %d, the load ends at %d", ev.Time, last, l.To)
		}
		if last = ev.Time; int(ev.CPU) >= l.CPUs || ev.CPU < 0 {
			t.Errorf("an event on CPU %d of %d", ev.CPU, l.CPUs)
		}
		if latency.Needs.Has(ev.Kind) {
			track.Push(ev, state.Push(ev))
		}
	}})
	if err != nil {
		t.Errorf("%v", err)
	}
	if state.Broken > 0 || state.OddCPU > 0 || track.Unseen > 0 || track.Lone > 0 {
		t.Errorf("%d switches that do not follow, %d odd CPUs, %d wakes of who was awake, %d without their waking", state.Broken, state.OddCPU, track.Unseen, track.Lone)
	}
}

func TestEventsOfAnyRunAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := randomLoad(t)
		l.HandOver = event.Time(rapid.IntRange(0, 10_000).Draw(t, "hand-over"))
		sound(t, l)
	})
}

// changesOfAnything are changes that every recording can have.
var changesOfAnything = []string{"task=* policy=fifo prio=50", "task=* policy=other", "task=* policy=rr prio=3", "cpus=1", "cpus=2", "cpus=8",
	"kernel=6.1", "kernel=6.12-rt", "set sched_rt_runtime_us=100000", "set HZ=1000", "set preempt=full", "task=* work=×0.1", "task=*[0-5] cpus=0", "remove task=*[13579]", "set nohz=off"}

func TestEventsOfChangedRunsAreSound(t *testing.T) {
	for _, path := range tracesOf(t, "traces/mixed-v61-smp4/*.dat", "traces/rtapp-v61rt-smp1/*.dat", "traces/rt-throttle-v612rt-smp1/throttle950000-hog.dat") {
		l := recorded(t, path)
		for i, text := range changesOfAnything {
			for _, also := range []string{"", changesOfAnything[(3*i+1)%len(changesOfAnything)]} {
				c := l.Clone()
				err := c.Change(text)
				if err == nil && also != "" {
					err = c.Change(also)
				}
				if err != nil {
					continue // told to whoever asks
				}
				sound(named{t, brief(path) + ": " + text + ", " + also}, c)
			}
		}
	}
}

// named puts a name before errors.
type named struct {
	t    *testing.T
	name string
}

func (n named) Errorf(format string, args ...any) {
	n.t.Helper()
	n.t.Errorf(n.name+": "+format, args...)
}
