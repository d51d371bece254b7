package scenario_test

import (
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/trace"
	"github.com/whylate/whylate/workload"
)

// ladder is one run of the recordings rt-throttle-*: burn22 (SCHED_FIFO 22) spins for 2.3 s
// of the clock, hi25 (SCHED_RR 25) works 1 ms every 10 ms, lo10 (SCHED_FIFO 10) 0.2 ms every
// 20 ms, with hog the fair task cfs spins beside them, all on CPU 0.
//
// Programs and settings are those of run.sh. The times are what the recording says of its
// beginning, on its own clock: initial state that no program determines. Work takes what the
// programs ask for, the machine's own work what the model's default costs say.
type ladder struct {
	name, file string
	kernel     string
	set        []string
	hog        bool
	// tick is when the CPU ticks: the expiry of a timer of the tick less how late it was.
	tick event.Time
	// start is when the load begins in the model.
	start event.Time
	// rtTimer is an expiry of sched_rt_period_timer before start.
	rtTimer event.Time
	// burn is when burn22 becomes real-time, end when it exits.
	burn, end event.Time
	// hi25 and lo10 are when they wake for the first time; 0: never before the end.
	hi25, lo10 event.Time
	// windows and waits are of the recording, in µs: how long burn22 was kept off the CPU by
	// throttling or the fair server, and the waits of hi25 longer than 1 ms.
	windows, waits []event.Time
	within         event.Time // of each
}

// late is how much after its time the stamp of a timer's expiry is in these recordings, by
// the difference of now and expires.
const late event.Time = 366

var ladders = []ladder{
	{name: "6.1-rt, 950000", file: "rt-throttle-v61rt-smp1/throttle950000.dat", kernel: "6.1-rt",
		tick: 12_258_447_988 - late, start: 10_300_000_000, rtTimer: 11_258_447_988 - late,
		burn: 12_633_020_718 - 2_300*ms, end: 12_633_020_718, hi25: 12_218_611_038, lo10: 12_227_534_753,
		windows: []event.Time{51_998}, waits: []event.Time{39_844}, within: 4 * ms},
	{name: "6.1-rt, 960000 and a fair hog", file: "rt-throttle-v61rt-smp1/throttle960000-hog.dat", kernel: "6.1-rt",
		set: []string{"set sched_rt_runtime_us=960000"}, hog: true,
		tick: 48_258_449_524 - late, start: 46_800_000_000, rtTimer: 47_258_449_524 - late,
		burn: 49_115_947_014 - 2_300*ms, end: 49_115_947_014, hi25: 48_226_308_204, lo10: 48_235_237_988,
		windows: []event.Time{44_001}, waits: []event.Time{32_150}, within: 4 * ms},
	{name: "6.1-rt, off", file: "rt-throttle-v61rt-smp1/throttle-off.dat", kernel: "6.1-rt",
		set:  []string{"set sched_rt_runtime_us=-1"},
		tick: 76_878_450_826 - late, start: 76_860_000_000, rtTimer: 76_878_450_826 - late,
		burn: 79_180_548_183 - 2_300*ms, end: 79_180_548_183, lo10: 76_899_659_936, hi25: 79_192_559_613,
		within: 4 * ms},
	{name: "6.12-rt, 950000 and a fair hog", file: "rt-throttle-v612rt-smp1/throttle950000-hog.dat", kernel: "6.12-rt", hog: true,
		tick: 23_444_720_642 - late, start: 24_417_989_299 - 950*ms, burn: 24_419_868_552 - 950*ms, end: 25_770_184_261,
		hi25: 23_477_995_948, lo10: 24_440_298_332,
		windows: []event.Time{52_858, 53_997}, waits: []event.Time{48_734, 44_734}, within: ms},
	{name: "6.12-rt, off and a fair hog", file: "rt-throttle-v612rt-smp1/throttle-off-hog.dat", kernel: "6.12-rt", hog: true,
		set:  []string{"set sched_rt_runtime_us=-1"},
		tick: 115_944_720_000, start: 115_850_743_099 - 950*ms, burn: 115_892_515_304 - 950*ms, end: 117_242_984_846,
		hi25: 114_950_408_339, lo10: 114_961_551_776,
		windows: []event.Time{52_211, 53_997}, waits: []event.Time{48_322, 44_322}, within: ms},
}

// aSwitch is by how much a window of whole ticks is longer or shorter, as its switches come
// some µs after what makes them.
const aSwitch event.Time = 10 * us

// source is the model's run of the same load.
func (l *ladder) source(t *testing.T) *scenario.Source {
	t.Helper()
	zero := l.tick - (l.tick-l.start)/(4*ms)*4*ms - 4*ms // of the machine's clock: a tick
	p := &scenario.Plan{Name: l.name, Kernel: l.kernel, CPUs: 1, Costs: scenario.DefaultCosts()}
	p.Costs.Slack = 0
	p.Load = workload.Spec{Comm: "sh", Duration: l.end - l.start + 50*ms, Free: true}
	add := func(name string, a sched.Attr, phases ...workload.Phase) {
		p.Load.Tasks = append(p.Load.Tasks, workload.Task{Name: name, Comm: name, Instances: 1, Loop: 1, Timers: 1, Attr: &a,
			CPUs: []event.CPU{0}, Phases: phases})
	}
	// The real-time tasks have their policy from the start and sleep until they begin; from
	// there periods are counted.
	begin := func(at event.Time, op workload.Op) workload.Phase {
		return workload.Phase{Loop: 1, Ops: []workload.Op{{Kind: workload.OpUnique, NS: at - l.start, Timer: workload.TimerSkip}, op}}
	}
	every := func(period event.Time, op workload.Op) workload.Phase {
		return workload.Phase{Loop: -1, Ops: []workload.Op{{Kind: workload.OpUnique, NS: period, Timer: workload.TimerSkip}, op}}
	}
	work := func(ns event.Time) workload.Op { return workload.Op{Kind: workload.OpRun, NS: ns} }
	add("burn22", sched.Attr{Policy: sched.FIFO, Priority: 22}, begin(l.burn, workload.Op{Kind: workload.OpRuntime, NS: l.end - l.burn}))
	add("hi25", sched.Attr{Policy: sched.RR, Priority: 25}, begin(l.hi25, work(1*ms)), every(10*ms, work(1*ms)))
	add("lo10", sched.Attr{Policy: sched.FIFO, Priority: 10}, begin(l.lo10, work(200*us)), every(20*ms, work(200*us)))
	if l.hog { // last, for the others have to get a turn to become real-time
		add("cfs", sched.Attr{}, workload.Phase{Loop: -1, Ops: []workload.Op{work(1000 * ms)}})
	}
	for _, c := range l.set {
		if err := p.Change(c); err != nil {
			t.Fatal(err)
		}
	}
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	setup.Start = l.start - zero
	setup.Machine.Sched.RTTimerExpires = l.rtTimer - zero
	src, err := scenario.NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// seen is what explain tells of a run: the windows in which burn22 was kept off the CPU, by
// kind, and the waits of hi25 above 1 ms, longest first; both in µs.
func seen(t *testing.T, src explain.Source, kind string) (windows, waits []event.Time) {
	t.Helper()
	x, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Over: 1 * ms})
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Late {
		w := &x.Late[i]
		ns := int64(0)
		for _, c := range w.Causes {
			if c.Kind == kind {
				ns += c.NS
			}
		}
		switch {
		case w.Comm == "burn22" && ns > 0 && w.Class == "rt":
			windows = append(windows, event.Time(ns)/us)
		case w.Comm == "hi25" && w.WaitKind == "wakeup" && w.Class == "rt":
			if waits = append(waits, event.Time(w.WaitNS)/us); ns == 0 {
				t.Errorf("hi25 waits %d µs: %v", w.WaitNS/1000, kinds(w))
			}
		}
	}
	slices.Sort(windows)
	return windows, waits
}

func kinds(w *result.Late) (list []string) {
	for _, c := range w.Causes {
		list = append(list, c.Kind)
	}
	return list
}

// TestLadderOfRealKernels: RT throttling and the fair server do in the model what they did on
// recorded kernels: the same windows and the same waits, as explain finds them in both.
//
// One window is a whole tick off, that of 960 ms. There 956 ms after the period timer's expiry
// exactly 960 ms have been charged, with the 4 since the tick before; more than that
// throttles. On the recorded machine the clock of run times goes 47 ns/s faster than that of
// timers (the expiries of the period timer, a second apart, are stamped 47 and 54 ns later
// each time), so it was more. The model has one clock, and throttles a tick later.
func TestLadderOfRealKernels(t *testing.T) {
	for i := range ladders {
		l := &ladders[i]
		t.Run(l.name, func(t *testing.T) {
			kind := "rt_throttled"
			if l.kernel == "6.12-rt" {
				kind = "fair_server"
			}
			file, err := trace.Open(shared.Path(t, "traces/"+l.file))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			windows, waits := seen(t, file, kind)
			if !slices.Equal(windows, l.windows) || !slices.Equal(waits, l.waits) {
				t.Errorf("recorded: windows %d, waits %d µs; this test says %d, %d", windows, waits, l.windows, l.waits)
			}
			windows, waits = seen(t, l.source(t), kind)
			t.Logf("windows %d µs, recorded %d; waits of hi25 %d µs, recorded %d", windows, l.windows, waits, l.waits)
			compare(t, "window", windows, l.windows, (l.within+aSwitch)/us)
			compare(t, "wait of hi25", waits, l.waits, (l.within+aSwitch)/us)
		})
	}
}

func compare(t *testing.T, what string, got, want []event.Time, within event.Time) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d %ss, recorded %d", len(got), what, len(want))
		return
	}
	for i := range got {
		if d := got[i] - want[i]; d > within || d < -within {
			t.Errorf("%s %d: %d µs, recorded %d", what, i, got[i], want[i])
		}
	}
}
