package replay

import (
	"testing"

	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// ladderOfModel has each policy once, a lock with inheritance, a budget that runs out and fair work.
const ladderOfModel = `{
"tasks": {
 "dl": {"policy": "SCHED_DEADLINE", "dl-runtime": 3000, "dl-period": 10000, "dl-deadline": 10000, "loop": 60, "run": 2000, "timer": {"ref": "t0", "period": 10000}},
 "fifo": {"policy": "SCHED_FIFO", "priority": 30, "cpus": [0], "loop": 100, "run": 1000, "timer": {"ref": "t1", "period": 5000}},
 "rr": {"policy": "SCHED_RR", "priority": 20, "cpus": [0], "loop": 40, "run": 900, "sleep": 9000},
 "high": {"policy": "SCHED_FIFO", "priority": 40, "cpus": [0], "loop": 30, "lock": "m", "run": 300, "unlock": "m", "timer": {"ref": "t2", "period": 16000}},
 "low": {"policy": "SCHED_FIFO", "priority": 10, "cpus": [0], "loop": 20, "lock": "m", "run": 3000, "unlock": "m", "timer": {"ref": "t3", "period": 25000}},
 "other": {"policy": "SCHED_OTHER", "cpus": [0], "loop": 20, "run": 1500, "timer": {"ref": "t4", "period": 20000}}
},
"global": {"duration": -1, "pi_enabled": true},
"whylate": {"kernel": "6.1-rt", "cpus": 1}
}`

// modelled is a run of the model as if it were a recording.
func modelled(t *testing.T, file string) *scenario.Source {
	t.Helper()
	p, err := scenario.Read("model", []byte(file), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestReadOfTheModel: the model knows the truth about its tasks. With its snapshot each has the
// policy and the parameters that it has; the sleeps are those of its program.
func TestReadOfTheModel(t *testing.T) {
	l, err := Read(modelled(t, ladderOfModel), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]sched.Attr{
		"dl":   {Policy: sched.Deadline, Runtime: 3_000_000, Deadline: 10_000_000, Period: 10_000_000},
		"fifo": {Policy: sched.FIFO, Priority: 30}, "rr": {Policy: sched.RR, Priority: 20}, "high": {Policy: sched.FIFO, Priority: 40},
		"low": {Policy: sched.FIFO, Priority: 10}, "other": {Policy: sched.Normal},
	}
	for i := range l.Tasks {
		task := &l.Tasks[i]
		name, _, _ := cut(l.Names.String(task.Comm))
		attr, ok := want[name]
		if !ok {
			continue
		}
		delete(want, name)
		got := task.Attr
		for _, op := range task.Ops {
			if op.Kind == OpAttr && got.Policy == sched.Normal { // rt-app's threads end as what they began
				got = op.Attr
			}
		}
		if got != attr {
			t.Errorf("%s is %+v", name, got)
		}
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}

// cut takes the number of a thread off its name.
func cut(name string) (string, string, bool) {
	for i := range name {
		if name[i] == '-' {
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}

// TestModelRunsAgain: a recorded run of the model, run by the model, is the same run: every
// real-time wait within a switch.
func TestModelRunsAgain(t *testing.T) {
	l, err := Read(modelled(t, ladderOfModel), Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := l.Run(RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, long := 0, 0
	for _, p := range Match(l.Recorded, run.Waits) {
		if p.Recorded == nil || p.Recorded.Class != "rt" && p.Recorded.Class != "dl" || p.Recorded.Key.Kind != latency.Wakeup {
			continue
		}
		n++
		recorded, again := p.Times()
		if recorded > 500_000 {
			long++
		}
		if d := max(recorded-again, again-recorded); d > max(20_000, recorded/50) {
			t.Errorf("%s: %d ns, run again %d", p.Recorded.ID, recorded, again)
		}
	}
	if n < 200 || long < 20 {
		t.Errorf("only %d waits, %d of them long", n, long)
	}
}
