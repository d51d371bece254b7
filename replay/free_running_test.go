package replay

import (
	"flag"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
)

// tracesOf are the traces of the shared folder that replay is scored on, by their paths.
func tracesOf(t testing.TB, patterns ...string) []string {
	t.Helper()
	var list []string
	for _, p := range patterns {
		dir, name := filepath.Split(p)
		found, err := filepath.Glob(filepath.Join(shared.Path(t, filepath.ToSlash(filepath.Clean(dir))), name))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", p, found, err)
		}
		list = append(list, found...)
	}
	sort.Strings(list)
	return list
}

// recorded is the load of a trace file.
func recorded(t testing.TB, path string) *Load {
	t.Helper()
	f, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := Read(f, Options{Kernel: kernelOf(path)})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return l
}

// kernelOf is the release of a text trace, which does not say it.
func kernelOf(path string) string {
	switch {
	case !strings.Contains(path, ".txt"):
		return ""
	case strings.Contains(path, "v612rt"):
		return "6.12.107-rt-amd64"
	}
	return "6.1.0-50-rt-amd64"
}

func brief(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Base(dir) + "/" + name
}

// oneCPU are the recordings of machines with one CPU.
var oneCPU = []string{"traces/rt-throttle-v61rt-smp1/*.dat", "traces/rt-throttle-v61rt-smp1/*.xz", "traces/rt-throttle-v612rt-smp1/*.dat",
	"traces/rt-throttle-v612rt-smp1/*.xz", "traces/exit-storm-v61rt-smp1/*.dat", "traces/exit-storm-v612rt-smp1/*.dat", "traces/rtapp-v61rt-smp1/*.dat"}

// knownMisses are the long real-time waits that a free run does not meet, with the reason.
var knownMisses = map[string]string{
	"rt-throttle-v612rt-smp1/throttle950.ftrace.txt.xz lo10/259 preempted 131.626096": "within a window of the fair server it had the CPU for a few µs, which the run does not give it: two waits there, one of the same length in the run",
	"rt-throttle-v612rt-smp1/throttle950.ftrace.txt.xz lo10/259 preempted 131.626200": "the second of these two",
}

// TestFreeRunning lets the load of each recording with one CPU run free and prints how its
// waits agree. Every real-time and deadline wait of more than 500 µs is within 5 %, but for the
// known ones; the others are within 20 µs at p99.
func TestFreeRunning(t *testing.T) {
	var table strings.Builder
	long, within, late, answerable := 0, 0, 0, 0
	missed := make(map[string]bool)
	for _, path := range tracesOf(t, oneCPU...) {
		l := recorded(t, path)
		r, err := l.Run(RunOptions{})
		if err != nil {
			t.Errorf("%s: %v", brief(path), err)
			continue
		}
		fmt.Fprintf(&table, "%s\n", brief(path))
		for _, c := range Compare(Match(l.Recorded, r.Waits)).Classes {
			table.WriteString(rowOf(&c))
			if c.Class != "rt" && c.Class != "dl" {
				continue
			}
			long, within, late, answerable = long+len(c.Long), within+c.Within, late+c.Late, answerable+c.Answerable
			if c.Rest.Distance > 20*us {
				t.Errorf("%s: %s waits: p99 %s µs, in the run %s", brief(path), c.Class, micro(c.Rest.P99), micro(c.Rest.RunP99))
			}
			for i := range c.Long {
				p := &c.Long[i]
				if recorded, run := p.Times(); distance(recorded, run)*1000 > recorded*longPerMille {
					name := missName(l, path, p)
					if missed[name] = true; knownMisses[name] == "" {
						t.Errorf("%s: %s", name, pairText(l, p))
					}
				}
			}
		}
	}
	for name := range knownMisses {
		if !missed[name] {
			t.Errorf("%s is a known miss, and was met", name)
		}
	}
	t.Logf("\n%slong real-time and deadline waits: %d of %d within 5 %%; late ones: %d of %d answerable\n", table.String(), within, long, answerable, late)
}

var long = flag.Bool("long", false, "score the recording of 2.5 million events, too")

// TestLateWaitsAreAnswerable: of all late real-time and deadline waits of the recordings nine
// of ten are met well enough for an answer.
func TestLateWaitsAreAnswerable(t *testing.T) {
	late, answerable := 0, 0
	var table strings.Builder
	files := append([]string{"traces/mixed-v61-smp4/*.dat", "traces/schbench-v61-smp4/*.dat", "traces/schbench-v612-smp4/*.dat"}, oneCPU...)
	if *long {
		files = append(files, "traces/big-v61-smp4/*.dat")
	}
	for _, path := range tracesOf(t, files...) {
		l := recorded(t, path)
		r, err := l.Run(RunOptions{})
		if err != nil {
			t.Fatalf("%s: %v", brief(path), err)
		}
		fmt.Fprintf(&table, "%s\n", brief(path))
		for _, c := range Compare(Match(l.Recorded, r.Waits)).Classes {
			table.WriteString(rowOf(&c))
			if c.Class == "rt" || c.Class == "dl" {
				late, answerable = late+c.Late, answerable+c.Answerable
			}
		}
	}
	t.Logf("\n%s%d of %d answerable", table.String(), answerable, late)
	if answerable*10 < late*9 {
		t.Errorf("%d of %d late waits are answerable", answerable, late)
	}
}

// TestFreeRunningOfPairs is TestFreeRunning for the recordings that were made for predictions: of
// their long real-time and deadline waits 98 of 100 are within 5 %, and 98 of 100 late ones
// answerable.
func TestFreeRunningOfPairs(t *testing.T) {
	files, err := filepath.Glob("testdata/pairs/*.dat.xz")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	long, within, late, answerable := 0, 0, 0, 0
	var table strings.Builder
	for _, path := range files {
		l := recorded(t, path)
		r, err := l.Run(RunOptions{})
		if err != nil {
			t.Fatalf("%s: %v", brief(path), err)
		}
		fmt.Fprintf(&table, "%s\n", brief(path))
		for _, c := range Compare(Match(l.Recorded, r.Waits)).Classes {
			if c.Class != "rt" && c.Class != "dl" {
				continue
			}
			table.WriteString(rowOf(&c))
			long, within, late, answerable = long+len(c.Long), within+c.Within, late+c.Late, answerable+c.Answerable
			if c.Rest.Distance > 30*us {
				t.Errorf("%s: %s waits: p99 %s µs, in the run %s", brief(path), c.Class, micro(c.Rest.P99), micro(c.Rest.RunP99))
			}
			for i := range c.Long {
				p := &c.Long[i]
				if recorded, run := p.Times(); distance(recorded, run)*1000 > recorded*longPerMille {
					fmt.Fprintf(&table, "      %s: %s\n", missName(l, path, p), pairText(l, p))
				}
			}
		}
	}
	t.Logf("\n%s%d of %d long waits within 5 %%, %d of %d late ones answerable", table.String(), within, long, answerable, late)
	if within*100 < long*98 || answerable*100 < late*98 {
		t.Errorf("%d of %d long waits within 5 %%, %d of %d late ones answerable", within, long, answerable, late)
	}
}

// rowOf is the table's row of a class.
func rowOf(c *ClassFidelity) string {
	d := &c.Rest
	return fmt.Sprintf("  %-5s %5d waits, %5d matched, %4d more in the run; > 500 µs: %3d of %3d within 5 %%; rest: p50 %s, run %s, p99 %s, run %s; late %d, answerable %d\n",
		c.Class, c.Waits, c.Matched, c.OnlyRun, c.Within, len(c.Long), micro(d.P50), micro(d.RunP50), micro(d.P99), micro(d.RunP99), c.Late, c.Answerable)
}

func micro(ns event.Time) string { return fmt.Sprintf("%.1f", float64(ns)/1000) }

// missName names a wait by its trace, task, kind and time.
func missName(l *Load, path string, p *Pair) string {
	w := p.Recorded
	if w == nil {
		w = p.Run
	}
	task := &l.Tasks[w.Key.Task]
	return fmt.Sprintf("%s %s/%d %s %.6f", brief(path), l.Names.String(task.Comm), task.PID, w.Key.Kind, float64(w.Woken)/1e9)
}

func pairText(l *Load, p *Pair) string {
	recorded, run := p.Times()
	side := ""
	if p.Recorded == nil {
		side = ", only in the run"
	} else if p.Run == nil {
		side = ", only recorded"
	}
	return fmt.Sprintf("%s µs, run %s µs (%d ‰)%s", micro(recorded), micro(run), p.ErrorPerMille(), side)
}
