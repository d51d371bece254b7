package machine_test

import (
	"errors"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// grouped is a machine with RT_GROUP_SCHED.
func grouped(cpus int) machine.Config {
	cfg := machine.Config{Sched: sched.DefaultConfig(cpus), DLTimerEvents: true}
	cfg.Sched.RTGroupSched, cfg.Sched.RTRuntime, cfg.Sched.RTPeriod = true, 950*ms, s
	return cfg
}

// group makes a group with a runtime of each 100 ms.
func (st *stage) group(parent *sched.Group, runtime event.Time) *sched.Group {
	st.t.Helper()
	g := st.m.Sched.NewGroup(parent)
	if err := st.m.Sched.SetGroupBandwidth(g, runtime, 100*ms); err != nil {
		st.t.Fatal(err)
	}
	return g
}

// in moves a thread into a group before it has run.
func (st *stage) in(g *sched.Group, name string) {
	st.t.Helper()
	if _, err := st.m.Sched.Attach(0, st.threads[name].Task, g); err != nil {
		st.t.Fatal(err)
	}
}

// TestGroupIsThrottledAlone: the tasks of a group that has used up its runtime make way, for
// real-time tasks of other groups and of lower priority too.
func TestGroupIsThrottledAlone(t *testing.T) {
	st := newStage(t, grouped(1))
	g := st.group(nil, 20*ms)
	st.add("high", fifo(20), nil, work(60*ms))
	st.add("root", fifo(10), nil, work(50*ms))
	st.add("fair", sched.Attr{}, nil, work(s))
	st.in(g, "high")
	st.play(230 * ms).want(`0 0 high
		24000 0 root
		74000 0 fair
		100000 0 high
		120000 0 fair
		200000 0 high
		216000 0 fair`)
}

// TestGroupsAboveCharge: what a task runs is charged to every group above it, and a group
// that is throttled takes those below along.
func TestGroupsAboveCharge(t *testing.T) {
	st := newStage(t, grouped(1))
	top := st.group(nil, 30*ms)
	a, b := st.group(top, 20*ms), st.group(top, 10*ms)
	st.add("a", fifo(20), nil, work(s))
	st.add("b", fifo(10), nil, work(s))
	st.add("root", fifo(5), nil, work(s))
	st.in(a, "a")
	st.in(b, "b")
	// a ends at 24 ms; b, whose group has 10 ms, at 32 for the 30 of the group above.
	st.play(90 * ms).want(`0 0 a
		24000 0 b
		32000 0 root`)
}

// TestBoostOpensAGroup: a boosted task runs although its group is throttled, and the whole
// group with it, until it is boosted no longer.
func TestBoostOpensAGroup(t *testing.T) {
	st := newStage(t, grouped(1))
	g := st.group(nil, 20*ms)
	st.add("holder", fifo(10), nil, work(s))
	st.add("mate", fifo(27), nil, nap(45*ms), work(2*ms))
	st.add("lender", fifo(25), nil, nap(s))
	st.add("other", fifo(30), nil, nap(40*ms), boost("holder", "lender"), work(ms), nap(9*ms), work(10*ms), boost("holder", ""))
	st.add("fair", sched.Attr{}, nil, work(s))
	st.in(g, "holder")
	st.in(g, "mate")
	st.play(90 * ms).want(`0 0 holder
		24000 0 fair
		40000 0 other
		41000 0 holder
		45000 0 mate
		47000 0 holder
		50000 0 other
		60000 0 fair`)
}

// TestGroupVerdicts: EPERM for a real-time policy and EINVAL for a real-time task where the
// group has no runtime; EINVAL for more than the group above or the machine has; EBUSY for
// taking all of it from real-time tasks.
func TestGroupVerdicts(t *testing.T) {
	st := newStage(t, grouped(1))
	sc := st.m.Sched
	top, none := st.group(nil, 50*ms), sc.NewGroup(nil)
	a, b := st.group(top, 20*ms), st.group(top, 30*ms)
	st.add("rt", fifo(1), nil, work(ms))
	st.add("fair", sched.Attr{}, nil, work(ms))
	st.in(a, "rt")
	st.in(none, "fair")
	want := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	_, err := sc.SetAttr(0, st.threads["fair"].Task, fifo(3))
	want("real-time policy in a group without runtime", err, sched.ErrPerm)
	_, err = sc.Attach(0, st.threads["rt"].Task, none)
	want("real-time task into a group without runtime", err, sched.ErrInval)
	want("no runtime for real-time tasks", sc.SetGroupBandwidth(a, 0, 100*ms), sched.ErrBusy)
	want("no runtime for nobody", sc.SetGroupBandwidth(b, 0, 100*ms), nil)
	want("more than the group above", sc.SetGroupBandwidth(b, 31*ms, 100*ms), sched.ErrInval)
	want("as much as is left", sc.SetGroupBandwidth(b, 30*ms, 100*ms), nil)
	want("less than the groups below", sc.SetGroupBandwidth(top, 49*ms, 100*ms), sched.ErrInval)
	want("more than the period", sc.SetGroupBandwidth(b, 11*ms, 10*ms), sched.ErrInval)
	want("no period", sc.SetGroupBandwidth(b, 1*ms, 0), sched.ErrInval)
	want("more than the machine", sc.SetGroupBandwidth(nil, 96*ms, 100*ms), sched.ErrInval)
	want("no limit", sc.SetGroupBandwidth(none, -1, 100*ms), sched.ErrInval)
	want("nothing for the root", sc.SetGroupBandwidth(nil, 0, 100*ms), sched.ErrInval)
	st.play(10 * ms)
	want("no runtime after the task has died", sc.SetGroupBandwidth(a, 0, 100*ms), nil)
}
