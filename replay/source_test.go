package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/sysinfo"
)

func TestARunHasTheSnapshotOfTheRecordingAsChanged(t *testing.T) {
	l := contended()
	if src, err := l.Source(); err != nil || src.Snapshot() != nil {
		t.Errorf("a recording without one: %v, %v", src.Snapshot(), err)
	}
	l.Snapshot = &sysinfo.Snapshot{
		Settings: []sysinfo.Setting{{Name: "preempt", Value: "rt"}, {Name: "sched_rt_runtime_us", Value: "950000"}},
		Features: []sysinfo.Feature{{Name: "HRTICK_DL"}, {Name: "RT_PUSH_IPI", On: true}},
		Tasks: []sysinfo.Task{{PID: 1, Comm: "init", Policy: sysinfo.Other}, {PID: 100, Comm: "ctl", Policy: sysinfo.FIFO, Priority: 50, CGroup: "/x"},
			{PID: 101, Comm: "hog", Policy: sysinfo.FIFO, Priority: 60}}}
	c := l.Clone()
	for _, text := range []string{"set sched_rt_runtime_us=-1 HRTICK_DL=on", "task=ctl policy=other nice=3", "remove task=hog"} {
		if err := c.Change(text); err != nil {
			t.Fatal(err)
		}
	}
	src, err := c.Source()
	if err != nil {
		t.Fatal(err)
	}
	want := &sysinfo.Snapshot{Kernel: sysinfo.Kernel{Release: "6.1-rt-model"},
		Settings: []sysinfo.Setting{{Name: "preempt", Value: "rt"}, {Name: "sched_rt_runtime_us", Value: "-1"}},
		Features: []sysinfo.Feature{{Name: "HRTICK_DL", On: true}, {Name: "RT_PUSH_IPI", On: true}},
		Tasks:    []sysinfo.Task{{PID: 1, Comm: "init", Policy: sysinfo.Other}, {PID: 100, Comm: "ctl", Policy: sysinfo.Other, Nice: 3, CGroup: "/x"}}}
	if diff := cmp.Diff(want, src.Snapshot()); diff != "" {
		t.Error(diff)
	}
	if v, _ := l.Snapshot.Setting("sched_rt_runtime_us"); v != "950000" || len(l.Snapshot.Tasks) != 3 || l.Snapshot.Features[0].On {
		t.Error("the recording's own snapshot was changed")
	}
}

// TestARunHasTheCPUsAndServersOfItsKernel: those that a change took away are not in its snapshot.
func TestARunHasTheCPUsAndServersOfItsKernel(t *testing.T) {
	cpu := func(n int32, runtime int64) sysinfo.CPU {
		return sysinfo.CPU{CPU: n, Online: true, FairServer: &sysinfo.FairServer{RuntimeNS: runtime, PeriodNS: 1_000_000_000}}
	}
	for _, c := range []struct {
		change string
		want   []sysinfo.CPU
	}{
		{"set fair_server_runtime_ns=80000000", []sysinfo.CPU{cpu(0, 80_000_000), cpu(1, 80_000_000)}},
		{"cpus=1", []sysinfo.CPU{cpu(0, 50_000_000)}},
		{"kernel=6.1", []sysinfo.CPU{{CPU: 0, Online: true}, {CPU: 1, Online: true}}},
	} {
		l := contended()
		l.Kernel, l.CPUs = "6.12-rt", 2
		l.Snapshot = &sysinfo.Snapshot{CPUs: []sysinfo.CPU{cpu(0, 50_000_000), cpu(1, 50_000_000)}}
		if err := l.Change(c.change); err != nil {
			t.Fatal(err)
		}
		src, err := l.Source()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, src.Snapshot().CPUs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.change, diff)
		}
	}
}

func TestARunReadsLikeAFile(t *testing.T) {
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(10 * ms)}, run(1 * ms), {Kind: OpSleep, At: at(30 * ms)}, run(1 * ms)}},
		Task{Attr: fifo(60), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(29 * ms)}, run(4 * ms)}})
	for i, name := range []string{"late", "hog"} {
		l.Tasks[i].Comm = l.Names.Intern(name)
	}
	src, err := l.Source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Late) != 1 || got.Late[0].ID != "100@100.030000" || got.Late[0].WaitNS != int64(3*ms) {
		t.Fatalf("late: %+v", got.Late)
	}
	if c := got.Late[0].Causes; len(c) != 1 || c[0].Comm != "hog" || c[0].NS != int64(3*ms) {
		t.Errorf("causes: %+v", c)
	}
}
