package scenario_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/trace"
	"github.com/whylate/whylate/workload"
)

var predict = flag.Bool("predict", false, "write the predictions that are not there yet; those that are stay as they are")

var update = flag.Bool("update", false, "write the table of docs/fidelity.md")

const predicted = "testdata/predicted/"

// prediction is a scenario of testdata/predicted. The model's answer was committed before
// the kernel's was recorded; what is watched was chosen then, too.
type prediction struct {
	name  string
	start event.Time // where the common start of the recording lies in the scenario
	watch string     // the tasks whose waits count
	floor event.Time // from which length on
	// period is what the recording showed of the beginning of the real-time period, and the
	// scenario has a little otherwise: the corrected run has it. "tick": at a tick, to the ns;
	// "start": with the first task of the load, since nothing real-time had run for a period.
	// "server": that of the fair server begins with kcompactd, which runs for 20 µs every
	// 512 ms, the last time 144 ms before the load.
	period string
	known  bool // the prediction itself was made with that period
	fair   bool // the watched task is a fair one
}

var predictions = []prediction{
	{"exit-32", 592 * ms, "victim", 1 * ms, "", false, false},
	{"exit-128", 592 * ms, "victim", 1 * ms, "", false, false},
	{"exit-384", 592 * ms, "victim", 1 * ms, "", false, false},
	{"exit-below-128", 592 * ms, "victim", 1 * ms, "", false, false},
	{"exit-two-64", 592 * ms, "victim", 1 * ms, "", false, false},
	{"exit-kill-128", 592 * ms, "victim", 1 * ms, "", false, false},
	{"exit-prios-128", 592 * ms, "above victim", 1 * ms, "", false, false},
	{"exit-normal-busy-64", 592 * ms, "victim", 1 * ms, "", false, false},
	{"exit-rt-busy-64", 592 * ms, "victim", 1 * ms, "", false, false},
	{"exit-v61-128", 3000 * ms, "victim", 1 * ms, "", false, false},
	{"exit-v61-above-128", 3000 * ms, "above", 1 * ms, "", false, false},
	{"exit-v612rt-128", 3000 * ms, "victim", 1 * ms, "", false, false},
	{"exit-dl-64", 592 * ms, "victim", 500 * us, "", false, false},
	{"exit-core-32", 592 * ms, "victim", 1 * ms, "", false, false},
	{"thr-900", 592 * ms, "hi25 burn22", 1200 * us, "tick", false, false},
	{"thr-930", 592 * ms, "hi25 burn22", 1200 * us, "tick", false, false},
	{"thr-98of100", 592 * ms, "hi25 burn22", 1200 * us, "start", false, false},
	{"thr-95of100", 592 * ms, "hi25 burn22", 1200 * us, "start", false, false},
	{"thr-two", 592 * ms, "hi25 burn22 burst30", 1200 * us, "tick", false, false},
	{"thr-later", 592 * ms, "hi25 burn22", 1200 * us, "tick", false, false},
	{"thr-v61", 3000 * ms, "hi25 burn22", 1200 * us, "", false, false},
	{"thr-below", 592 * ms, "hi25 load93", 1200 * us, "tick", false, false},
	{"pi-hog", 592 * ms, "high", 500 * us, "", false, false},
	{"pi-hog-nopi", 592 * ms, "high", 500 * us, "", false, false},
	{"pi-chain", 592 * ms, "high midlock", 500 * us, "", false, false},
	{"pi-death-64", 592 * ms, "victim high", 500 * us, "", false, false},
	{"fair-two", 3000 * ms, "hi25 burn22", 1200 * us, "", false, false},
	{"fair-100ms", 3000 * ms, "hi25 burn22", 1200 * us, "server", false, false},
	{"fair-late", 3000 * ms, "hi25 burn22", 1200 * us, "", false, false},
	{"fair-gaps", 3000 * ms, "hi25 load90", 1200 * us, "", false, false},
	{"exit-v612-128", 3000 * ms, "victim", 1 * ms, "", false, false},
	{"exit-v612-above-128", 3000 * ms, "above", 1 * ms, "", false, false},
	{"exit-full-above-192", 3000 * ms, "above", 1 * ms, "", false, false},
	{"exit-throttled-384", 592 * ms, "victim", 1 * ms, "tick", true, false},
	{"thr-lowres-930", 592 * ms, "hi25 burn22", 5 * ms, "", false, false},
	{"thr-lowres-v61", 3000 * ms, "hi25 burn22", 5 * ms, "", false, false},
	{"fair-v612", 3000 * ms, "hi25 burn22", 1200 * us, "", false, false},
	{"pi-v612rt", 3000 * ms, "high", 500 * us, "", false, false},
	{"dl-5of20", 3000 * ms, "fifo30 dlo", 500 * us, "", false, false},
	{"ktimers", 592 * ms, "sleeper", 500 * us, "", false, true},
	{"ktimers-v612", 3000 * ms, "sleeper", 500 * us, "", false, true},
	{"ktimers-v61", 3000 * ms, "sleeper", 500 * us, "", false, true},
	{"ata-40of100", 3000 * ms, "hi25 dd", 1200 * us, "", false, false},
	{"ata-75of100", 3000 * ms, "hi25 dd", 1200 * us, "", false, false},
	{"ata-95of100", 3000 * ms, "hi25 dd", 1200 * us, "", false, false},
	{"ata-300of1000", 3000 * ms, "hi25 dd", 1200 * us, "", false, false},
	{"ata-other", 3000 * ms, "hi25 dd", 1200 * us, "", false, false},
	{"ata-fifo20", 3000 * ms, "hi25 dd", 1200 * us, "", false, false},
	{"dl-2of8", 592 * ms, "fifo30 dlo", 500 * us, "", false, false},
}

// figure is something that both a recording and a run of the model show in their events.
type figure struct {
	Task string `json:"task"`
	// What: late, from when a wake was due to the CPU; preempted, from losing the CPU to
	// getting it back; blocked, asleep until another task woke it; told, from the common
	// start until the parent of a dead task has the CPU; done, until dd has read what it was
	// told to.
	What string `json:"what"`
	AtNS int64  `json:"at_ns"` // its beginning, from the common start
	NS   int64  `json:"ns"`

	cause, verdict string // of most of a wait, as explain tells it; no part of a prediction
}

// figuresOf reads the waits of the watched tasks from the common start on, while they are
// what the scenario makes them: rt-app's threads end as fair ones, those of load do not.
func figuresOf(t *testing.T, src explain.Source, start event.Time, p *prediction) []figure {
	t.Helper()
	tasks := strings.Fields(p.watch)
	var patterns []string
	for _, name := range tasks {
		patterns = append(patterns, name, name+"-*")
	}
	out, err := explain.Explain(src, explain.Options{From: start, To: event.NoTime, Over: p.floor, Tasks: patterns})
	if err != nil {
		t.Fatal(err)
	}
	list := []figure{}
	for i := range out.Late {
		w := &out.Late[i]
		if w.OnCPUNS == nil || plain(w.Comm) == "dd" || (w.Class == "fair") != p.fair {
			continue
		}
		f := figure{Task: plain(w.Comm), What: "preempted", AtNS: *w.OnCPUNS - w.LatenessNS + out.Input.StartNS - int64(start), NS: w.LatenessNS}
		f.cause, f.verdict = mainCause(w)
		if w.WaitKind == "wakeup" {
			f.What = "late"
		}
		list = append(list, f)
	}
	if !p.fair { // ktimers wakes fair sleepers: that is in their lateness
		list = append(list, blockedAndTold(t, src, start, tasks, p.floor)...)
	}
	slices.SortFunc(list, func(a, b figure) int { return int(a.AtNS - b.AtNS) })
	return list
}

// mainCause is the kind and the culprit of the longest cause of a wait, without the reasons
// for which a culprit is there.
func mainCause(w *result.Late) (cause, verdict string) {
	longest := int64(-1)
	for i := range w.Causes {
		if c := &w.Causes[i]; c.NS > longest {
			longest, cause, verdict = c.NS, c.Kind+" "+plain(c.Comm), c.Verdict
		}
	}
	return cause, verdict
}

// plain is the name of a task without the index that the model adds.
func plain(comm string) string { return index.ReplaceAllString(comm, "") }

var index = regexp.MustCompile(`-\d+$`)

// blockedAndTold reads what waits do not tell: how long a task slept until another one woke
// it, and when the parent of a dead task got the CPU.
func blockedAndTold(t *testing.T, src explain.Source, start event.Time, watch []string, floor event.Time) []figure {
	t.Helper()
	st, err := src.Events(event.Options{Want: event.Kinds(event.SchedSwitch, event.SchedWaking, event.SchedProcessExit)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	name := src.Names().String
	type sleeper struct {
		since event.Time
		other bool // was woken by a task
	}
	asleep := map[event.PID]sleeper{}
	var dead []string
	var list []figure
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Time < start {
			continue
		}
		switch ev.Kind {
		case event.SchedWaking:
			if s, ok := asleep[ev.Task]; ok {
				asleep[ev.Task] = sleeper{s.since, ev.Flags&event.HardIRQ == 0}
			}
		case event.SchedProcessExit:
			switch comm := plain(name(ev.TaskComm)); comm {
			case "hog", "twin":
				dead = append(dead, comm)
			case "dd":
				list = append(list, figure{Task: comm, What: "done", NS: int64(ev.Time - start)})
			}
		case event.SchedSwitch:
			if comm := name(ev.NextComm); plain(comm) == "load" {
				for _, d := range dead {
					list = append(list, figure{Task: d, What: "told", NS: int64(ev.Time - start)})
				}
				dead = nil
			} else if s := asleep[ev.Next]; s.other && ev.Time-s.since >= floor {
				list = append(list, figure{Task: plain(comm), What: "blocked", AtNS: int64(s.since - start), NS: int64(ev.Time - s.since)})
			}
			delete(asleep, ev.Next)
			if comm := plain(name(ev.TaskComm)); comm != "dd" && slices.Contains(watch, comm) && !ev.State.Runnable() && !ev.State.Dead() {
				asleep[ev.Task] = sleeper{since: ev.Time}
			}
		}
	}
}

// modelled runs the scenario of p. The threads of the program meet some µs after its
// start; the run begins so that they do at a tick, as the recorded load does. The corrected
// one begins so that the real-time period does.
func modelled(t *testing.T, p *prediction, corrected bool) []figure {
	t.Helper()
	plan, err := scenario.Open(predicted+p.name+".json", scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if corrected && p.period == "start" {
		i := slices.IndexFunc(plan.Load.Tasks, func(k workload.Task) bool { return k.Name == "rcuc" })
		plan.Load.Tasks[i].Instances = 0
	}
	if corrected && p.period == "server" {
		const every = 512 * ms
		first := workload.Op{Kind: workload.OpUnique, NS: (p.start - 144*ms) % every}
		plan.Load.Tasks = append(plan.Load.Tasks, workload.Task{Name: "kcompactd", Instances: 1, Loop: 1, Timers: 1, Attr: &sched.Attr{}, Phases: []workload.Phase{
			{Loop: 1, Ops: []workload.Op{first, {Kind: workload.OpRun, NS: 20 * us}}},
			{Loop: 15, Ops: []workload.Op{{Kind: workload.OpUnique, NS: every}, {Kind: workload.OpRun, NS: 20 * us}}}}})
	}
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	const tick = 4 * ms
	meet, period := meeting(t, src)
	begin := meet
	if corrected && p.period == "tick" {
		begin = period
	}
	setup.Start = tick - begin
	if src, err = scenario.NewSource(setup); err != nil {
		t.Fatal(err)
	}
	return figuresOf(t, src, tick-begin+meet+p.start, p)
}

// meeting is when the threads of a run that starts at 0 meet: the timers of all are
// multiples of 1 ms after that, those of fair tasks 50 µs more. period is when the real-time
// period begins.
func meeting(t *testing.T, src explain.Source) (meet, period event.Time) {
	t.Helper()
	st, err := src.Events(event.Options{Want: event.Kinds(event.HrtimerStart)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	meet, period = event.NoTime, event.NoTime
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) || err == nil && ev.Time > 10*ms {
			return meet, period
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := event.Time(ev.Arg3); src.Names().String(ev.Func) {
		case "hrtimer_wakeup":
			if meet == event.NoTime || x%ms < meet {
				meet = x % ms
			}
		case "sched_rt_period_timer":
			if period == event.NoTime {
				period = x
			}
		}
	}
}

// TestPredict writes the model's answers, before there is a recording to compare with.
func TestPredict(t *testing.T) {
	if !*predict {
		t.Skip("only with -predict")
	}
	for i := range predictions {
		p := &predictions[i]
		file := predicted + p.name + ".prediction.json"
		if _, err := os.Stat(file); err == nil {
			continue
		}
		if recordingOf(p) != "" {
			t.Errorf("%s is recorded: too late to predict it", p.name)
			continue
		}
		if err := os.WriteFile(file, lines(t, modelled(t, p, p.known)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lines is JSON with a figure a line.
func lines(t *testing.T, list []figure) []byte {
	t.Helper()
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

// recordedStartOf is the common start that the load printed, on the clock of the trace.
func recordedStartOf(t *testing.T, name string) event.Time {
	t.Helper()
	text, err := os.ReadFile(predicted + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^T0 (\d+)\.(\d{9})$`).FindStringSubmatch(string(text))
	if m == nil {
		t.Fatalf("%s.txt does not say when the load began", name)
	}
	ns, _ := strconv.ParseInt(m[1]+m[2], 10, 64)
	return event.Time(ns)
}

// recordingOf is the file of a recording, "" where there is none. Large ones are compressed.
func recordingOf(p *prediction) string {
	for _, ext := range []string{".dat", ".dat.xz"} {
		if _, err := os.Stat(predicted + p.name + ext); err == nil {
			return predicted + p.name + ext
		}
	}
	return ""
}

// recordedFigures reads what the kernel did; nil where nothing is recorded.
func recordedFigures(t *testing.T, p *prediction) []figure {
	t.Helper()
	file := recordingOf(p)
	if file == "" {
		return nil
	}
	src, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	return figuresOf(t, src, recordedStartOf(t, p.name), p)
}

// committed is what was predicted.
func committed(t *testing.T, p *prediction) []figure {
	t.Helper()
	text, err := os.ReadFile(predicted + p.name + ".prediction.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []figure
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestPredictionsAreAll: no scenario lies there without being predicted.
func TestPredictionsAreAll(t *testing.T) {
	files, err := filepath.Glob(predicted + "*.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".sh")
		if !slices.ContainsFunc(predictions, func(p prediction) bool { return p.name == name }) {
			t.Errorf("%s is not in the list", name)
		}
	}
}
