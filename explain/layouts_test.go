package explain_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/trace"
)

// answer is what a layout file says of its own trace. The parse values of these files are
// checked where they are parsed.
type answer struct {
	Answer struct {
		LateTask   string   `json:"late_task"`
		PID        int32    `json:"pid"`
		KPrio      *int32   `json:"kprio"`
		Policy     string   `json:"policy"`
		RTPriority int32    `json:"rt_priority"`
		WokenTS    *float64 `json:"woken_ts"`
		WakeupTS   *float64 `json:"wakeup_ts"`
		OnCPUTS    *float64 `json:"on_cpu_ts"`
		FromWaking *float64 `json:"latency_us_from_waking"`
		FromWakeup *float64 `json:"latency_us_from_wakeup"`
		Latency    *float64 `json:"latency_us"`
		Blocker    *who     `json:"blocker"`
		Cause      string   `json:"cause_class"`
		Consumer   string   `json:"consumer"`
		Not        []string `json:"not_this"`
	} `json:"answer"`
	Latencies map[string]float64 `json:"latencies_us"`
}

type who struct {
	Comm       string `json:"comm"`
	PID        int32  `json:"pid"`
	KPrio      *int32 `json:"kprio"`
	Policy     string `json:"policy"`
	RTPriority int32  `json:"rt_priority"`
}

// kindOf translates the words of the layout files.
var kindOf = map[string]string{"higher-priority hog": "higher_prio", "RT throttling": "rt_throttled", "preempt-off": "preempt_off"}

// TestLayoutAnswers holds the analysis to the right answers of the made-up text traces.
func TestLayoutAnswers(t *testing.T) {
	for _, name := range []string{"L01_ftrace_4flags", "L02_ftrace_5flags", "L03_ftrace_7flags_rt", "L04_ftrace_tgid",
		"L05_wakeup_rt_latency_5col", "L09_tracecmd_report_plugin", "L11_perf_script_mixed", "L25_rt_throttling_story"} {
		t.Run(name, func(t *testing.T) {
			path := shared.Path(t, "layouts/"+name+".txt")
			r := explainFile(t, path)
			var a answer
			b, err := os.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b, &a); err != nil {
				t.Fatal(err)
			}
			checked := 0
			for key, want := range a.Latencies {
				pid, _ := strconv.Atoi(strings.Fields(key)[0])
				if findPID(r, int32(pid), us(want)) == nil {
					t.Errorf("no wait of pid %d with %v µs", pid, want)
				}
				checked++
			}
			if a.Answer.LateTask != "" {
				checkAnswer(t, r, &a)
				checked++
			}
			if checked == 0 {
				t.Fatal("the file holds no answer")
			}
		})
	}
}

func explainFile(t *testing.T, path string) *result.Explain {
	t.Helper()
	src, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Over: 1, Evidence: true})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	return r
}

func findPID(r *result.Explain, pid int32, ns int64) *result.Late {
	for i := range r.Late {
		if r.Late[i].PID == pid && near(r.Late[i].WaitNS, ns) {
			return &r.Late[i]
		}
	}
	return nil
}

// at is a stamp of a layout file on the trace's own clock; ns.
func at(seconds float64) int64 { return int64(math.Round(seconds*1e6)) * 1e3 }

func checkAnswer(t *testing.T, r *result.Explain, a *answer) {
	t.Helper()
	w := &a.Answer
	latency := w.Latency
	if latency == nil {
		latency = w.FromWaking
	}
	l := findPID(r, w.PID, us(*latency))
	if l == nil {
		t.Fatalf("no wait of pid %d with %v µs", w.PID, *latency)
	}
	if l.Comm != w.LateTask || l.Class != "rt" || int32(l.Prio) != 99-w.RTPriority {
		t.Errorf("late is %s, %s, prio %d", l.Comm, l.Class, l.Prio)
	}
	if w.KPrio != nil && int32(l.Prio) != *w.KPrio {
		t.Errorf("prio %d, want %d", l.Prio, *w.KPrio)
	}
	if w.WokenTS != nil && r.Input.StartNS+l.WokenNS != at(*w.WokenTS) {
		t.Errorf("woken at %d, want %v", r.Input.StartNS+l.WokenNS, *w.WokenTS)
	}
	if w.OnCPUTS != nil && (l.OnCPUNS == nil || r.Input.StartNS+*l.OnCPUNS != at(*w.OnCPUTS)) {
		t.Errorf("on CPU at %v, want %v", l.OnCPUNS, *w.OnCPUTS)
	}
	if w.FromWakeup != nil {
		// The second event of the wait is its sched_wakeup.
		if want := "sched_wakeup: comm=" + w.LateTask; len(l.Evidence) < 2 || !strings.Contains(l.Evidence[1], want) {
			t.Errorf("evidence %q, want %q second", l.Evidence, want)
		}
		if got := at(*w.OnCPUTS) - at(*w.WakeupTS); got != us(*w.FromWakeup) {
			t.Errorf("%d ns from the wakeup, want %v µs", got, *w.FromWakeup)
		}
	}
	c := l.Causes[0]
	if c.Kind != kindOf[w.Cause] || c.NS*20 < l.LatenessNS*19 {
		t.Errorf("main cause is %s with %d of %d ns, want %s", c.Kind, c.NS, l.LatenessNS, w.Cause)
	}
	for _, not := range w.Not {
		for _, c := range l.Causes {
			if c.Kind == kindOf[not] {
				t.Errorf("%d ns are blamed on %s", c.NS, not)
			}
		}
	}
	if b := w.Blocker; b != nil && (c.PID != b.PID || int32(c.Prio) != 99-b.RTPriority || b.Comm != "" && c.Comm != b.Comm) {
		t.Errorf("blamed on %s/%d prio %d, want %+v", c.Comm, c.PID, c.Prio, *b)
	}
	if w.Consumer != "" && !strings.HasPrefix(w.Consumer, c.Comm) {
		t.Errorf("blamed on %s, want %s", c.Comm, w.Consumer)
	}
}
