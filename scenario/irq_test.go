package scenario_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/workload"
)

// pata is a machine with one CPU on which a disk in PIO mode saturates the CPU by its
// interrupt: requests of 6 MB by themselves, and an application that must run every 10 ms.
const pata = `{
	"global": {"duration": 1, "default_policy": "SCHED_OTHER"},
	"tasks": {
		"app": {"policy": "SCHED_FIFO", "priority": 25, "loop": -1, "run": 500, "timer": {"ref": "unique", "period": 10000}},
		"low": {"policy": "SCHED_FIFO", "priority": 20, "loop": -1, "run": 500, "timer": {"ref": "unique", "period": 10000}},
		"fair": {"loop": -1, "run": 1000, "timer": {"ref": "unique", "period": 20000}}
	},
	"whylate": {
		"kernel": "6.1-rt", "cpus": 1, "settings": {"sched_rt_runtime_us": -1},
		"irqs": {"14-pata": {"policy": "SCHED_FIFO", "priority": 22, "hard": "3us", "work": "40us"}},
		"devices": {"cf": {"irq": "14-pata", "bytes_per_irq": 512, "gap": "1us", "bytes": 3000000, "start": "100ms"}}
	}}`

// told runs a scenario with changes and returns what is told of it, and the devices.
func told(t *testing.T, file string, changes ...string) (*result.Explain, []event.Event) {
	t.Helper()
	plan, err := scenario.Read("f.json", []byte(file), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := plan.Change(c); err != nil {
			t.Fatal(err)
		}
	}
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	x, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime})
	if err != nil {
		t.Fatal(err)
	}
	return x, all(t, src, 0)
}

// throughput runs a scenario and returns the time that the first request of its first
// device took.
func throughput(t *testing.T, file string, changes ...string) event.Time {
	t.Helper()
	plan, err := scenario.Read("f.json", []byte(file), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := plan.Change(c); err != nil {
			t.Fatal(err)
		}
	}
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	_, run := runQuietly(t, setup, setup.Until)
	return requestTime(t, run)
}

func requestTime(t *testing.T, run *workload.Run) event.Time {
	t.Helper()
	r := run.Devices()[0].Requests()
	if len(r) == 0 || r[0].End == event.NoTime {
		t.Fatal("the request was not done")
	}
	return r[0].End - r[0].Submitted
}

// mainBlame is what made a real-time task wait most in all.
func mainBlame(t *testing.T, x *result.Explain, comm string) result.Blame {
	t.Helper()
	var best result.Blame
	for _, row := range x.Tasks {
		for _, b := range row.Blame {
			if row.Comm == comm && row.Class == "rt" && b.NS > best.NS {
				best = b
			}
		}
	}
	return best
}

// TestADiskInPIOMode: the thread of its interrupt keeps lower real-time tasks out, without
// threads the interrupt itself does, and as a fair task it hurts nobody, for a price.
func TestADiskInPIOMode(t *testing.T) {
	x, _ := told(t, pata)
	if b := mainBlame(t, x, "low-1"); b.Kind != "higher_prio" || b.Comm != "irq/14-pata" {
		t.Errorf("in a real-time thread: %s by %s", b.Kind, b.Comm)
	}
	x, _ = told(t, pata, "kernel=6.1")
	if b := mainBlame(t, x, "low-1"); b.Kind != "irq" || b.Comm != "pata" {
		t.Errorf("in interrupt context: %s by %s", b.Kind, b.Comm)
	}
	fifo, other, hard := throughput(t, pata), throughput(t, pata, "irq=pata policy=other"), throughput(t, pata, "kernel=6.1")
	t.Logf("3 MB in a FIFO thread %d ms, a fair thread %d ms, in interrupt context %d ms", fifo/ms, other/ms, hard/ms)
	// 5,860 rounds of 44 µs are 257.8 ms without anything else.
	if rounds := 5860 * 44 * us; fifo < rounds || other < fifo || hard > fifo {
		t.Errorf("a request took %d ns in a FIFO thread, %d in a fair one, %d in interrupt context; the loop alone is %d", fifo, other, hard, rounds)
	}
}
