package scenario_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// TestWhatTheModelDoesNotKnowIsRefused by name, never passed over.
func TestWhatTheModelDoesNotKnowIsRefused(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"clamps", `{"tasks": {"a": {"util_min": 100, "run": 100}}}`, "utilisation clamps"},
		{"NUMA", `{"tasks": {"a": {"nodes_membind": [0], "run": 100}}}`, "NUMA"},
		{"devices", `{"global": {"io_device": "/dev/sda"}, "tasks": {"a": {"iorun": 4096}}}`, "devices"},
		{"clamps of a phase", `{"tasks": {"a": {"phases": {"p": {"util_max": 100, "run": 100}}}}}`, "utilisation clamps"},
	} {
		_, err := scenario.Read("f.json", []byte(c.file), scenario.Options{})
		if !errors.Is(err, scenario.ErrNotModelled) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that names %q", c.name, err, c.want)
		}
	}
}

// TestTheObjectWhylate sets up the machine that it describes.
func TestTheObjectWhylate(t *testing.T) {
	plan, err := scenario.Read("f.json", []byte(`{
		"global": {"duration": 1}, "tasks": {"a": {"run": 100}},
		"whylate": {
			"kernel": "6.1.176-rt", "seed": 7,
			"topology": {"threads_per_core": 2, "cores_per_llc": 2, "llcs_per_node": 2},
			"settings": {"sched_rt_runtime_us": 500000, "HZ": 1000, "preempt": "full", "sched_rr_timeslice_ms": 20},
			"features": {"HRTICK_DL": true, "RT_PUSH_IPI": false},
			"costs": {"switch": "3us", "timer_slack": 0},
			"variants": {"wide": ["set sched_rt_runtime_us=-1", "task=a policy=fifo prio=9"], "none": []}
		}}`), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	c := setup.Machine.Sched
	got := []any{setup.Kernel.Profile.Name, setup.Load.Seed, c.CPUs, slices.Index(c.Topology.LLC, 1), c.DLBandwidth, c.Tick, c.Preempt, c.RRTimeslice, c.HRTickDL, c.RTPushIPI, setup.Machine.Costs.Switch, setup.Load.TimerSlack}
	want := []any{"6.1-rt", uint64(7), 8, 4, int64(1 << 19), 1 * ms, sched.PreemptFull, 20, true, false, 3 * us, event.Time(0)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("setup (-want +got):\n%s", diff)
	}
	if err := plan.Vary("wide"); err != nil {
		t.Fatal(err)
	}
	if setup, err = plan.Setup(); err != nil {
		t.Fatal(err)
	}
	if a := setup.Load.Tasks[0].Attr; setup.Machine.Sched.DLBandwidth >= 0 || a.Policy != sched.FIFO || a.Priority != 9 {
		t.Errorf("the variant left bandwidth %d and %+v", setup.Machine.Sched.DLBandwidth, *a)
	}
	if err := plan.Vary("narrow"); err == nil || !strings.Contains(err.Error(), "wide") {
		t.Errorf("an unknown variant: %v, want the names of the known ones", err)
	}
}

// TestPartsOfTheObjectThatAreNotModelled are refused, too.
func TestPartsOfTheObjectThatAreNotModelled(t *testing.T) {
	for part, want := range map[string]string{
		`"cpus": 2, "topology": {"llcs_per_node": 2, "capacity": [1024, 512]}`: "unequal capacity",
		`"costs": {"switch": [1, 2]}`:                                          "costs that vary",
	} {
		_, err := scenario.Read("f.json", []byte(`{"global": {"duration": 1}, "tasks": {"a": {"run": 100}}, "whylate": {`+part+`}}`), scenario.Options{})
		if !errors.Is(err, scenario.ErrNotModelled) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that names %q", part, err, want)
		}
	}
}

// TestScenariosThatCannotRun end with a word about why.
func TestScenariosThatCannotRun(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"no end", `{"tasks": {"a": {"run": 100}}}`, "never ends"},
		{"too many", `{"global": {"duration": 1}, "tasks": {"a": {"instance": 1000000, "run": 100}}}`, "threads"},
		{"CPUs of no machine", `{"global": {"duration": 1}, "tasks": {"a": {"cpus": [5000], "run": 100}}}`, "5001 CPUs"},
		{"negative time", `{"global": {"duration": 1}, "tasks": {"a": {"run": -100}}}`, "negative"},
		{"no policy", `{"global": {"duration": 1}, "tasks": {"a": {"policy": "SCHED_BEST", "run": 100}}}`, "SCHED_BEST"},
	} {
		plan, err := scenario.Read("f.json", []byte(c.file), scenario.Options{})
		if err == nil {
			_, err = plan.Setup()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestTheKernelsVerdict: what only a kernel refuses is a result: the program exits there.
func TestTheKernelsVerdict(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"admission", `{"global": {"duration": 1}, "tasks": {"dl": {"instance": 3, "policy": "SCHED_DEADLINE", "dl-runtime": 5000, "dl-period": 10000, "run": 100, "timer": {"ref": "unique", "period": 10000}}}}`, "EBUSY"},
		{"affinity of a deadline task", `{"global": {"duration": 1}, "tasks": {"dl": {"policy": "SCHED_DEADLINE", "dl-runtime": 1000, "dl-period": 10000, "cpus": [0], "run": 100, "timer": {"ref": "unique", "period": 10000}}, "b": {"cpus": [1], "sleep": 1000}}}`, "EBUSY"},
		{"a deadline task that forks", `{"global": {"duration": 1}, "tasks": {"dl": {"policy": "SCHED_DEADLINE", "dl-runtime": 1000, "dl-period": 10000, "fork": "b", "sleep": 1000}, "b": {"instance": 0, "loop": 1, "run": 10}}}`, "EAGAIN"},
	} {
		plan, err := scenario.Read("f.json", []byte(c.file), scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		src := mustSource(t, plan)
		x, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, d := range x.Diagnostics {
			found = found || d.Kind == "verdict" && strings.Contains(d.Text, c.want)
		}
		if !found {
			t.Errorf("%s: diagnostics %v, want a verdict with %s", c.name, x.Diagnostics, c.want)
		}
		if x.Input.EndNS > int64(900*ms) {
			t.Errorf("%s: the run went on for %d ns", c.name, x.Input.EndNS)
		}
	}
}

// TestLoopsOfWorkAreWhole as rt-app makes them from a calibration that the file gives.
func TestLoopsOfWorkAreWhole(t *testing.T) {
	plan, err := scenario.Read("f.json", []byte(`{"global": {"duration": 1, "calibration": 188}, "tasks": {"a": {"run": 1000, "run1": 2500000}}}`), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops := plan.Load.Tasks[0].Phases[0].Ops
	// 5319 loops of 188 ns; two seconds of 5319148 loops each, and 2659574 loops.
	if got, want := ops[0].NS, event.Time(5319*188); got != want {
		t.Errorf("1 ms of work takes %d, want %d", got, want)
	}
	if got, want := ops[1].NS, event.Time(2*5319148*188+2659574*188); got != want {
		t.Errorf("2.5 s of work take %d, want %d", got, want)
	}
}

// TestSameBytes: a run again, and a run read in one piece, gives the same events.
func TestSameBytes(t *testing.T) {
	for seed := range uint64(5) {
		setup, err := randomPlan(seed).Setup()
		if err != nil {
			t.Fatal(err)
		}
		src, err := scenario.NewSource(setup)
		if err != nil {
			t.Fatal(err)
		}
		a, b := all(t, src, 0), all(t, src, event.Kinds(event.SchedSwitch))
		again, err := scenario.NewSource(setup)
		if err != nil {
			t.Fatal(err)
		}
		c := all(t, again, 0)
		if len(a) < 100 || len(a) != len(c) {
			t.Fatalf("%d events, then %d", len(a), len(c))
		}
		n := 0
		for i := range a {
			if a[i] != c[i] {
				t.Fatalf("event %d differs: %+v, then %+v", i, a[i], c[i])
			}
			if a[i].Kind == event.SchedSwitch {
				if a[i] != b[n] {
					t.Fatalf("switch %d differs when only switches are wanted", n)
				}
				n++
			}
		}
		if n != len(b) {
			t.Errorf("%d switches of all events, %d alone", n, len(b))
		}
	}
}

func all(t *testing.T, src *scenario.Source, want event.KindSet) []event.Event {
	t.Helper()
	st, err := src.Events(event.Options{Want: want})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var list []event.Event
	for {
		ev, err := st.Next()
		if err != nil {
			return list
		}
		if n := len(list); n > 0 && ev.Time < list[n-1].Time {
			t.Fatalf("time goes back from %d to %d", list[n-1].Time, ev.Time)
		}
		list = append(list, *ev)
	}
}
