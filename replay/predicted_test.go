package replay_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/trace"
)

var predict = flag.String("predict", "", "write the predictions whose names match this pattern; those that are there stay as they are")

const (
	us = event.Time(1_000)
	ms = event.Time(1_000_000)
)

// The rooms of recordings.
const (
	pairsRoom  = "testdata/pairs/"
	oldRoom    = "../scenario/testdata/predicted/"
	sharedRoom = "traces/"
)

// pair is two recordings of the same load with one thing changed between them.
type pair struct {
	room, from, to string
	kind           string   // the mechanism, for the summary
	change         []string // from the one to the other
	back           []string // from the other to the one; nil: nothing says that
	whyNot         string   // why nothing does
	watch          string   // whose waits count
	// near is how far a wait may begin from a predicted one to be the same: less than the
	// distance of two wakes. Where throttling moves, it is the distance of two windows.
	near event.Time
}

var pairs = []pair{
	{pairsRoom, "prio", "prio-up", "priority", []string{"task=victim policy=fifo prio=40"}, []string{"task=victim policy=fifo prio=20"}, "", "hog mid victim", 5 * ms},
	{pairsRoom, "prio", "prio-down", "priority", []string{"task=hog policy=fifo prio=10"}, []string{"task=hog policy=fifo prio=30"}, "", "hog mid victim", 5 * ms},
	{pairsRoom, "prio", "prio-other", "policy", []string{"task=hog policy=other"}, []string{"task=hog policy=fifo prio=30"}, "", "mid victim", 5 * ms},
	{pairsRoom, "prio", "prio-gone", "removal", []string{"remove task=hog"}, nil, "nothing tells what the removed task did", "mid victim", 5 * ms},
	{pairsRoom, "prio", "prio-half", "work", []string{"task=hog work=×0.5"}, []string{"task=hog work=×2"}, "", "hog mid victim", 5 * ms},
	{pairsRoom, "aff", "aff-move", "affinity", []string{"task=hog cpus=1"}, []string{"task=hog cpus=2"}, "", "hog a b", 5 * ms},
	{pairsRoom, "aff", "aff-free", "affinity", []string{"task=a cpus=0-3"}, []string{"task=a cpus=2"}, "", "hog a b", 5 * ms},
	{pairsRoom, "irq", "irq-other", "interrupt thread", []string{"irq=14-ata_piix policy=other"}, []string{"irq=14-ata_piix policy=fifo prio=50"}, "", "hi25", 50 * ms},
	{pairsRoom, "irq", "irq-below", "interrupt thread", []string{"irq=14-ata_piix policy=fifo prio=10"}, []string{"irq=14-ata_piix policy=fifo prio=50"}, "", "hi25", 50 * ms},
	{pairsRoom, "fair", "fair-80", "fair server", []string{"set fair_server_runtime_ns=80000000"}, []string{"set fair_server_runtime_ns=50000000"}, "", "hi25 burn22", 300 * ms},
	{pairsRoom, "fair", "fair-150", "fair server", []string{"set fair_server_runtime_ns=150000000"}, []string{"set fair_server_runtime_ns=50000000"}, "", "hi25 burn22", 300 * ms},
	{pairsRoom, "thr", "thr-900", "throttling", []string{"set sched_rt_runtime_us=900000"}, []string{"set sched_rt_runtime_us=950000"}, "", "hi25 burn22", 300 * ms},
	{pairsRoom, "thr", "thr-980", "throttling", []string{"set sched_rt_runtime_us=980000"}, []string{"set sched_rt_runtime_us=950000"}, "", "hi25 burn22", 300 * ms},
	{pairsRoom, "thr", "thr-90of100", "throttling", []string{"set sched_rt_runtime_us=90000", "set sched_rt_period_us=100000"}, []string{"set sched_rt_period_us=1000000", "set sched_rt_runtime_us=950000"}, "", "hi25 burn22", 50 * ms},
	{pairsRoom, "thr2", "thr2-900", "throttling", []string{"set sched_rt_runtime_us=900000"}, []string{"set sched_rt_runtime_us=950000"}, "", "hi30 spin20", 300 * ms},
	{pairsRoom, "thr2", "thr2-970", "throttling", []string{"set sched_rt_runtime_us=970000"}, []string{"set sched_rt_runtime_us=950000"}, "", "hi30 spin20", 300 * ms},
	{pairsRoom, "thr2", "thr2-80of100", "throttling", []string{"set sched_rt_runtime_us=80000", "set sched_rt_period_us=100000"}, []string{"set sched_rt_period_us=1000000", "set sched_rt_runtime_us=950000"}, "", "hi30 spin20", 50 * ms},
	{pairsRoom, "thr2", "thr2-off", "throttling", []string{"set sched_rt_runtime_us=-1"}, []string{"set sched_rt_runtime_us=950000"}, "", "hi30 spin20", 300 * ms},
	{pairsRoom, "thr61", "thr61-850", "throttling", []string{"set sched_rt_runtime_us=850000"}, []string{"set sched_rt_runtime_us=950000"}, "", "hi30 spin20", 300 * ms},
	{pairsRoom, "thr61", "thr61-below", "priority", []string{"task=hi30 policy=fifo prio=10"}, []string{"task=hi30 policy=rr prio=30"}, "", "hi30 spin20", 300 * ms},
	{pairsRoom, "pi", "pi-off", "priority inheritance", []string{"mutex=* pi=off"}, []string{"mutex=holder pi=on"}, "", "high holder mid", 20 * ms},
	{pairsRoom, "nopi", "nopi-on", "priority inheritance", []string{"mutex=holder pi=on"}, []string{"mutex=* pi=off"}, "", "high holder mid", 20 * ms},
	{pairsRoom, "dl", "dl-4500", "deadline", []string{"task=dlo runtime=4500"}, []string{"task=dlo runtime=3000"}, "", "dlo fifo30", 5 * ms},
	{pairsRoom, "dl", "dl-fifo", "deadline", []string{"task=dlo policy=fifo prio=20"}, []string{"task=dlo policy=deadline runtime=3000 deadline=10000 period=10000"}, "", "dlo fifo30", 5 * ms},
	{pairsRoom, "exit", "exit-quarter", "exit", []string{"exit_teardown ×0.25"}, []string{"exit_teardown ×4"}, "", "victim", 5 * ms},
	{pairsRoom, "exit", "exit-above", "exit", []string{"task=victim policy=fifo prio=12"}, []string{"task=victim policy=fifo prio=10"}, "", "victim", 5 * ms},
	{pairsRoom, "exit", "exit-normal", "exit", []string{"set exit_normalize=rt"}, nil, "no change undoes what the program itself did", "victim", 5 * ms},

	{sharedRoom + "rt-throttle-v61rt-smp1/", "throttle950000", "throttle960000-hog", "throttling", []string{"set sched_rt_runtime_us=960000"}, []string{"set sched_rt_runtime_us=950000"}, "", "burn22 hi25 lo10", 1000 * ms},
	{sharedRoom + "rt-throttle-v61rt-smp1/", "throttle950000", "throttle-off", "throttling", []string{"set sched_rt_runtime_us=-1"}, []string{"set sched_rt_runtime_us=950000"}, "", "burn22 hi25 lo10", 1000 * ms},
	{sharedRoom + "rt-throttle-v61rt-smp1/", "throttle960000-hog", "throttle-off", "throttling", []string{"set sched_rt_runtime_us=-1"}, []string{"set sched_rt_runtime_us=960000"}, "", "burn22 hi25 lo10", 1000 * ms},
	{sharedRoom + "exit-storm-v61rt-smp1/", "exit-256", "exit-64", "exit", []string{"exit_teardown ×0.25"}, []string{"exit_teardown ×4"}, "", "cyclictest", 500 * ms},
	{sharedRoom + "exit-storm-v61rt-smp1/", "exit-256", "exit-0", "exit", []string{"exit_teardown ×0"}, nil, "nothing is any number of times", "cyclictest", 500 * ms},
	{sharedRoom + "exit-storm-v61rt-smp1/", "exitfn-256", "exit-64", "exit", []string{"exit_teardown ×0.25"}, []string{"exit_teardown ×4"}, "", "cyclictest", 500 * ms},
	{oldRoom, "thr-900", "thr-930", "throttling", []string{"set sched_rt_runtime_us=930000"}, []string{"set sched_rt_runtime_us=900000"}, "", "burn22 hi25 lo10", 1000 * ms},
	{oldRoom, "thr-95of100", "thr-98of100", "throttling", []string{"set sched_rt_runtime_us=98000"}, []string{"set sched_rt_runtime_us=95000"}, "", "hi25 burn22", 50 * ms},
	{oldRoom, "pi-hog", "pi-hog-nopi", "priority inheritance", []string{"mutex=* pi=off"}, []string{"mutex=holder pi=on"}, "", "high holder mid", 20 * ms},
	{oldRoom, "exit-32", "exit-128", "exit", []string{"exit_teardown ×4"}, []string{"exit_teardown ×0.25"}, "", "victim", 5 * ms},
	{oldRoom, "exit-128", "exit-384", "exit", []string{"exit_teardown ×3"}, []string{"exit_teardown ×0.333333"}, "", "victim", 5 * ms},
	{oldRoom, "ata-fifo20", "ata-other", "interrupt thread", []string{"irq=14-ata_piix policy=other"}, []string{"irq=14-ata_piix policy=fifo prio=20"}, "", "hi25", 50 * ms},
}

// file is the recording called name, "" where there is none.
func (p *pair) file(t *testing.T, name string) string {
	t.Helper()
	if strings.HasPrefix(p.room, sharedRoom) {
		return shared.Path(t, p.room+name+".dat")
	}
	for _, ext := range []string{".dat", ".dat.xz"} {
		if _, err := os.Stat(p.room + name + ext); err == nil {
			return p.room + name + ext
		}
	}
	return ""
}

// start is when the load of a recording began, as it printed itself; else when the first of the
// watched tasks was ready first.
func (p *pair) start(t *testing.T, name string, l *replay.Load) event.Time {
	t.Helper()
	text, err := os.ReadFile(p.room + name + ".txt")
	if err != nil {
		first, _, _ := strings.Cut(p.watch, " ")
		begin := l.To
		for i := range l.Recorded {
			if w := &l.Recorded[i]; l.Names.String(l.Tasks[w.Key.Task].Comm) == first {
				begin = min(begin, w.Woken)
			}
		}
		return begin
	}
	m := regexp.MustCompile(`(?m)^T0 (\d+)\.(\d{9})$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s.txt does not say when the load began", name)
	}
	ns, _ := strconv.ParseInt(string(m[1])+string(m[2]), 10, 64)
	return event.Time(ns)
}

// read makes a load of a recording.
func (p *pair) read(t *testing.T, name string) *replay.Load {
	t.Helper()
	src, err := trace.Open(p.file(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	l, err := replay.Read(src, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// figure is a wait, of a recording or of a run.
type figure struct {
	Task string `json:"task"`
	What string `json:"what"`  // the kind of wait
	AtNS int64  `json:"at_ns"` // its beginning, from that of the load
	NS   int64  `json:"ns"`    // from when the wake was due, where that is known
}

// The floors in ns: a wait counts if it is longer on one side, and from where on predictions
// name them, so that 1.05 ms and 0.98 are a pair.
const (
	counts = 1 * ms
	named  = 800 * us
)

// figures are the waits of the watched real-time and deadline tasks from the floor on that
// began with the load or after it.
func (p *pair) figures(l *replay.Load, waits []replay.Wait, start event.Time) []figure {
	watch := strings.Fields(p.watch)
	list := []figure{}
	for i := range waits {
		w := &waits[i]
		comm := l.Names.String(l.Tasks[w.Key.Task].Comm)
		if w.Class != "rt" && w.Class != "dl" || w.Lateness() < named || w.OnCPU == event.NoTime || !slices.Contains(watch, comm) {
			continue
		}
		begin := w.End - w.Lateness()
		if begin < start {
			continue
		}
		list = append(list, figure{comm, w.Key.Kind.String(), int64(begin - start), int64(w.Lateness())})
	}
	return list
}

// predicted runs the load of one recording with changes.
func (p *pair) predicted(t *testing.T, name string, changes []string) []figure {
	t.Helper()
	l := p.read(t, name)
	start := p.start(t, name, l)
	c := l.Clone()
	for _, text := range changes {
		if err := c.Change(text); err != nil {
			t.Logf("%s: %v", name, err)
			return nil
		}
	}
	s := p.newSleeps(c.Names, start)
	r, err := c.Run(replay.RunOptions{Sink: s.push})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	list := p.figures(c, r.Waits, start)
	if p.locks() {
		list = append(list, s.list...)
	}
	return sorted(list)
}

// recorded reads what the kernel did; ok is false where nothing is recorded.
func (p *pair) recorded(t *testing.T, name string) (list []figure, ok bool) {
	t.Helper()
	if p.file(t, name) == "" {
		return nil, false
	}
	l := p.read(t, name)
	start := p.start(t, name, l)
	list = p.figures(l, l.Recorded, start)
	if p.locks() {
		list = append(list, p.blocked(t, name, start)...)
	}
	return sorted(list), true
}

// locks reports whether it counts how long tasks slept until another one woke them.
func (p *pair) locks() bool { return p.kind == "priority inheritance" }

// sorted puts figures in the order of tasks, kinds and times.
func sorted(list []figure) []figure {
	slices.SortFunc(list, func(a, b figure) int {
		if c := strings.Compare(a.Task+" "+a.What, b.Task+" "+b.What); c != 0 {
			return c
		}
		return cmp.Compare(a.AtNS, b.AtNS)
	})
	return list
}

// TestPredict writes what the replay says of recordings that are not there yet.
func TestPredict(t *testing.T) {
	if *predict == "" {
		t.Skip("only with -predict")
	}
	for i := range pairs {
		p := &pairs[i]
		if wanted, err := path.Match(*predict, p.to); err != nil || !wanted || p.room != pairsRoom {
			continue
		}
		file := p.room + p.to + ".prediction.json"
		if _, err := os.Stat(file); err == nil {
			continue
		}
		if p.file(t, p.to) != "" {
			t.Errorf("%s is recorded: too late to predict it", p.to)
			continue
		}
		if err := os.WriteFile(file, lines(t, p.predicted(t, p.from, p.change)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lines is JSON with a figure a line; null: the change was refused.
func lines(t *testing.T, list []figure) []byte {
	t.Helper()
	if list == nil {
		return []byte("null\n")
	}
	var b bytes.Buffer
	b.WriteString("[")
	for i := range list {
		text, err := json.Marshal(&list[i])
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n")
		b.Write(text)
	}
	b.WriteString("\n]\n")
	return b.Bytes()
}

// TestPairsAreAll: nothing lies there without being predicted, and each script says its change.
func TestPairsAreAll(t *testing.T) {
	files, err := filepath.Glob(pairsRoom + "*.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".sh")
		i := slices.IndexFunc(pairs, func(p pair) bool { return p.room == pairsRoom && (p.from == name || p.to == name) })
		if i < 0 {
			t.Errorf("%s is not in the list", name)
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if says := ": " + pairs[i].from + " with " + strings.Join(pairs[i].change, " and ") + "\n"; pairs[i].to == name && !strings.Contains(string(text), says) {
			t.Errorf("%s.sh does not say%s", name, says)
		}
	}
}
