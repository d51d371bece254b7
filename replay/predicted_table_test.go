package replay_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

var update = flag.Bool("update", false, "write the tables of docs/fidelity.md")

const fidelity = "../docs/fidelity.md"

// match is a recorded wait and the predicted one; 0 is none.
type match struct{ predicted, recorded event.Time }

// hit: within 10 % of what was recorded, and nothing else.
func (m match) hit() bool {
	return m.predicted > 0 && m.recorded > 0 && 10*max(m.predicted-m.recorded, m.recorded-m.predicted) <= m.recorded
}

// row is what of one task and sort was predicted from one recording to another.
type row struct {
	kind, task, what string
	list             []match
	before           []match // with what was recorded before the change as the prediction
	changed          []match // those of list that before does not meet, and what is gone
}

// align brings together figures of one task and sort, both in order of time, so that they differ
// least in all: two may be a pair if they begin within near of each other, and one that stays alone
// counts as much as two that have nothing in common. −1: none.
func align(a, b []figure, near event.Time) (pairs [][2]int) {
	const alone = 1000
	cost := func(i, j int) int64 {
		p, r := a[i], b[j]
		if apart := max(p.AtNS-r.AtNS, r.AtNS-p.AtNS); apart > int64(near) {
			return 2*alone + 1
		}
		return max(p.NS-r.NS, r.NS-p.NS) * 2 * alone / max(p.NS, r.NS)
	}
	n, m := len(a), len(b)
	least := make([][]int64, n+1) // of what is left from i and j on
	for i := n; i >= 0; i-- {
		least[i] = make([]int64, m+1)
		for j := m; j >= 0; j-- {
			switch {
			case i == n || j == m:
				least[i][j] = alone * int64(n-i+m-j)
			default:
				least[i][j] = min(least[i+1][j]+alone, least[i][j+1]+alone, least[i+1][j+1]+cost(i, j))
			}
		}
	}
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case j == m || i < n && least[i][j] == least[i+1][j]+alone:
			pairs = append(pairs, [2]int{i, -1})
			i++
		case i == n || least[i][j] == least[i][j+1]+alone:
			pairs = append(pairs, [2]int{-1, j})
			j++
		default:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		}
	}
	return pairs
}

// matches are the pairs of which one side is long enough, and of each recorded figure the match.
func matches(predicted, recorded []figure, near event.Time) (list []match, of []match) {
	of = make([]match, len(recorded))
	for _, pair := range align(predicted, recorded, near) {
		var m match
		if pair[0] >= 0 {
			m.predicted = event.Time(predicted[pair[0]].NS)
		}
		if pair[1] >= 0 {
			m.recorded = event.Time(recorded[pair[1]].NS)
			of[pair[1]] = m
		}
		if max(m.predicted, m.recorded) >= counts {
			list = append(list, m)
		}
	}
	return list, of
}

// compared is the row of one task and sort. What the change changed: the recorded waits that are not
// what they were; those that are gone, of which as many are right as are not predicted; and what was
// predicted and does not come.
func (p *pair) compared(task, what string, predicted, recorded, before []figure) row {
	r := row{kind: p.kind, task: task, what: what}
	var said, was []match
	r.list, said = matches(predicted, recorded, p.near)
	r.before, was = matches(before, recorded, p.near)
	for i := range recorded {
		if max(recorded[i].NS, int64(said[i].predicted)) >= int64(counts) && !was[i].hit() {
			r.changed = append(r.changed, said[i])
		}
	}
	gone := 0
	for _, m := range r.before {
		if m.recorded == 0 {
			gone++
		}
	}
	for _, m := range r.list {
		if m.recorded == 0 {
			r.changed = append(r.changed, m)
			gone--
		}
	}
	for ; gone > 0; gone-- {
		r.changed = append(r.changed, match{goneAsSaid, goneAsSaid})
	}
	return r
}

// goneAsSaid stands for both sides of a wait that is gone.
const goneAsSaid = counts

// rows sorts figures by task and sort. A watched task of which nobody says anything has a row
// too: that it is never late was predicted.
func (p *pair) rows(predicted, recorded, before []figure) (list []row) {
	for _, task := range strings.Fields(p.watch) {
		n := len(list)
		for _, what := range []string{"wakeup", "preempted", "yielded", "blocked"} {
			of := func(list []figure) (out []figure) {
				for _, f := range list {
					if f.Task == task && f.What == what {
						out = append(out, f)
					}
				}
				return out
			}
			if r := p.compared(task, what, of(predicted), of(recorded), of(before)); len(r.list)+len(r.before) > 0 {
				list = append(list, r)
			}
		}
		if len(list) == n {
			list = append(list, row{kind: p.kind, task: task, what: "waits"})
		}
	}
	return list
}

// long is from where on waits are counted once more: those of one round of work of another
// task are many, and easily met.
const long = 5 * ms

// score is how many matches are hits, of those of which one side is at least floor.
func score(list []match, floor event.Time) (hits, n int) {
	for _, m := range list {
		if max(m.predicted, m.recorded) < floor {
			continue
		}
		n++
		if m.hit() {
			hits++
		}
	}
	return hits, n
}

// ofText is a score, bold where it is not all.
func ofText(hits, n int) string {
	switch {
	case n == 0:
		return "–"
	case hits == n:
		return fmt.Sprintf("%d of %d", hits, n)
	}
	return fmt.Sprintf("**%d of %d**", hits, n)
}

// longestText is the longest of a side, in ms.
func longestText(list []match, side func(match) event.Time) string {
	var longest event.Time
	for _, m := range list {
		longest = max(longest, side(m))
	}
	if longest == 0 {
		return "none"
	}
	return fmt.Sprintf("%d.%03d", longest/ms, longest%ms/us)
}

func (r *row) String() string {
	predicted, recorded := func(m match) event.Time { return m.predicted }, func(m match) event.Time { return m.recorded }
	return fmt.Sprintf("%s %s | %s | %s | %s | %s | %s | %s", r.task, r.what, ofText(score(r.list, counts)), ofText(score(r.list, long)), ofText(score(r.before, counts)),
		longestText(r.before, predicted), longestText(r.list, predicted), longestText(r.list, recorded))
}

// committed is what was predicted before the recording was made.
func (p *pair) committed(t *testing.T) []figure {
	t.Helper()
	text, err := os.ReadFile(p.room + p.to + ".prediction.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []figure
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// scored are all rows of some pairs, with the lines of their table.
type scored struct {
	lines []string
	rows  []row
	// wholly is how many predictions meet every wait, of all.
	wholly, all int
	now         []row // as the replay is today, where rows were committed before
}

// add compares what is said of a recording with it. before is what was committed.
func (s *scored) add(t *testing.T, p *pair, from, to string, changes []string, before bool) {
	t.Helper()
	recorded, ok := p.recorded(t, to)
	if !ok || p.file(t, from) == "" {
		return
	}
	was, _ := p.recorded(t, from)
	said := p.predicted(t, from, changes)
	if before {
		s.now = append(s.now, p.rows(said, recorded, was)...)
		said = p.committed(t)
	}
	hits, n := 0, 0
	for _, r := range p.rows(said, recorded, was) {
		h, m := score(r.list, counts)
		hits, n = hits+h, n+m
	}
	if s.all++; hits == n {
		s.wholly++
	}
	name := from + " → " + to
	change := "`" + strings.Join(changes, "`, `") + "`"
	for _, r := range p.rows(said, recorded, was) {
		s.lines = append(s.lines, fmt.Sprintf("| %s | %s | %s |", name, change, r.String()))
		s.rows = append(s.rows, r)
		name, change = "", ""
	}
}

const pairHead = "| from → to | change | waits | > 1 ms: within 10 % | > 5 ms: within 10 % | baseline | longest before (ms) | predicted | recorded |\n" +
	"|---|---|---|---|---|---|---|---|---|\n"

// summary are the errors by mechanism, of the waits that a change changed: what an answer of whatif says
// of itself.
func summary(b *strings.Builder, rows []row) {
	b.WriteString("| mechanism | waits | within 10 % | of > 5 ms | error in the median | at p90 |\n|---|---|---|---|---|---|\n")
	var kinds []string
	for _, r := range rows {
		if !slices.Contains(kinds, r.kind) {
			kinds = append(kinds, r.kind)
		}
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		var all []match
		for _, r := range rows {
			if r.kind == k {
				all = append(all, r.changed...)
			}
		}
		h, n := score(all, counts)
		hl, nl := score(all, long)
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s |\n", k, n, ofText(h, n), ofText(hl, nl), errorText(all, 500), errorText(all, 900))
	}
}

// errorText is a percentile of the errors, in percent of what was recorded; a wait that one
// side does not have is wholly wrong.
func errorText(list []match, perMille int) string {
	if len(list) == 0 {
		return "–"
	}
	var wrong []int64
	for _, m := range list {
		e := int64(1000)
		if m.recorded > 0 {
			e = min(e, int64(max(m.predicted-m.recorded, m.recorded-m.predicted)*1000/m.recorded))
		}
		wrong = append(wrong, e)
	}
	slices.SortFunc(wrong, cmp.Compare[int64])
	e := wrong[min(len(wrong)-1, len(wrong)*perMille/1000)]
	return fmt.Sprintf("%d.%d %%", e/10, e%10)
}

// inDocument compares what a test says with the place of docs/fidelity.md that has its name.
func inDocument(t *testing.T, place, says string) {
	t.Helper()
	t.Logf("\n%s", says)
	text, err := os.ReadFile(fidelity)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+place+": begin -->\n", "<!-- "+place+": end -->"
	head, rest, ok := strings.Cut(string(text), begin)
	if !ok {
		t.Fatalf("%s has no place for %s", fidelity, place)
	}
	have, tail, _ := strings.Cut(rest, end)
	if *update {
		if err := os.WriteFile(fidelity, []byte(head+begin+says+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if have != says {
		t.Errorf("%s of %s are others; -update writes them", place, fidelity)
	}
}

// TestPairs scores the predictions from one recording of the tree to another, those that were
// committed before the other was made, and the way back, which was not.
func TestPairs(t *testing.T) {
	var first, back scored
	for i := range pairs {
		p := &pairs[i]
		switch {
		case p.room == pairsRoom:
			first.add(t, p, p.from, p.to, p.change, true)
		case p.room == oldRoom:
			back.add(t, p, p.from, p.to, p.change, false)
		}
		if p.back != nil && !strings.HasPrefix(p.room, sharedRoom) {
			back.add(t, p, p.to, p.from, p.back, false)
		}
	}
	var b strings.Builder
	b.WriteString(first.table())
	b.WriteString("The errors of these, by mechanism:\n\n")
	summary(&b, first.rows)
	inDocument(t, "pairs", b.String())

	b.Reset()
	b.WriteString("The same predictions by the replay as it is now:\n\n")
	summary(&b, first.now)
	b.WriteString("\nThe way back, and recordings that were there before there was a replay:\n\n" + back.table())
	summary(&b, back.rows)
	inDocument(t, "pairs now", b.String())
}

func (s *scored) table() string {
	h, n := 0, 0
	for _, r := range s.rows {
		a, b := score(r.list, counts)
		h, n = h+a, n+b
	}
	return pairHead + strings.Join(s.lines, "\n") + fmt.Sprintf("\n\nOf %d waits above 1 ms %d within 10 %%; every one of %d of %d predictions.\n\n", n, h, s.wholly, s.all)
}

// TestSharedPairs scores both ways between the recordings that the project began with.
func TestSharedPairs(t *testing.T) {
	shared.Path(t, sharedRoom)
	var s scored
	for i := range pairs {
		if p := &pairs[i]; strings.HasPrefix(p.room, sharedRoom) {
			s.add(t, p, p.from, p.to, p.change, false)
			if p.back != nil {
				s.add(t, p, p.to, p.from, p.back, false)
			}
		}
	}
	var b strings.Builder
	b.WriteString(s.table())
	summary(&b, s.rows)
	inDocument(t, "shared pairs", b.String())
}
