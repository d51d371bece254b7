package whatif

import (
	"fmt"

	"github.com/whylate/whylate/result"
)

// The words for what came of a condition, the best first.
const (
	StatusOK         = "ok"
	StatusUnreliable = "unreliable"
	StatusFailed     = "failed"
)

// worse returns the worse of two words.
func worse(a, b string) string {
	for _, s := range []string{StatusFailed, StatusUnreliable} {
		if a == s || b == s {
			return s
		}
	}
	return StatusOK
}

// value is a measure of a row.
type value struct {
	n       int64 // ns, or a number of things
	waits   int64 // of which it was taken
	wait    string
	atLeast bool
	why     string // it is worth little because; "": it is not
}

// measure takes the measure of t.
func (m *Measure) of(t *tally) value {
	switch {
	case m.Kind != "":
		return m.ofKind(t)
	case m.Stat == Misses:
		return ofMisses(t)
	}
	s := &t.series[m.Series]
	worst := t.worst[m.Series]
	v := value{waits: s.Count(), wait: worst.id}
	switch m.Stat {
	case Percentile:
		v.n, _ = s.Percentile(m.Num, m.Den)
		v.why = m.tooFew(v.waits)
	case Max:
		v.n = s.Max()
		// A wait that has not ended is as long as that at least.
		if m.Series <= Preempted && t.open[m.Series].ns > v.n {
			v.n, v.wait, v.atLeast = t.open[m.Series].ns, t.open[m.Series].id, true
		}
	case Mean:
		v.n = s.Total() / max(s.Count(), 1)
	case Total:
		v.n = s.Total()
	case Waits:
		v.n = s.Count()
	}
	switch {
	case v.why != "" || m.Stat == Waits:
	case t.untrusted > 0:
		v.why = fmt.Sprintf("events were lost during %s", waits(t.untrusted))
	case v.waits == 0 && !v.atLeast:
		v.why = "no such waits"
	}
	return v
}

// tooFew says that n waits are too few for the percentile: the slowest 1 in 1,000 cannot be
// told among less than 1,000.
func (m *Measure) tooFew(n int64) string {
	beyond := m.Den - m.Num
	if beyond == 0 {
		return ""
	}
	if need := (m.Den + beyond - 1) / beyond; n < need {
		return fmt.Sprintf("n=%d needs %d", n, need)
	}
	return ""
}

func (m *Measure) ofKind(t *tally) value {
	v := value{waits: t.series[Wakeup].Count() + t.series[Preempted].Count()}
	k := t.kinds[m.Kind]
	if k != nil {
		v.wait = k.most.id
		switch m.Stat {
		case Total:
			v.n = k.ns
		case Max:
			v.n = k.most.ns
		case Waits:
			v.n = k.waits
		case Mean:
			v.n = k.ns / max(k.waits, 1)
		}
	}
	if t.untrusted > 0 && m.Kind != "unknown" {
		v.why = fmt.Sprintf("events were lost during %s", waits(t.untrusted))
	}
	return v
}

func ofMisses(t *tally) value {
	missed, jobs, worst, known := t.misses()
	v := value{n: missed, waits: jobs, wait: worst.id}
	switch {
	case !known:
		v.why = "no timer shows a period; demand response.max<… instead"
	case t.untrusted > 0:
		v.why = fmt.Sprintf("events were lost during %s", waits(t.untrusted))
	}
	return v
}

func waits(n int64) string {
	if n == 1 {
		return "1 wait"
	}
	return fmt.Sprintf("%d waits", n)
}

// judges reports whether the condition is asked of the row. Without a name, numbers of waits
// are asked of the deadline and real-time user tasks that have such waits, misses of every task
// whose period is known, causes of every task.
func (c *Condition) judges(t *tally) bool {
	if c.Task != "" {
		return c.Matches(t.row.Comm) || t.row.Group != "" && c.Matches(t.row.Group)
	}
	switch {
	case c.Measure.Kind != "":
		return true
	case c.Measure.Stat == Misses:
		_, _, _, known := t.misses()
		return known
	case c.Measure.Stat == Waits:
		return t.row.User
	}
	v := c.Measure.of(t)
	return t.row.User && (v.waits > 0 || v.atLeast || t.untrusted > 0)
}

// judge asks the condition of one row.
func (c *Condition) judge(t *tally) result.Judged {
	j := c.take(t)
	c.conclude(&j, t, true)
	return j
}

// take measures the row.
func (c *Condition) take(t *tally) result.Judged {
	v := c.Measure.of(t)
	j := result.Judged{Comm: t.row.Comm, PID: t.row.PID, Class: t.row.Class, Prio: t.row.Prio, Group: t.row.Group,
		Unit: "ns", Value: v.n, Limit: c.Limit, Waits: v.waits, Why: v.why, Wait: v.wait, AtLeast: v.atLeast}
	if c.Measure.Counts() {
		j.Unit = "count"
	}
	return j
}

// conclude says what came of it: must is whether the condition has to hold, or has not to.
func (c *Condition) conclude(j *result.Judged, t *tally, must bool) {
	if j.Why == "" {
		j.Why = c.unexplained(t, j, must)
	}
	switch {
	case c.Op.Holds(j.Value, j.Limit) != must:
		j.Status = StatusFailed
	case j.Why != "":
		j.Status = StatusUnreliable
	default:
		j.Status = StatusOK
	}
}

// unexplained says that the answer on a kind of cause would be another if what has no known
// cause were of that kind.
func (c *Condition) unexplained(t *tally, j *result.Judged, must bool) string {
	k := t.kinds["unknown"]
	if k == nil || c.Measure.Kind == "" || c.Measure.Kind == "unknown" {
		return ""
	}
	more := map[Stat]int64{Total: k.ns, Max: k.most.ns, Waits: k.waits, Mean: k.ns / max(k.waits, 1)}[c.Measure.Stat]
	if c.Op.Holds(j.Value, j.Limit) != must || c.Op.Holds(j.Value+more, j.Limit) == must {
		return ""
	}
	return fmt.Sprintf("%s of its waiting have no known cause; `whylate info` names the events that would tell", micros(k.ns))
}

// micros prints ns for a sentence.
func micros(ns int64) string { return fmt.Sprintf("%d.%d µs", ns/1000, ns%1000/100) }
