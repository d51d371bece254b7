package replay_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/trace"
)

// fairLoads are the ten loads of testdata/fair/loads.md that are scored.
var fairLoads = []string{"nice", "groups", "nested", "quota", "policy", "slices", "sleepers", "storm", "yield", "pingpong"}

func openFair(t *testing.T, name string) *trace.File {
	t.Helper()
	src, err := trace.Open("testdata/fair/" + name + ".dat.xz")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// TestFairDecisions scores picks and preemptions of fair tasks, history-forced, on both kernels: 98 % have to agree, and at
// most half as many may be missed as the baseline misses.
func TestFairDecisions(t *testing.T) {
	var b strings.Builder
	b.WriteString("| recording | picks | agree | baseline | preemptions | agree | baseline |\n|---|---|---|---|---|---|---|\n")
	for _, kernel := range []string{"v61", "v612"} {
		var sum [2]replay.DecisionRow
		for _, load := range fairLoads {
			name := kernel + "-" + load
			d, err := replay.Force(openFair(t, name), replay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var rows [2]replay.DecisionRow
			for _, r := range d.Rows {
				at := slices.Index([]string{replay.Pick, replay.Preempt}, r.Type)
				if r.Class != "fair" || at < 0 {
					continue
				}
				rows[at] = r
				sum[at].N, sum[at].Agree, sum[at].Baseline = sum[at].N+r.N, sum[at].Agree+r.Agree, sum[at].Baseline+r.Baseline
				if r.Agree*100 < r.N*98 || (r.N-r.Agree)*2 > r.N-r.Baseline {
					t.Errorf("%s %s: %d of %d agree, of the baseline %d", name, r.Type, r.Agree, r.N, r.Baseline)
				}
			}
			b.WriteString(decisionLine(name, rows))
		}
		b.WriteString(decisionLine("**"+kernel+"**", sum))
	}
	inDocument(t, "fair decisions", b.String())
}

func decisionLine(name string, rows [2]replay.DecisionRow) string {
	line := "| " + name
	for _, r := range rows {
		line += fmt.Sprintf(" | %s | %s, %.2f %% | %s", grouped(r.N), grouped(r.Agree), 100*float64(r.Agree)/float64(max(r.N, 1)), grouped(r.Baseline))
	}
	return line + " |\n"
}

// TestFairRuns lets the loads run free and compares what each task had of the CPU, which has to be within 1 % of the
// CPU, and how long the waits of fair user tasks were, which is told.
func TestFairRuns(t *testing.T) {
	var b strings.Builder
	b.WriteString("| recording | tasks | shares, at most off | wakeups p50 | p99 | preemptions p50 | p99 |\n|---|---|---|---|---|---|---|\n")
	within, cells := 0, 0
	for _, kernel := range []string{"v61", "v612"} {
		for _, load := range fairLoads {
			name := kernel + "-" + load
			src := openFair(t, name)
			l, err := replay.Read(src, replay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !l.FairClass {
				t.Fatalf("%s: fair tasks take turns as they were recorded", name)
			}
			ran := cpuTimes{}
			run, err := l.Run(replay.RunOptions{Sink: ran.take})
			if err != nil {
				t.Fatal(err)
			}
			recorded := cpuTimes{}
			recorded.read(t, src)
			worst, tasks := event.Time(0), 0
			for i := range l.Tasks {
				if l.Tasks[i].Kernel {
					continue
				}
				tasks++
				pid := l.Tasks[i].PID
				worst = max(worst, ran.of[pid]-recorded.of[pid], recorded.of[pid]-ran.of[pid])
			}
			if worst > 10_000_000 {
				t.Errorf("%s: a task had %d ns more or less of the CPU's second", name, worst)
			}
			fmt.Fprintf(&b, "| %s | %d | %.2f %%", name, tasks, float64(worst)/1e7)
			for _, kinds := range [][]latency.Kind{{latency.Wakeup}, {latency.Preempted, latency.Yielded}} {
				was, is := fairWaits(l, l.Recorded, kinds), fairWaits(l, run.Waits, kinds)
				for _, percent := range []int64{50, 99} {
					a, c := atRank(was, percent), atRank(is, percent)
					fmt.Fprintf(&b, " | %s → %s", inMicroseconds(a), inMicroseconds(c))
					cells++
					if math.Abs(float64(a-c)) <= float64(a)/10 {
						within++
					}
				}
			}
			b.WriteString(" |\n")
		}
	}
	fmt.Fprintf(&b, "\n%d of these %d percentiles are within 10 %%.\n", within, cells)
	inDocument(t, "fair runs", b.String())
}

// cpuTimes sums how long each task had the CPU.
type cpuTimes struct {
	of    map[event.PID]event.Time
	cur   event.PID
	since event.Time
}

func (c *cpuTimes) take(ev *event.Event) {
	if ev.Kind != event.SchedSwitch {
		return
	}
	if c.of == nil {
		c.of = map[event.PID]event.Time{}
	} else {
		c.of[c.cur] += ev.Time - c.since
	}
	c.cur, c.since = ev.Next, ev.Time
}

func (c *cpuTimes) read(t *testing.T, src *trace.File) {
	t.Helper()
	st, err := src.Events(event.Options{Want: event.Kinds(event.SchedSwitch)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		c.take(ev)
	}
}

// fairWaits are the waits of fair user tasks, in order of length.
func fairWaits(l *replay.Load, waits []replay.Wait, kinds []latency.Kind) []event.Time {
	var list []event.Time
	for i := range waits {
		if w := &waits[i]; w.Class == "fair" && slices.Contains(kinds, w.Key.Kind) && !l.Tasks[w.Key.Task].Kernel {
			list = append(list, w.Length())
		}
	}
	slices.Sort(list)
	return list
}

func atRank(sorted []event.Time, percent int64) event.Time {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[latency.Rank(percent, 100, int64(len(sorted)))-1]
}

func inMicroseconds(t event.Time) string { return grouped(int64((t + 500) / 1000)) }

// grouped is a number with commas.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
