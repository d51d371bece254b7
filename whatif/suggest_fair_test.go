package whatif

import (
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/trace"
)

func fairStudy(t *testing.T, name string) *Study {
	t.Helper()
	src, err := trace.Open("../replay/testdata/fair/" + name + ".dat.xz")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	l, err := replay.Read(src, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStudy(l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestQuotaOfARecordedGroup: four tasks of /q want 12.5 ms every 50 ms and may have 20 of each 100; with no limit they wait
// less at the 90th percentile, and what is suggested for a wait for the quota can be made and pasted.
func TestQuotaOfARecordedGroup(t *testing.T) {
	s := fairStudy(t, "v61-quota")
	if !s.Load.FairClass {
		t.Fatal("the snapshot tells virtual run times, and they are not used")
	}
	throttled := func(l *replay.Load) event.Time {
		run, err := l.Run(replay.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sum := event.Time(0)
		for i := range run.Waits {
			if w := &run.Waits[i]; strings.HasPrefix(l.Names.String(l.Tasks[w.Key.Task].Comm), "q") {
				sum += w.Length()
			}
		}
		return sum
	}
	limited := throttled(s.Load)
	free := s.Load.Clone()
	if err := free.Change("cgroup=/q cpu.max=max"); err != nil {
		t.Fatal(err)
	}
	if without := throttled(free); without >= limited {
		t.Errorf("the tasks of /q wait for %d ns without a limit, %d with one", without, limited)
	}
	var q *Task
	for i := range s.known.Tasks {
		if s.known.Tasks[i].Comm == "q1" {
			q = &s.known.Tasks[i]
		}
	}
	late := &result.Late{Comm: q.Comm, PID: q.PID, Class: "fair", LatenessNS: 100, Causes: []result.Cause{{Kind: "cfs_quota", NS: 100, PID: -1}}}
	list := Candidates(late, s.known)
	if len(list) < 4 {
		t.Fatalf("%d suggestions: %v", len(list), list)
	}
	for _, c := range list {
		if _, err := scenario.ParseChange(c.Change); err != nil || !strings.Contains(c.Command, "/sys/fs/cgroup/q/cpu.max") {
			t.Errorf("%s: %v, command %q", c.Change, err, c.Command)
		}
	}
}

// TestFairTurnBetweenGroups: a task of one group that waits for one of another is helped by its group's weight, not by a
// nice value, which counts within the group only.
func TestFairTurnBetweenGroups(t *testing.T) {
	s := fairStudy(t, "v612-groups")
	var a, b *Task
	for i := range s.known.Tasks {
		switch x := &s.known.Tasks[i]; {
		case x.Group == 1 && a == nil:
			a = x
		case x.Group == 2 && b == nil:
			b = x
		}
	}
	if a == nil || b == nil {
		t.Fatal("no tasks in two groups")
	}
	late := &result.Late{Comm: a.Comm, PID: a.PID, Class: "fair", Prio: 120, LatenessNS: 100, Causes: []result.Cause{{Kind: "fair_turn", NS: 100, Comm: b.Comm, PID: b.PID, Prio: 120}}}
	weights := 0
	for _, c := range Candidates(late, s.known) {
		if strings.Contains(c.Change, "nice=") {
			t.Errorf("%s is suggested between groups", c.Change)
		}
		if strings.Contains(c.Change, "cpu.weight=") {
			weights++
		}
	}
	if weights == 0 {
		t.Error("no weight is suggested")
	}
}

// TestCommandsOfGroups: units of systemd get properties, other groups are written.
func TestCommandsOfGroups(t *testing.T) {
	for change, want := range map[string]string{
		`cgroup=/system.slice/web.service cpu.max="50000 100000"`: "systemctl set-property --runtime web.service CPUQuota=50% CPUQuotaPeriodSec=100000us",
		`cgroup=/system.slice/web.service cpu.weight=300`:         "systemctl set-property --runtime web.service CPUWeight=300",
		`cgroup=/pool cpu.max.burst=20000`:                        "echo 20000 >/sys/fs/cgroup/pool/cpu.max.burst",
		`set base_slice_ns=1000000`:                               "echo 1000000 >/sys/kernel/debug/sched/base_slice_ns",
	} {
		c, err := scenario.ParseChange(change)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Known{}).Command(&c); got != want {
			t.Errorf("%s: %q, want %q", change, got, want)
		}
	}
}
