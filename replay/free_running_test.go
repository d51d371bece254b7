package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
)

// tracesOf are the traces of the shared folder that replay is scored on, by their paths.
func tracesOf(t *testing.T, patterns ...string) []string {
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

func TestFreeRunning(t *testing.T) {
	var table strings.Builder
	for _, path := range tracesOf(t, "traces/rt-throttle-v61rt-smp1/*.dat", "traces/rt-throttle-v61rt-smp1/*.xz", "traces/rt-throttle-v612rt-smp1/*.dat",
		"traces/rt-throttle-v612rt-smp1/*.xz", "traces/exit-storm-v61rt-smp1/*.dat", "traces/exit-storm-v612rt-smp1/*.dat", "traces/rtapp-v61rt-smp1/*.dat") {
		l := recorded(t, path)
		r, err := l.Run(RunOptions{})
		if err != nil {
			t.Errorf("%s: %v", brief(path), err)
			continue
		}
		pairs := Match(l.Recorded, r.Waits)
		fmt.Fprintf(&table, "%s: %d tasks, %d waits recorded, %d in the run, %d tasks left\n", brief(path), len(l.Tasks), len(l.Recorded), len(r.Waits), len(r.Left))
		for _, c := range Compare(pairs).Classes {
			d := &c.Rest
			fmt.Fprintf(&table, "  %-5s %5d waits %5d matched %4d only run  long %3d/%3d within 5%%  rest p50 %s/%s p99 %s/%s off %s  each: p99 %s worst %s   late %d answerable %d\n",
				c.Class, c.Waits, c.Matched, c.OnlyRun, c.Within, len(c.Long), micro(d.P50), micro(d.RunP50), micro(d.P99), micro(d.RunP99), micro(d.Distance), micro(d.MissAtP99), micro(d.WorstMiss), c.Late, c.Answerable)
			if os.Getenv("REPLAY_MISSES") == "" || c.Class == "fair" {
				continue
			}
			for _, p := range c.Long {
				if r, m := p.Times(); distance(r, m)*1000 <= r*longPerMille {
					continue
				}
				fmt.Fprintf(&table, "      %s\n", pairText(l, &p))
			}
		}
	}
	t.Logf("\n%s", table.String())
}

func micro(ns event.Time) string { return fmt.Sprintf("%.1f", float64(ns)/1000) }

func pairText(l *Load, p *Pair) string {
	recorded, run := p.Times()
	w := p.Recorded
	if w == nil {
		w = p.Run
	}
	task := &l.Tasks[w.Key.Task]
	side := ""
	if p.Recorded == nil {
		side = " only in the run"
	} else if p.Run == nil {
		side = " only recorded"
	}
	return fmt.Sprintf("%s/%d %s cycle %d.%d at %.6f: %s µs, run %s µs (%d ‰)%s", l.Names.String(task.Comm), task.PID, w.Key.Kind, w.Key.Cycle, w.Key.N,
		float64(w.Woken)/1e9, micro(recorded), micro(run), p.ErrorPerMille(), side)
}
