package scenario_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/trace"
)

// described is a scenario that says something about every part of a machine.
const described = `{
	"global": {"duration": 1, "default_policy": "SCHED_OTHER"},
	"tasks": {
		"ctl": {"policy": "SCHED_FIFO", "priority": 80, "cpus": [1], "run": 100, "timer": {"ref": "unique", "period": 10000}},
		"plain": {"instance": 2, "priority": 5, "cpus": [0, 2, 3], "run": 100, "timer": {"ref": "unique", "period": 20000}},
		"dl": {"policy": "SCHED_DEADLINE", "dl-runtime": 1000, "dl-deadline": 5000, "dl-period": 10000, "run": 100, "timer": {"ref": "unique", "period": 10000}},
		"grouped": {"policy": "SCHED_RR", "priority": 10, "run": 100, "timer": {"ref": "unique", "period": 10000}}
	},
	"whylate": {
		"kernel": "6.1-rt", "cpus": 4,
		"settings": {"sched_rt_runtime_us": 980000, "RT_GROUP_SCHED": "on", "HZ": 1000, "nohz": "full"},
		"cgroups": {"/rt": {"cpu.rt_runtime_us": 10000, "cpu.rt_period_us": 1000000}},
		"irqs": {"14-ahci": {"cpus": [2, 3], "work": 1000, "policy": "SCHED_FIFO", "priority": 85, "every": 1000000}},
		"tasks": {"grouped": {"cgroup": "/rt"}}
	}
}`

func describedSource(t *testing.T, text string) *scenario.Source {
	t.Helper()
	plan, err := scenario.Read("described.json", []byte(text), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	src := mustSource(t, plan)
	return src
}

func TestTheModelKnowsItsMachine(t *testing.T) {
	src := describedSource(t, described)
	s := src.Snapshot()
	slack, none := int64(50_000), int64(0)
	for _, want := range []sysinfo.Task{
		{PID: 1000, TGID: 1000, Comm: "rt-app", Policy: sysinfo.Other, CGroup: "/", TimerSlackNS: &slack},
		{PID: 1001, TGID: 1000, Comm: "ctl-0", Policy: sysinfo.FIFO, Priority: 80, CPUs: sysinfo.CPUList{1}, CGroup: "/", TimerSlackNS: &none},
		{PID: 1002, TGID: 1000, Comm: "plain-1", Policy: sysinfo.Other, Nice: 5, CPUs: sysinfo.CPUList{0, 2, 3}, CGroup: "/", TimerSlackNS: &slack},
		{PID: 1003, TGID: 1000, Comm: "plain-2", Policy: sysinfo.Other, Nice: 5, CPUs: sysinfo.CPUList{0, 2, 3}, CGroup: "/", TimerSlackNS: &slack},
		{PID: 1004, TGID: 1000, Comm: "dl-3", Policy: sysinfo.Deadline, RuntimeNS: 1_000_000, DeadlineNS: 5_000_000, PeriodNS: 10_000_000, CGroup: "/", TimerSlackNS: &none},
		{PID: 1005, TGID: 1000, Comm: "grouped-4", Policy: sysinfo.RR, Priority: 10, CGroup: "/rt", TimerSlackNS: &none},
	} {
		got := s.Task(want.PID)
		if got == nil {
			t.Fatalf("no task %d", want.PID)
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Error(diff)
		}
	}
	for name, want := range map[string]string{"sched_rt_runtime_us": "980000", "HZ": "1000", "nohz": "full", "preempt": "rt", "RT_GROUP_SCHED": "on"} {
		if got, _ := s.Setting(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if on, known := s.Feature("RT_PUSH_IPI"); !on || !known {
		t.Error("RT_PUSH_IPI is not on, as it is on 6.1-rt")
	}
	if _, known := s.Setting("fair_server_runtime_ns"); known {
		t.Error("6.1 has a fair server")
	}
	if g := s.CGroup("/rt"); g == nil || g.RealTime == nil || g.RealTime.RuntimeNS != 10_000_000 {
		t.Errorf("group /rt is %+v", g)
	}
	if len(s.CPUs) != 4 || !s.CPUs[3].NoHZFull {
		t.Errorf("CPUs %+v", s.CPUs)
	}
	if len(s.IRQs) != 1 || s.IRQs[0].Number != 14 || s.IRQs[0].Name != "ahci" {
		t.Fatalf("IRQs %+v", s.IRQs)
	}
	th := s.Task(s.IRQs[0].Thread)
	if th == nil || th.Comm != "irq/14-ahci" || th.Priority != 85 || !th.Kernel || !th.Allows(s.IRQs[0].Effective[0]) {
		t.Errorf("the thread of the interrupt is %+v", th)
	}
}

// TestTheSnapshotNamesTheTasksOfTheEvents: pid, name and priority of every task that the events
// show are those of the snapshot, the kernel's own threads too.
func TestTheSnapshotNamesTheTasksOfTheEvents(t *testing.T) {
	src := describedSource(t, described)
	s := src.Snapshot()
	events, err := src.Events(event.Options{Want: event.Kinds(event.SchedSwitch)})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[event.PID]bool{}
	begun := event.Time(100_000_000) // by then every thread is in its first round
	for {
		ev, err := events.Next()
		if err != nil {
			break
		}
		if ev.Time < begun || ev.Time > 9*begun || ev.Next == 0 {
			continue
		}
		task := s.Task(int32(ev.Next))
		if task == nil {
			t.Fatalf("%s/%d is not in the snapshot", src.Names().String(ev.NextComm), ev.Next)
		}
		if got := src.Names().String(ev.NextComm); got != task.Comm {
			t.Errorf("%d is called %q, in the snapshot %q", ev.Next, got, task.Comm)
		}
		if !task.Allows(int32(ev.CPU)) {
			t.Errorf("%s runs on CPU %d, in the snapshot it may use %s", task.Comm, ev.CPU, task.CPUs)
		}
		want := event.Prio(120 + task.Nice)
		switch task.Policy {
		case sysinfo.Deadline:
			want = event.PrioDeadline
		case sysinfo.FIFO, sysinfo.RR:
			want = event.Prio(99 - task.Priority)
		}
		if ev.NextPrio != want {
			t.Errorf("%s has priority %d, in the snapshot %d", task.Comm, ev.NextPrio, want)
		}
		seen[ev.Next] = true
	}
	if len(seen) < 6 {
		t.Errorf("only %d tasks ran", len(seen))
	}
}

// TestSettingsOfASnapshotMakeTheSameMachine: what it says, set one by one on the same kernel,
// gives a machine of which the snapshot says the same.
func TestSettingsOfASnapshotMakeTheSameMachine(t *testing.T) {
	for _, kernel := range []string{"3.4-rt", "4.11", "6.1", "6.1-rt", "6.12", "6.12-rt", "6.18"} {
		plan := &scenario.Plan{Kernel: kernel, CPUs: 2}
		plan.Values = []scenario.Value{{Name: "HZ", To: "300"}, {Name: "sched_rt_runtime_us", To: "970000"}, {Name: "TTWU_QUEUE", To: "on"}, {Name: "highres", To: "off"}}
		plan.Load.Duration = 1
		first, err := plan.Setup()
		if err != nil {
			t.Fatal(err)
		}
		src, err := scenario.NewSource(first)
		if err != nil {
			t.Fatal(err)
		}
		s := src.Snapshot()
		again := &scenario.Plan{Kernel: kernel, CPUs: 2}
		again.Load.Duration = 1
		for _, x := range s.Settings {
			again.Values = append(again.Values, scenario.Value{Name: x.Name, To: x.Value})
		}
		for _, f := range s.Features {
			again.Values = append(again.Values, scenario.Value{Name: f.Name, To: map[bool]string{true: "on", false: "off"}[f.On]})
		}
		second, err := again.Setup()
		if err != nil {
			t.Errorf("%s: %v", kernel, err)
			continue
		}
		if diff := cmp.Diff(first.Machine, second.Machine); diff != "" {
			t.Errorf("%s: machine (-first +second):\n%s", kernel, diff)
		}
	}
}

func TestAWrittenRunKeepsItsMachine(t *testing.T) {
	src := describedSource(t, described)
	for _, name := range []string{"run.dat", "run.dat.gz", "run.txt", "run.txt.zst"} {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, src)
		file, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(src.Snapshot(), sysinfo.Of(file)); diff != "" {
			t.Errorf("%s (-model +file):\n%s", name, diff)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
