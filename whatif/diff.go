package whatif

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/stats"
)

// Recording is one trace of a comparison.
type Recording struct {
	File   string
	Source explain.Source
}

// DiffOptions say what is compared.
type DiffOptions struct {
	explain.Options              // the selection, By, Kernel, Progress
	FailOn          []*Condition // that must not hold of B, or of the change
	// Shown: a change fails only where a test shows it.
	Shown bool
}

// fewWaits is how many waits a task must have on both sides to be compared: the longest of
// fewer says little.
const fewWaits = 20

// Diff compares the recordings of a with those of b. Errors are those of the readers.
func Diff(a, b []Recording, o DiffOptions) (*result.Diff, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, errors.New("nothing to compare: each side needs a trace")
	}
	want := wanted{causes: true, spread: true}
	for _, c := range o.FailOn {
		want.need(&c.Measure)
	}
	if o.By == "" {
		o.By = explain.ByTask
	}
	var sides [2]*side
	done, total := 0, len(a)+len(b)
	for i, list := range [][]Recording{a, b} {
		sides[i] = &side{}
		for _, r := range list {
			one := o.Options
			one.File = r.File
			if report := o.Progress; report != nil {
				n := done
				one.Progress = func(done, all int64) { report(int64(n)*all+done, int64(total)*all) }
			}
			if err := sides[i].read(r.Source, one, want); err != nil {
				return nil, fmt.Errorf("%s: %w", r.File, err)
			}
			done++
		}
	}
	d := &result.Diff{Schema: "whylate.diff/1", By: string(o.By), Tasks: []result.DiffTask{}, Causes: []result.DiffCause{}, Status: StatusOK, Conditions: []result.Budget{}}
	c := compare(sides[0], sides[1], o.By)
	c.tell(d)
	d.A, d.B = sides[0].tell(), sides[1].tell()
	d.Diagnostics = append(sides[0].diagnostics("A"), sides[1].diagnostics("B")...)
	for _, cond := range o.FailOn {
		budget, err := c.ask(cond, d, o.Shown)
		if err != nil {
			return nil, err
		}
		d.Conditions = append(d.Conditions, *budget)
		d.Status = worse(d.Status, budget.Status)
	}
	return d, nil
}

// side are the recordings of one side.
type side struct {
	files []*recorded
	// byFile: the tests compare recordings, else stretches of them.
	byFile bool
}

// recorded is one recording that was read.
type recorded struct {
	walked   *explain.Walked
	rows     []*tally
	from, to event.Time
}

func (s *side) read(src explain.Source, o explain.Options, want wanted) error {
	rows, walked, err := tallies(src, o, want)
	if err != nil {
		return err
	}
	r := &recorded{walked: walked, rows: rows, from: event.Time(walked.Input.StartNS), to: event.Time(walked.Input.EndNS)}
	if o.From.Valid() {
		r.from = max(r.from, o.From)
	}
	if o.To.Valid() {
		r.to = min(r.to, o.To)
	}
	r.to = max(r.to, r.from+1)
	s.files = append(s.files, r)
	return nil
}

// length is the time of all recordings together, in ns, at least 1.
func (s *side) length() int64 {
	n := int64(0)
	for _, f := range s.files {
		n += int64(f.to - f.from)
	}
	return max(n, 1)
}

// What tests compare: whole recordings where there are at least leastFiles on both sides, since
// with fewer no test could show anything beside others; else stretches equal parts of each.
const (
	leastFiles = 6
	stretches  = 10
)

// parts is how many values a test gets of the side.
func (s *side) parts() int {
	if s.byFile {
		return len(s.files)
	}
	return stretches * len(s.files)
}

// part is the number of the part of file that the moment at lies in.
func (s *side) part(file int, at event.Time) int {
	if s.byFile {
		return file
	}
	f := s.files[file]
	n := int64(at-f.from) / max(int64(f.to-f.from)/stretches, 1)
	return file*stretches + int(min(max(n, 0), stretches-1))
}

func (s *side) tell() result.DiffSide {
	out := result.DiffSide{NS: s.length(), Parts: int64(s.parts()), Inputs: []result.Input{}, Holes: []string{}}
	if !s.byFile {
		out.PartNS = out.NS / out.Parts
	}
	for _, f := range s.files {
		out.Inputs = append(out.Inputs, f.walked.Input)
		out.Holes = append(out.Holes, explain.Holes(&f.walked.Input, f.walked.Diagnostics)...)
	}
	return out
}

func (s *side) diagnostics(name string) []result.Diagnostic {
	list := []result.Diagnostic{}
	for _, f := range s.files {
		for _, d := range f.walked.Diagnostics {
			d.Text = fmt.Sprintf("%s (%s): %s", name, f.walked.Input.File, d.Text)
			list = append(list, d)
		}
	}
	return list
}

// comparison is what tells and conditions are made of.
type comparison struct {
	a, b  *side
	pairs []*pair
}

// compare matches the rows of both sides.
func compare(a, b *side, by explain.By) *comparison {
	a.byFile = len(a.files) >= leastFiles && len(b.files) >= leastFiles
	b.byFile = a.byFile
	return &comparison{a: a, b: b, pairs: match(a, b, by)}
}

// tell fills what is told, and puts it in order.
func (c *comparison) tell(d *result.Diff) {
	var tests []*result.Difference
	tests = append(tests, c.causes(d)...)
	for _, p := range c.pairs {
		p.out = p.tell(c)
		tests = append(tests, p.tests()...)
	}
	made, shown := stats.Holm(tests)
	slices.SortStableFunc(c.pairs, func(x, y *pair) int { return x.order(y) })
	for _, p := range c.pairs {
		d.Tasks = append(d.Tasks, *p.out)
	}
	d.Answer = c.answer()
	d.Test = result.DiffTest{Test: "Mann-Whitney U", Parts: "stretches", Tests: int64(made), Shown: int64(shown),
		Assumes: "stretches of a recording do not depend on each other; what differs from one recording to the next without any change is in no test"}
	for _, t := range tests {
		if t != nil && t.Verdict != "none_shown" && t.Note != "" {
			d.Test.Drifting++
		}
	}
	if c.a.byFile {
		d.Test.Parts = "recordings"
		d.Test.Assumes = "recordings do not depend on each other"
	}
}

// answer is the first task of those that come first.
func (c *comparison) answer() *result.DiffAnswer {
	for _, few := range []bool{false, true} {
		for _, p := range c.pairs {
			if p.a != nil && p.b != nil && p.out.Few == few {
				return p.answer()
			}
		}
	}
	return nil
}

// causes sums the kinds of all tasks.
func (c *comparison) causes(d *result.Diff) []*result.Difference {
	all := &pair{a: &merged{}, b: &merged{}}
	for _, p := range c.pairs {
		if p.a != nil {
			all.a.merge(p.a)
		}
		if p.b != nil {
			all.b.merge(p.b)
		}
	}
	d.Causes = all.causes(c)
	slices.SortStableFunc(d.Causes, func(x, y result.DiffCause) int {
		return cmp.Compare(abs(y.B.PerS-y.A.PerS), abs(x.B.PerS-x.A.PerS))
	})
	var tests []*result.Difference
	for i := range d.Causes {
		tests = append(tests, d.Causes[i].Test)
	}
	return tests
}

func abs(n int64) int64 { return max(n, -n) }
