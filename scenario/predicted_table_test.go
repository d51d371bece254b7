package scenario_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
)

const fidelity = "../docs/fidelity.md"

// series is what one task shows of one sort, in the order of time.
type series struct {
	task, what string
	ns         []event.Time
}

// seriesOf sorts figures into series.
func seriesOf(list []figure) []series {
	var out []series
	for _, f := range list {
		i := slices.IndexFunc(out, func(s series) bool { return s.task == f.Task && s.what == f.What })
		if i < 0 {
			i = len(out)
			out = append(out, series{task: f.Task, what: f.What})
		}
		out[i].ns = append(out[i].ns, event.Time(f.NS))
	}
	slices.SortFunc(out, func(a, b series) int {
		if c := strings.Compare(a.task, b.task); c != 0 {
			return c
		}
		return strings.Compare(a.what, b.what)
	})
	return out
}

// find returns the series of a task and sort, empty where there is none.
func find(list []series, task, what string) series {
	for _, s := range list {
		if s.task == task && s.what == what {
			return s
		}
	}
	return series{task: task, what: what}
}

// apart is the largest distance of two lists taken in pairs; false where their lengths
// differ.
func apart(a, b []event.Time) (event.Time, bool) {
	if len(a) != len(b) {
		return 0, false
	}
	worst := event.Time(0)
	for i := range a {
		worst = max(worst, a[i]-b[i], b[i]-a[i])
	}
	return worst, true
}

// verdictOf says how a series of the model stands to the recorded one: a hit is within 5 %
// or 100 µs everywhere; near within one tick, where throttling is enforced by the tick.
// since is what a length counts from, where not from its beginning.
func verdictOf(model, real []event.Time, since event.Time, byTick bool) string {
	d, same := apart(model, real)
	if !same {
		return "**miss**"
	}
	hit := true
	for i := range real {
		e := max(model[i]-real[i], real[i]-model[i])
		hit = hit && (e <= 100*us || e*20 <= real[i]-since)
	}
	switch {
	case hit:
		return "hit"
	case byTick && d <= 4*ms:
		return "hit (one tick)"
	}
	return "**miss**"
}

// longestOf is how many a series has and the longest of them, for the table.
func longestOf(s []event.Time) string {
	if len(s) == 0 {
		return "none"
	}
	text := ""
	if len(s) > 1 {
		text = fmt.Sprintf("%d, at most ", len(s))
	}
	longest := slices.Max(s)
	return text + fmt.Sprintf("%d.%03d", longest/ms, longest%ms/us)
}

// comparison is one row of the table.
type comparison struct {
	name, task, what      string
	before, now, recorded []event.Time
	since                 event.Time // what a length counts from, where not from its beginning
	byTick                bool
}

func (c *comparison) String() string {
	now := "the same"
	if d, same := apart(c.before, c.now); !same || d > 0 {
		now = longestOf(c.now) + ": " + verdictOf(c.now, c.recorded, c.since, c.byTick)
	}
	off := "–"
	if d, same := apart(c.before, c.recorded); same {
		off = fmt.Sprintf("%d", d/us)
	}
	return fmt.Sprintf("| %s | %s %s | %s | %s | %s | %s | %s |", c.name, c.task, c.what, longestOf(c.before), longestOf(c.recorded), off,
		verdictOf(c.before, c.recorded, c.since, c.byTick), now)
}

// beside brings together what was predicted, what the model says now and what was
// recorded.
func beside(t *testing.T, p *prediction) []comparison {
	t.Helper()
	real := recordedFigures(t, p)
	if real == nil {
		return nil
	}
	before, now, kernel := seriesOf(committed(t, p)), seriesOf(modelled(t, p, true)), seriesOf(real)
	var rows []comparison // nothing that only the model of today says: that is not what was predicted
	seen := map[string]bool{}
	for _, list := range [][]series{before, kernel} {
		for _, s := range list {
			key := s.task + s.what
			if seen[key] || s.what == "told" && !strings.HasPrefix(p.name, "exit-") {
				continue // the hog of pi-chain dies too; nobody asked when that is known
			}
			seen[key] = true
			c := comparison{name: p.name, task: s.task, what: s.what, before: find(before, s.task, s.what).ns, now: find(now, s.task, s.what).ns,
				recorded: find(kernel, s.task, s.what).ns, byTick: strings.HasPrefix(p.name, "thr-") || strings.HasPrefix(p.name, "ata-")}
			switch s.what {
			case "done":
				c.since = 100 * ms // when it began
			case "told":
				c.since = 101 * ms // when it began to die
			}
			rows = append(rows, c)
		}
	}
	// A watched task of which neither says anything: that it is never late was predicted.
	for _, task := range strings.Fields(p.watch) {
		if !slices.ContainsFunc(rows, func(c comparison) bool { return c.task == task }) {
			rows = append(rows, comparison{name: p.name, task: task, what: "any wait"})
		}
	}
	return rows
}

// TestPredictionsBesideRecordings writes the table of docs/fidelity.md and compares it with
// the one that is there: a model that changes what it says shows up as a change of the
// document.
func TestPredictionsBesideRecordings(t *testing.T) {
	var b strings.Builder
	b.WriteString("| variant | what | predicted (ms) | recorded (ms) | largest error (µs) | | the model now, period as recorded |\n|---|---|---|---|---|---|---|\n")
	hits, rows, whole, variants := 0, 0, 0, 0
	for i := range predictions {
		list := beside(t, &predictions[i])
		good := 0
		for _, c := range list {
			if strings.HasPrefix(verdictOf(c.before, c.recorded, c.since, c.byTick), "hit") {
				good++
			}
			fmt.Fprintln(&b, c.String())
		}
		hits, rows = hits+good, rows+len(list)
		if len(list) > 0 {
			variants++
		}
		if len(list) > 0 && good == len(list) {
			whole++
		}
	}
	if rows == 0 {
		t.Fatal("nothing is recorded")
	}
	fmt.Fprintf(&b, "\n%d of %d rows are hits; every row of %d of %d variants.\n", hits, rows, whole, variants)
	t.Logf("\n%s", b.String())
	text, err := os.ReadFile(fidelity)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- predictions: begin -->\n", "<!-- predictions: end -->"
	head, rest, ok := strings.Cut(string(text), begin)
	if !ok {
		t.Fatalf("%s has no place for the table", fidelity)
	}
	have, tail, _ := strings.Cut(rest, end)
	if *update {
		if err := os.WriteFile(fidelity, []byte(head+begin+b.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if have != b.String() {
		t.Errorf("the table of %s is another one; -update writes it", fidelity)
	}
}

// TestCausesOfPredictionsAndRecordings: explain tells the same main cause of the longest
// wait of each task and sort from the kernel's events and from the model's, where both have
// one. The recordings have no system calls, the model's events do: where an exit begins in
// the middle of a run is seen only there.
func TestCausesOfPredictionsAndRecordings(t *testing.T) {
	const unseen = "the beginning of the exit is not recorded"
	other := map[string]string{"exit-two-64": "two die at once", "fair-v612": "two fair hogs share the server", "exit-prios-128": unseen,
		"exit-core-32": "ticks find the kernel's core dump with locks held, which looks like an exit, and the model's without",
		"exit-dl-64":   unseen, "pi-death-64": unseen, "exit-throttled-384": unseen}
	same, all := 0, 0
	for i := range predictions {
		p := &predictions[i]
		real := recordedFigures(t, p)
		if real == nil {
			continue
		}
		model := modelled(t, p, true)
		for _, s := range seriesOf(real) {
			r, m := longestFigure(real, s.task, s.what), longestFigure(model, s.task, s.what)
			if r.cause == "" || m.cause == "" {
				continue
			}
			all++
			if r.cause == m.cause {
				same++
				continue
			}
			if other[p.name] == "" {
				t.Errorf("%s, %s %s: another cause", p.name, s.task, s.what)
			}
			t.Logf("%s, %s %s (%s): %d ns %s (%s) on the kernel, %d ns %s (%s) in the model", p.name, s.task, s.what, other[p.name], r.NS, r.cause, r.verdict, m.NS, m.cause, m.verdict)
		}
	}
	t.Logf("%d of %d the same", same, all)
}

// longestFigure is the longest wait of a task and sort.
func longestFigure(list []figure, task, what string) (longest figure) {
	for _, f := range list {
		if f.Task == task && f.What == what && f.NS > longest.NS {
			longest = f
		}
	}
	return longest
}
