package rtapp

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/whylate/whylate/event"
)

// ignorePos leaves out where things stand.
var ignorePos = cmpopts.IgnoreTypes(Pos{})

// parsed reads src, which must have no errors, and returns the warnings as text.
func parsed(t *testing.T, src string, o Options) (*File, string) {
	t.Helper()
	f, warnings, err := Parse("f.json", []byte(src), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	var list []string
	for _, w := range warnings {
		list = append(list, w.String())
	}
	return f, strings.Join(list, "\n")
}

// taskOf reads a file with one task "a" that holds body, and returns it.
func taskOf(t *testing.T, body string) *Task {
	t.Helper()
	f, _ := parsed(t, `{"tasks":{"a":{`+body+`}}}`, Options{})
	return &f.Tasks[0]
}

func TestGlobalDefaults(t *testing.T) {
	want := Global{Duration: event.NoTime, DefaultPolicy: Other, LockPages: true, LogDir: "./", LogBasename: "rt-app",
		LogSize: "disable", IODevice: "/dev/null", MemBufferSize: 4 << 20}
	f, warnings := parsed(t, `{"tasks":{"a":{"run":1}}}`, Options{})
	if d := cmp.Diff(want, f.Global); d != "" || warnings != "" {
		t.Errorf("without the object: %s%s", d, warnings)
	}
	f, _ = parsed(t, `{"global":null,"tasks":{"a":{"run":1}}}`, Options{})
	if d := cmp.Diff(want, f.Global); d != "" {
		t.Errorf("with null: %s", d)
	}
	want.Present, want.LogSize = true, "file"
	f, _ = parsed(t, `{"global":{},"tasks":{"a":{"run":1}}}`, Options{})
	if d := cmp.Diff(want, f.Global); d != "" {
		t.Errorf("with an empty object: %s", d)
	}
}

func TestGlobalValues(t *testing.T) {
	base := func(change func(*Global)) Global {
		g := Global{Present: true, Duration: event.NoTime, DefaultPolicy: Other, LockPages: true, LogDir: "./",
			LogBasename: "rt-app", LogSize: "file", IODevice: "/dev/null", MemBufferSize: 4 << 20}
		change(&g)
		return g
	}
	for _, c := range []struct {
		text string
		want func(*Global)
	}{
		{`"duration":7`, func(g *Global) { g.Duration = 7e9 }},
		{`"duration":-1`, func(*Global) {}},
		{`"duration":0`, func(*Global) {}},
		{`"duration":9999999999`, func(g *Global) { g.Duration = math.MaxInt32 * 1e9 }},
		{`"calibration":250`, func(g *Global) { g.NsPerLoop = 250 }},
		{`"calibration":"CPU3"`, func(g *Global) { g.CalibrationCPU = 3 }},
		{`"calibration":"CPU2x"`, func(g *Global) { g.CalibrationCPU = 2 }},
		{`"calibration":"CPU"`, func(*Global) {}},
		{`"default_policy":"SCHED_FIFO"`, func(g *Global) { g.DefaultPolicy = FIFO }},
		{`"pi_enabled":TRUE,"lock_pages":False,"gnuplot":true,"cumulative_slack":true`, func(g *Global) {
			g.PIEnabled, g.LockPages, g.Gnuplot, g.CumulativeSlack = true, false, true, true
		}},
		{`"logdir":"/tmp","log_basename":"x","io_device":"/dev/zero"`, func(g *Global) { g.LogDir, g.LogBasename, g.IODevice = "/tmp", "x", "/dev/zero" }},
		{`"log_size":"disable"`, func(g *Global) { g.LogSize = "disable" }},
		{`"log_size":"auto"`, func(g *Global) { g.LogSize = "auto" }},
		{`"log_size":"Auto"`, func(*Global) {}},
		{`"log_size":10`, func(g *Global) { g.LogSize = "10" }},
		{`"ftrace":true`, func(g *Global) { g.Ftrace = []string{"main", "task", "loop", "event", "stats"} }},
		{`"ftrace":false`, func(*Global) {}},
		{`"ftrace":"Main,TASK,,stats"`, func(g *Global) { g.Ftrace = []string{"main", "task", "stats"} }},
		{`"ftrace":"main,none"`, func(*Global) {}},
		{`"ftrace":"none,loop"`, func(g *Global) { g.Ftrace = []string{"loop"} }},
		{`"ftrace":""`, func(*Global) {}},
		{`"mem_buffer_size":512`, func(g *Global) { g.MemBufferSize = 512 }},
	} {
		f, _ := parsed(t, `{"global":{`+c.text+`},"tasks":{"a":{"run":1}}}`, Options{})
		if d := cmp.Diff(base(c.want), f.Global, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
	}
}

func TestLoopsMeanWhatRtappMakesOfThem(t *testing.T) {
	for _, c := range []struct {
		name, body  string
		task, phase int64
	}{
		{"events in the task, no loop: for ever", `"run":1`, Forever, 1},
		{"events in the task, a loop: the phase repeats, the task runs once", `"loop":5,"run":1`, 1, 5},
		{"events in the task, loop 0: for ever", `"loop":0,"run":1`, 1, Forever},
		{"events in the task, loop -3: for ever", `"loop":-3,"run":1`, 1, Forever},
		{"events in the task, loop null", `"loop":null,"run":1`, Forever, 1},
		{"phases, no loop: for ever", `"phases":{"p":{"run":1}}`, Forever, 1},
		{"phases, a loop", `"loop":2,"phases":{"p":{"run":1}}`, 2, 1},
		{"phases, loop 0: never", `"loop":0,"phases":{"p":{"run":1}}`, 0, 1},
		{"phases, loop -2: for ever", `"loop":-2,"phases":{"p":{"run":1}}`, Forever, 1},
		{"loop of a phase", `"loop":1,"phases":{"p":{"loop":4,"run":1}}`, 1, 4},
		{"loop 0 of a phase: for ever", `"loop":1,"phases":{"p":{"loop":0,"run":1}}`, 1, Forever},
		{"loop -7 of a phase: for ever", `"loop":1,"phases":{"p":{"loop":-7,"run":1}}`, 1, Forever},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := taskOf(t, c.body)
			if a.Loop != c.task || a.Phases[0].Loop != c.phase {
				t.Errorf("task %d, phase %d, want %d, %d", a.Loop, a.Phases[0].Loop, c.task, c.phase)
			}
			if direct := !strings.Contains(c.body, "phases"); a.Direct != direct {
				t.Errorf("Direct is %v", a.Direct)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		text string
		want Event
	}{
		{`"run":100`, Event{Kind: Run, Duration: 100_000}},
		{`"run0":0`, Event{Kind: Run}},
		{`"runA":9999999999`, Event{Kind: Run, Duration: math.MaxInt32 * 1000}},
		{`"runtime":7`, Event{Kind: Runtime, Duration: 7000}},
		{`"runtime_b":7`, Event{Kind: Runtime, Duration: 7000}},
		{`"sleep":5`, Event{Kind: Sleep, Duration: 5000}},
		{`"sleep_a":-0`, Event{Kind: Sleep}},
		{`"timer":{"ref":"t","period":20}`, Event{Kind: Timer, Ref: "t", Duration: 20_000}},
		{`"timer0":{"ref":"uniqueB","period":20,"mode":"absolute"}`, Event{Kind: Timer, Ref: "uniqueB", Unique: true, Absolute: true, Duration: 20_000}},
		{`"timer":{"ref":"t","mode":"relative"}`, Event{Kind: Timer, Ref: "t"}},
		{`"timer":{"ref":"t","mode":"absolutely"}`, Event{Kind: Timer, Ref: "t", Absolute: true}},
		{`"timer":{"ref":"t","mode":"Absolute"}`, Event{Kind: Timer, Ref: "t"}},
		{`"timer":{}`, Event{Kind: Timer, Ref: "unknown"}},
		{`"timer":5`, Event{Kind: Timer, Ref: "unknown"}},
		{`"timer":null`, Event{Kind: Timer, Ref: "unknown"}},
		{`"lock":"m"`, Event{Kind: Lock, Ref: "m"}},
		{`"unlock2":"m"`, Event{Kind: Unlock, Ref: "m"}},
		{`"wait":{"ref":"c","mutex":"m"}`, Event{Kind: Wait, Ref: "c", Mutex: "m"}},
		{`"wait":{"ref":"c"}`, Event{Kind: Wait, Ref: "c", Mutex: "unknown"}},
		{`"wait":"c"`, Event{Kind: Wait, Ref: "unknown", Mutex: "unknown"}},
		{`"signal":"c"`, Event{Kind: Signal, Ref: "c"}},
		{`"broad":"c"`, Event{Kind: Broad, Ref: "c"}},
		{`"broadcast":"c"`, Event{Kind: Broad, Ref: "c"}},
		{`"sync":{"ref":"c","mutex":"m"}`, Event{Kind: Sync, Ref: "c", Mutex: "m"}},
		{`"barrier":"b"`, Event{Kind: Barrier, Ref: "b"}},
		{`"suspend":""`, Event{Kind: Suspend, Ref: "a", Mutex: "a"}},
		{`"suspend":"other"`, Event{Kind: Suspend, Ref: "a", Mutex: "a"}},
		{`"suspend":[1]`, Event{Kind: Suspend, Ref: "a", Mutex: "a"}},
		{`"resume":"a"`, Event{Kind: Resume, Ref: "a", Mutex: "a"}},
		{`"resume":"nobody"`, Event{Kind: Resume, Ref: "nobody", Mutex: "nobody"}},
		{`"sem_post":"s"`, Event{Kind: SemPost, Ref: "s"}},
		{`"sem_wait1":"s"`, Event{Kind: SemWait, Ref: "s"}},
		{`"yield":""`, Event{Kind: Yield}},
		{`"yield":null`, Event{Kind: Yield}},
		{`"fork":"a"`, Event{Kind: Fork, Ref: "a"}},
		{`"mem":64`, Event{Kind: Mem, Bytes: 64}},
		{`"memory":64`, Event{Kind: Mem, Bytes: 64}},
		{`"iorun":64`, Event{Kind: IORun, Bytes: 64}},
		{`"memrun":{"type":"read","size":64,"count":3}`, Event{Kind: MemRun, Memory: &Memory{Op: "read", Size: 64, Count: 3, Stride: 64}}},
		{`"memrun_x":{"type":"write","size":64,"count":0,"ref":"r","stride":-1}`,
			Event{Kind: MemRun, Ref: "r", Memory: &Memory{Op: "write", Size: 64, Stride: 64, Shared: true}}},
		{`"memrun":{"type":"chase","size":4096,"count":3,"stride":128,"pattern":"sequential"}`,
			Event{Kind: MemRun, Memory: &Memory{Op: "chase", Size: 4096, Count: 3, Stride: 128, Sequential: true}}},
		{`"memrun":{"type":"chase","size":4096,"count":3,"pattern":"Sequential"}`,
			Event{Kind: MemRun, Memory: &Memory{Op: "chase", Size: 4096, Count: 3, Stride: 64}}},
	} {
		a := taskOf(t, `"phases":{"p":{`+c.text+`}}`)
		c.want.Key, _, _ = strings.Cut(c.text[1:], `"`)
		if d := cmp.Diff([]Event{c.want}, a.Phases[0].Events, ignorePos); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
	}
}

func TestEveryKindHasAWordAndAnOrder(t *testing.T) {
	seen := make(map[Kind]bool)
	for i, e := range eventWords {
		seen[e.kind] = true
		if e.kind.String() != e.word {
			t.Errorf("%s prints %s", e.word, e.kind)
		}
		// The first word that a key begins with wins, so none may hide a later one.
		if got := eventOf(e.word + "0"); got != i {
			t.Errorf("%s0 is read as %s", e.word, eventWords[got].word)
		}
	}
	if len(seen) != int(numKinds) || numKinds.String() != "unknown" {
		t.Errorf("%d words for %d kinds", len(seen), numKinds)
	}
	for _, key := range []string{"Run", "semX", "slee", "", "notify", "nolock"} {
		if got := eventOf(key); got >= 0 {
			t.Errorf("%q is read as %s", key, eventWords[got].word)
		}
	}
}

func TestEventsKeepTheOrderOfTheFile(t *testing.T) {
	const body = `"lock":"m","run":1,"unlock":"m","sleep":2,"run1":3,"x":4,"lock1":"m"`
	a := taskOf(t, body)
	var keys []string
	for _, e := range a.Phases[0].Events {
		keys = append(keys, e.Key)
	}
	if got := strings.Join(keys, " "); got != "lock run unlock sleep run1 lock1" {
		t.Error(got)
	}
	if e := a.Phases[0].Events[1]; e.Pos != (Pos{1, 27}) {
		t.Errorf("run stands at %v", e.Pos)
	}
}

// list prints the events of all tasks.
func list(f *File) string {
	var all []string
	f.each(func(t *Task, _ *Phase, e *Event) {
		all = append(all, fmt.Sprintf("%s:%s=%d", t.Name, e.Key, e.Duration))
	})
	return strings.Join(all, " ")
}

func TestDuplicateKeys(t *testing.T) {
	const src = `{"tasks":{"a":{"run":1,"sleep":2,"run":3},"b":{"run":4},"a":{"run":5,"sleep":6,"run":7}}}`
	f, warnings := parsed(t, src, Options{})
	if got := list(f); got != "a:run=7000 a:sleep=6000 b:run=4000" {
		t.Errorf("as rt-app: %s", got)
	}
	if strings.Count(warnings, "duplicate key") != 3 {
		t.Errorf("warnings: %s", warnings)
	}
	f, warnings = parsed(t, src, Options{Workgen: true})
	if got := list(f); got != "a:run=1000 a:sleep=2000 a:run1=3000 b:run=4000 a1:run=5000 a1:sleep=6000 a1:run1=7000" {
		t.Errorf("as workgen: %s", got)
	}
	if strings.Contains(warnings, "duplicate") {
		t.Errorf("warnings: %s", warnings)
	}
}
