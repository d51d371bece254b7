package whatif

import "github.com/whylate/whylate/result"

// ask puts a condition to every pair that it is about. It says what must not be: a row where
// it holds has failed.
func (c *comparison) ask(cond *Condition, d *result.Diff, shown bool) (*result.Budget, error) {
	b := &result.Budget{Budget: cond.Text, Note: cond.Note, Status: StatusOK, Tasks: []result.Judged{}}
	for _, p := range c.pairs {
		if p.b == nil || !cond.judges(&p.b.tally) {
			continue
		}
		j := cond.broken(p, c)
		if len(d.B.Holes)+len(d.A.Holes) > 0 && j.Status == StatusOK {
			j.Status, j.Why = StatusUnreliable, "a recording has holes"
		}
		if j.Status == StatusFailed && shown && cond.Change && !p.shown(&cond.Measure) {
			j.Status, j.Why = StatusUnreliable, "no test shows it"
		}
		b.Tasks = append(b.Tasks, j)
		b.Status = worse(b.Status, j.Status)
	}
	if len(b.Tasks) == 0 {
		return nil, cond.nobody(&c.b.files[0].walked.Input)
	}
	sortJudged(b.Tasks)
	return b, nil
}

// broken judges a pair by a condition that must not hold.
func (c *Condition) broken(p *pair, in *comparison) result.Judged {
	j := c.take(&p.b.tally)
	switch {
	case p.a != nil:
		was := c.Measure.of(&p.a.tally)
		// Sums grow with the length of a recording: what was before is scaled to B's.
		if m := &c.Measure; m.Stat == Total || m.Stat == Waits || m.Stat == Misses {
			was.n = int64(float64(was.n) / float64(in.a.length()) * float64(in.b.length()))
		}
		j.Before = &was.n
		if c.Change {
			j.Limit = c.limitOf(was.n)
		}
		if j.Why == "" && was.why != "" {
			j.Why = "before: " + was.why
		}
	case c.Change:
		j.Status, j.Why = StatusUnreliable, "it waits in B only"
		return j
	}
	c.conclude(&j, &p.b.tally, false)
	return j
}

// shown reports whether a test shows that the measure changed, and nothing speaks against that
// test.
func (p *pair) shown(m *Measure) bool {
	var test *result.Difference
	switch {
	case m.Kind != "":
		for i := range p.out.Causes {
			if p.out.Causes[i].Kind == m.Kind {
				test = p.out.Causes[i].Test
			}
		}
	case m.Series != Wakeup:
	case m.Stat == Max:
		test = p.out.Wakeup.Max
	case m.Stat == Percentile && m.Num*2 == m.Den:
		test = p.out.Wakeup.P50
	case m.Stat == Percentile:
		test = p.out.Wakeup.P99
	}
	return test != nil && test.Note == "" && (test.Verdict == "higher" || test.Verdict == "lower")
}
