package scenario_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/truth"
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
	src := mustSource(t, plan)
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

// chiefCause is the cause of a wait with the most time.
func chiefCause(w *result.Late) result.Cause {
	best := w.Causes[0]
	for _, c := range w.Causes {
		if c.NS > best.NS {
			best = c
		}
	}
	return best
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

// TestWhatInterruptsDoIsTold by the analysis from events alone: softirqs in front of a task,
// a fair sleeper that real-time tasks keep waiting in ktimers, a CPU that was stolen, a fair
// task behind ksoftirqd.
func TestWhatInterruptsDoIsTold(t *testing.T) {
	const file = `{
		"global": {"duration": 1, "default_policy": "SCHED_OTHER"},
		"tasks": {
			"rt": {"policy": "SCHED_FIFO", "priority": 50, "loop": -1, "run": 300, "timer": {"ref": "unique", "period": 5000}},
			"hog": {"policy": "SCHED_FIFO", "priority": 10, "loop": -1, "run": 9000, "timer": {"ref": "unique", "period": 20000}},
			"fair": {"loop": -1, "run": 200, "timer": {"ref": "unique", "period": 7000}}
		},
		"whylate": {"kernel": "%", "cpus": 1, "settings": {"sched_rt_runtime_us": -1} # }}`
	scene := func(kernel, more string) string {
		return strings.NewReplacer("%", kernel, "#", more).Replace(file)
	}
	// NET_RX for 1 ms every 3.301 ms: sometimes as rt is woken.
	net := `, "irqs": {"eth0": {"hard": 5, "every": 3301, "softirq": "NET_RX", "softirq_work": "1ms"}}`
	x, events := told(t, scene("6.12", net))
	if b := mainBlame(t, x, "rt-0"); b.Kind != "softirq" {
		t.Errorf("softirqs in interrupt context: %s by %s", b.Kind, b.Comm)
	}
	if n := count(events, event.SoftirqRaise); n < 150 || count(events, event.SoftirqEntry) < n-1 {
		t.Errorf("%d raised, %d begun", n, count(events, event.SoftirqEntry))
	}
	// On PREEMPT_RT the handler's thread does them, at its priority.
	x, _ = told(t, scene("6.12-rt", net), "irq=eth0 prio=60")
	if b := mainBlame(t, x, "rt-0"); b.Kind != "higher_prio" || b.Comm != "irq/24-eth0" {
		t.Errorf("softirqs in the thread of a handler: %s by %s", b.Kind, b.Comm)
	}
	// The hog is in front of ktimers/0, so the fair task is woken late.
	x, _ = told(t, scene("6.1-rt", ""))
	late := 0
	for i := range x.Late {
		l := &x.Late[i]
		if c := chiefCause(l); l.Comm == "fair-2" && c.Kind == "late_wakeup" && c.Comm == "hog-1" && c.NS > 5_000_000 {
			late++
			if c.Verdict != "proven" {
				t.Errorf("late wakeup by %s: %s", c.Comm, c.Verdict)
			}
		}
	}
	if late == 0 {
		t.Error("no wake of the fair task is late because of the hog")
	}
	// A stolen CPU makes the timer interrupt late.
	x, _ = told(t, scene("6.12", `, "steal": {"host": {"every": "30ms", "length": "6ms"}}`))
	late = 0
	for i := range x.Late {
		if c := chiefCause(&x.Late[i]); x.Late[i].Comm == "rt-0" && c.Kind == "late_wakeup" && strings.Contains(c.Detail, "stolen") {
			late++
		}
	}
	if late == 0 {
		t.Error("no timer interrupt is late because the CPU was stolen")
	}
}

func count(events []event.Event, k event.Kind) int {
	n := 0
	for i := range events {
		if events[i].Kind == k {
			n++
		}
	}
	return n
}

// TestTheMachineOfAFile has its idle states and steals, and changes reach its interrupts.
func TestTheMachineOfAFile(t *testing.T) {
	plan, err := scenario.Read("f.json", []byte(`{
		"global": {"duration": 1}, "tasks": {"a": {"run": 100, "sem_wait": "s"}},
		"whylate": {"cpus": 2, "idle_states": {"POLL": {}, "C1": {"latency": 2, "residency": 20}},
			"steal": {"host": {"cpus": [1], "every": "1ms", "length": ["1us", "2us"]}},
			"irqs": {"14-pata": {"work": 10, "softirq": "BLOCK", "softirq_work": 3, "post": "s"}, "eth0": {"cpus": [0], "threaded": true}},
			"devices": {"cf": {"irq": "14-pata", "bytes_per_irq": 512, "bytes": 512, "post": "s"}}}}`), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"irq=pata policy=other nice=5", "irq=irq/eth0 prio=33 cpus=1"} {
		if err := plan.Change(c); err != nil {
			t.Fatal(err)
		}
	}
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	m, pata, eth := setup.Machine, setup.Load.IRQs[0], setup.Load.IRQs[1]
	got := []any{m.IdleStates, m.Steals, pata.Number, pata.Name, *pata.Attr, pata.Softirq, pata.SoftirqVec, pata.Post, eth.Number, *eth.Attr, eth.CPUs, eth.Threading, setup.Load.Devices[0].Post, setup.Load.Devices[0].Count}
	want := []any{[]machine.IdleState{{Name: "POLL", Poll: true}, {Name: "C1", Latency: 2 * us, Residency: 20 * us}},
		[]machine.Steal{{CPUs: []event.CPU{1}, Every: machine.Span{Min: ms, Max: ms}, Length: machine.Span{Min: us, Max: 2 * us}}},
		int64(14), "pata", sched.Attr{Nice: 5}, true, event.SoftirqBlock, 0, int64(0), sched.Attr{Policy: sched.FIFO, Priority: 33}, []event.CPU{1}, machine.ThreadAlways, 0, int64(1)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
	for _, c := range []string{"irq=sata prio=5", "irq=pata", "irq=pata policy=deadline", "irq=pata prio=100"} {
		if err := plan.Change(c); err == nil {
			t.Errorf("%s is taken", c)
		}
	}
}

// TestIORunWaitsForTheDevice whose path io_device is, and semaphores are raised when it is
// done.
func TestIORunWaitsForTheDevice(t *testing.T) {
	const file = `{
		"global": {"duration": 1, "io_device": "/dev/cf"},
		"tasks": {"reader": {"policy": "SCHED_FIFO", "priority": 10, "loop": 2, "iorun": 51200},
			"waiter": {"policy": "SCHED_FIFO", "priority": 9, "loop": 1, "sem_wait": "done", "run": 10}},
		"whylate": {"kernel": "6.12-rt", "cpus": 1,
			"irqs": {"14-pata": {"hard": 2, "work": 40}},
			"devices": {"cf": {"irq": "14-pata", "bytes_per_irq": 512, "gap": "8us", "path": "/dev/cf", "post": "done"}}}}`
	plan, err := scenario.Read("f.json", []byte(file), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan.Costs = scenario.Costs{}
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	m, run := runQuietly(t, setup, setup.Until)
	requests := run.Devices()[0].Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	for _, r := range requests {
		// 100 interrupts of 8 + 2 + 40 µs each.
		if took := r.End - r.Submitted; took != 5*ms {
			t.Errorf("a request took %d ns", took)
		}
	}
	if !run.Done() || m.Now() < 10*ms {
		t.Error("reader or waiter still waits")
	}
}

// TestTheTruthKnowsWhatCoversATask: every layer of the machine is noted, and by the name of
// the handler and the number of the vector that it belongs to.
func TestTheTruthKnowsWhatCoversATask(t *testing.T) {
	plan, err := scenario.Read("f.json", []byte(`{
		"global": {"duration": 1}, "tasks": {"a": {"policy": "SCHED_FIFO", "priority": 5, "loop": -1, "run": 300, "timer": {"ref": "unique", "period": 5000}}},
		"whylate": {"kernel": "6.12", "cpus": 1, "idle_states": {"C6": {"latency": 50, "residency": 100}},
			"steal": {"host": {"every": "20ms", "length": "1ms"}},
			"irqs": {"14-pata": {"hard": 10, "every": 3301, "softirq": "BLOCK", "softirq_work": 40}}}}`), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	src := mustSource(t, plan)
	log, err := src.Truth()
	if err != nil {
		t.Fatal(err)
	}
	total := map[truth.CoverKind]event.Time{}
	for c := range log.Covers(0, 0, 900*ms) {
		total[c.Kind] += c.To - c.From
		switch {
		case c.Kind == truth.HardIRQ && (c.N != 14 || src.Names().String(c.Name) != "pata"):
			t.Fatalf("an interrupt %d of %q", c.N, src.Names().String(c.Name))
		case c.Kind == truth.SoftIRQ && c.N != event.SoftirqBlock:
			t.Fatalf("a softirq %d", c.N)
		}
	}
	// 272 interrupts of 10 and 40 µs in 900 ms, 42 steals of 1 ms.
	for kind, want := range map[truth.CoverKind]event.Time{truth.HardIRQ: 272 * 10 * us, truth.SoftIRQ: 272 * 40 * us, truth.Stolen: 42 * ms} {
		if got := total[kind]; got < want*98/100 || got > want*102/100 {
			t.Errorf("%v for %d ns, want about %d", kind, got, want)
		}
	}
	for _, kind := range []truth.CoverKind{truth.IdleExit, truth.LocalIRQ, truth.Own} {
		if total[kind] == 0 {
			t.Errorf("never %v", kind)
		}
	}
}
