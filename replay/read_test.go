package replay

import (
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
	"github.com/whylate/whylate/trace"
)

// recordings are all that lie beside the checkout but the one that is for speed.
func recordings(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "traces"), "*", "*.dat"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range files {
		if filepath.Base(f) != "hackbench.dat" {
			list = append(list, f)
		}
	}
	if len(list) < 15 {
		t.Fatalf("%d recordings, there were 15 once", len(list))
	}
	return list
}

// opened opens a recording.
func opened(t *testing.T, file string) *trace.File {
	t.Helper()
	f, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestWorkIsTheTimeOnCPU: all that CPUs did is idle, interrupts, hand-overs, or work of a task.
func TestWorkIsTheTimeOnCPU(t *testing.T) {
	for _, file := range recordings(t) {
		f := opened(t, file)
		l, err := Read(f, Options{})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		tr := timeline.NewTracker(f.Info().Machine, f.Names())
		b := timeline.NewBuilder(tr, kernel.Of(f.Info().Kernel), f.Names())
		var wakes, total, work event.Time
		if err := pass(f, nil, tr, func(ev *event.Event, s timeline.Step) {
			b.Push(ev, s)
			if ev.Kind == event.SchedWaking || ev.Kind == event.SchedWakeupNew {
				wakes++
			}
		}); err != nil {
			t.Fatal(err)
		}
		b.Finish()
		x := b.Index()
		for c := range x.CPUs {
			ci := &x.CPUs[c]
			if len(ci.Runs) == 0 {
				continue
			}
			ci.Runs[0].Start = x.From
			for _, r := range ci.Runs {
				if !x.Tracker.Task(r.Task).Idle() {
					total += r.End - r.Start
				}
			}
			for _, s := range takenOf(x, c, x.Facts.PreemptRT == kernel.Yes) {
				for _, r := range ci.Runs {
					if !x.Tracker.Task(r.Task).Idle() {
						total -= max(0, min(r.End, s.To)-max(r.Start, s.From))
					}
				}
			}
		}
		for i := range l.Tasks {
			for j := range l.Tasks[i].Ops {
				work += l.Tasks[i].Ops[j].NS * event.Time(btoi(l.Tasks[i].Ops[j].Kind == OpRun))
			}
		}
		if over := total - work; over < 0 || over > wakes*l.HandOver {
			t.Errorf("%s: tasks had %d ns, their work is %d: the difference is not that of %d hand-overs of %d ns", file, total, work, wakes, l.HandOver)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestEveryWaitIsRecorded: those of a load are those that latency finds, with their times, and
// no two have one key.
func TestEveryWaitIsRecorded(t *testing.T) {
	for _, file := range recordings(t) {
		f := opened(t, file)
		l, err := Read(f, Options{})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		type wait struct {
			pid         event.PID
			kind        latency.Kind
			woken, ends event.Time
		}
		want := make(map[wait]int)
		n := 0
		tr := timeline.NewTracker(f.Info().Machine, f.Names())
		lt := latency.NewTracker(tr, func(w *latency.Wait) { want[wait{w.Task.PID, w.Kind, w.Woken, w.End}]++; n++ })
		if err := pass(f, nil, tr, lt.Push); err != nil {
			t.Fatal(err)
		}
		lt.Finish()
		if len(l.Recorded) != n || n == 0 {
			t.Errorf("%s: %d waits, latency finds %d", file, len(l.Recorded), n)
		}
		for i := range l.Recorded {
			w := &l.Recorded[i]
			if i > 0 && l.Recorded[i-1].Key.Compare(w.Key) >= 0 {
				t.Errorf("%s: keys %+v and %+v are not in order", file, l.Recorded[i-1].Key, w.Key)
			}
			key := wait{l.Tasks[w.Key.Task].PID, w.Key.Kind, w.Woken, w.End}
			if want[key]--; want[key] < 0 {
				t.Errorf("%s: latency finds no wait %+v", file, key)
			}
		}
	}
}

// TestLoadsOfRecordings: what is known from the programs that ran.
func TestLoadsOfRecordings(t *testing.T) {
	l, err := Read(opened(t, shared.Path(t, "traces/rt-throttle-v61rt-smp1/throttle950000.dat")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if l.Kernel != "6.1-rt" || l.Preempt != kernel.PreemptRT || l.CPUs != 1 || l.Tick != 4_000_000 {
		t.Errorf("kernel %s, preemption model %d, %d CPUs, a tick of %d ns", l.Kernel, l.Preempt, l.CPUs, l.Tick)
	}
	if d := (12_206_447_765 - l.Zero) % l.Tick; l.Zero > l.From || l.From-l.Zero >= l.Tick || d > 2000 {
		t.Errorf("model time 0 is at %d, the first event at %d, a tick %d ns off", l.Zero, l.From, d)
	}
	// hi25 is SCHED_RR 25 every 10 ms, lo10 SCHED_FIFO 10 every 20 ms, both by absolute times.
	for name, every := range map[string]event.Time{"hi25": 10_000_000, "lo10": 20_000_000} {
		grid, other := 0, 0
		for i := range l.Tasks {
			if l.Names.String(l.Tasks[i].Comm) != name {
				continue
			}
			for _, op := range l.Tasks[i].Ops {
				switch {
				case op.Kind == OpSleep && op.Every == every && op.By == FromEvents:
					grid++
				case op.Kind.Sleeps():
					other++
				}
			}
		}
		if grid < 90 || other > 1 {
			t.Errorf("%s: %d sleeps on a grid of %d ns, %d others", name, grid, every, other)
		}
	}
	l, err = Read(opened(t, shared.Path(t, "traces/exit-storm-v61rt-smp1/exitfn-256.dat")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// exit_mmap took 143,840.6 µs, the exit is a little more.
	var dying event.Time
	for i := range l.Tasks {
		if l.Names.String(l.Tasks[i].Comm) == "exitstorm" {
			for _, op := range l.Tasks[i].Ops {
				if op.Kind == OpRun && op.Dying {
					dying += op.NS
				}
			}
		}
	}
	if dying < 143_840_600 || dying > 145_500_000 {
		t.Errorf("exitstorm's exit is %d ns of work", dying)
	}
}

// memory is a trace in memory.
type memory struct {
	info   event.Info
	names  *event.Names
	events []event.Event
}

func (m *memory) Info() *event.Info                          { return &m.info }
func (m *memory) Names() *event.Names                        { return m.names }
func (m *memory) Close() error                               { return nil }
func (m *memory) Events(event.Options) (event.Stream, error) { return &memoryStream{m: m}, nil }
func (s *memoryStream) Names() *event.Names                  { return s.m.names }
func (s *memoryStream) Diagnostics() []event.Diagnostic      { return nil }
func (s *memoryStream) Close() error                         { return nil }

type memoryStream struct {
	m *memory
	n int
}

func (s *memoryStream) Next() (*event.Event, error) {
	if s.n == len(s.m.events) {
		return nil, io.EOF
	}
	s.n++
	ev := s.m.events[s.n-1]
	return &ev, nil
}

// TestReadOfNothing: no events are no load.
func TestReadOfNothing(t *testing.T) {
	if _, err := Read(&memory{names: event.NewNames()}, Options{}); err == nil {
		t.Error("a load of no events")
	}
}

// TestDeadlineParametersOfARecording: rt-app asked for 3 ms every 10 ms.
func TestDeadlineParametersOfARecording(t *testing.T) {
	l, err := Read(opened(t, shared.Path(t, "traces/rtapp-v61rt-smp1/rtapp.dat")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := range l.Tasks {
		for _, op := range l.Tasks[i].Ops {
			if op.Kind != OpAttr || op.Attr.Policy != sched.Deadline {
				continue
			}
			found++
			if a := op.Attr; a.Runtime != 3_000_000 || a.Deadline != 10_000_000 || a.Period != 10_000_000 {
				t.Errorf("%d becomes %+v", l.Tasks[i].PID, a)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d tasks become deadline tasks, it was one", found)
	}
}

// TestSettingsThatShow: what run.sh of each recording wrote is found out by what the kernel did.
func TestSettingsThatShow(t *testing.T) {
	for _, tt := range []struct{ file, name, value string }{
		{"../scenario/testdata/predicted/exit-throttled-384.dat.xz", "sched_rt_runtime_us", "150000"},
		{"../scenario/testdata/predicted/thr-900.dat.xz", "sched_rt_runtime_us", "900000"},
		{"../scenario/testdata/predicted/fair-100ms.dat.xz", "fair_server_runtime_ns", "100000000"},
		{"../scenario/testdata/predicted/fair-v612.dat.xz", "fair_server_runtime_ns", ""},
		{"../scenario/testdata/predicted/thr-two.dat.xz", "sched_rt_period_us", ""},
	} {
		l, err := Read(opened(t, filepath.FromSlash(tt.file)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range l.Values {
			if v.Name == tt.name {
				got = v.To
			}
		}
		if got != tt.value {
			t.Errorf("%s: %s is %q, not %q", tt.file, tt.name, got, tt.value)
		}
	}
}

// TestSettingThatMakesNoSense: what the events show stays where the snapshot has something that no
// kernel takes, and the load can run.
func TestSettingThatMakesNoSense(t *testing.T) {
	snap := &sysinfo.Snapshot{Settings: []sysinfo.Setting{{Name: "fair_server_runtime_ns", Value: "lots"}}}
	l, err := Read(opened(t, filepath.FromSlash("../scenario/testdata/predicted/fair-100ms.dat.xz")), Options{Snapshot: snap})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newRunner(l, func(*event.Event) {}); err != nil {
		t.Error(err)
	}
	if want := (scenario.Value{Name: "fair_server_runtime_ns", To: "100000000"}); !slices.Contains(l.Values, want) {
		t.Errorf("settings %v without %v", l.Values, want)
	}
	if !slices.ContainsFunc(l.Assumed, func(a Assumption) bool { return a.Kind == "setting_refused" && a.Count == 1 }) {
		t.Errorf("assumed %v", l.Assumed)
	}
}

// TestRuntimeUsedUpToTheLast: what is told of the machine is what its administrator wrote; only a run
// has a little less of it, until a change sets it.
func TestRuntimeUsedUpToTheLast(t *testing.T) {
	l, err := Read(opened(t, shared.Path(t, "traces/rt-throttle-v61rt-smp1/throttle960000-hog.dat")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	runtime := scenario.Value{Name: "sched_rt_runtime_us", To: "960000"}
	if !slices.Contains(l.Values, runtime) {
		t.Errorf("settings %v without %v", l.Values, runtime)
	}
	inRun := func(l *Load) event.Time {
		r, err := newRunner(l, func(*event.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		return r.setup.Machine.Sched.RTRuntime
	}
	if got := inRun(l); got != 959_999_000 {
		t.Errorf("a run has %d ns", got)
	}
	c := l.Clone()
	if err := c.Change("set sched_rt_runtime_us=960000"); err != nil {
		t.Fatal(err)
	}
	if got := inRun(c); got != 960_000_000 {
		t.Errorf("a run of the changed load has %d ns", got)
	}
}
