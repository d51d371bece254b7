package whatif

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Condition is what somebody demands of the waits of a trace, as gate takes it, or what must
// not have become of them, as diff does: "hi25:p99.9<100us".
type Condition struct {
	Text string // as it was written
	Note string // of a budget file, for people
	// Task is a shell pattern of names; "": the usual choice, see Condition.judges.
	Task    string
	Measure Measure
	Op      Op
	// Limit is in ns, of counts a number; of a change in percent in hundredths of it.
	Limit   int64
	Change  bool // Limit is a difference between two traces, as in max>+100us
	Percent bool // it is a share of what was before, as in p99>+10%
}

// Series says which waits a measure is taken of.
type Series uint8

// The series. Lateness begins when a wake was due, where that is known, Response goes on from
// there until the task sleeps again: its waits and its work together.
const (
	Wakeup Series = iota
	Preempted
	Lateness
	Response
)

var seriesNames = []string{"wakeup", "preempted", "lateness", "response"}

// Measure is a number of a task's waits.
type Measure struct {
	Series Series
	Stat   Stat
	// Num and Den are the quantile of a Percentile: 999 and 1000 for p99.9.
	Num, Den int64
	Kind     string // of causes, where the measure is of these: rt_throttled
}

// Stat says which number.
type Stat uint8

// The numbers.
const (
	Percentile Stat = iota
	Max
	Mean
	Total // of causes without a word: rt_throttled is rt_throttled.total
	Waits // how many
	Misses
)

var statNames = []string{"p50", "max", "mean", "total", "waits", "deadline_misses"}

// Counts reports whether the measure is a number of things rather than ns.
func (m *Measure) Counts() bool { return m.Stat == Waits || m.Stat == Misses }

// Op compares a measure with its limit.
type Op uint8

// The comparisons, in the order in which they are looked for: longer ones first.
const (
	AtMost Op = iota
	AtLeast
	Equal
	Unequal
	Less
	Greater
)

var opTexts = []string{"<=", ">=", "==", "!=", "<", ">"}

// Holds compares a value with a limit.
func (o Op) Holds(value, limit int64) bool {
	switch o {
	case AtMost:
		return value <= limit
	case AtLeast:
		return value >= limit
	case Equal:
		return value == limit
	case Unequal:
		return value != limit
	case Less:
		return value < limit
	}
	return value > limit
}

// SyntaxError says where a condition cannot be understood.
type SyntaxError struct {
	Text string
	At   int // in bytes
	Msg  string
}

// Error shows the text with a mark below the place.
func (e *SyntaxError) Error() string {
	at := min(max(e.At, 0), len(e.Text))
	if strings.ContainsFunc(e.Text, func(r rune) bool { return r == utf8.RuneError || r < ' ' || r == 0x7f }) {
		return fmt.Sprintf("condition %q, at byte %d: %s", e.Text, at+1, e.Msg)
	}
	return fmt.Sprintf("condition %s: %s\n    %s\n    %s^", e.Text, e.Msg, e.Text, strings.Repeat(" ", utf8.RuneCountInString(e.Text[:at])))
}

// mostCondition bounds a condition: longer ones are no mistake of somebody who types.
const mostCondition = 1000

// ParseCondition reads a condition:
//
//	[TASK:][SERIES.]STAT OP LIMIT     hi25:p99.9<100us  preempted.max<1ms
//	[TASK:]CAUSE[.STAT] OP LIMIT      rt_throttled==0   'ctl-*:irq.max<50us'
//	[TASK:]deadline_misses OP N
//
// TASK is a shell pattern of names, SERIES wakeup (the usual one), preempted, lateness or
// response, STAT one of p50 to p99.999, max, mean, total, waits, OP one of < <= > >= == !=.
// LIMIT has a unit, ns, us, ms or s, else it is µs; of waits and misses it is a number. With
// a sign it is a change between two traces: p99>+10%, max>+100us. Errors are *SyntaxError.
func ParseCondition(text string) (*Condition, error) {
	p := &conditionParser{text: text}
	c := &Condition{Text: strings.TrimSpace(text)}
	if len(text) > mostCondition {
		return nil, &SyntaxError{Text: text[:20] + "…", At: 20, Msg: fmt.Sprintf("longer than %d bytes", mostCondition)}
	}
	from := 0
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		c.Task = strings.TrimSpace(text[:i])
		if err := checkPattern(c.Task); err != nil {
			return nil, p.fail(0, "%v", err)
		}
		from = i + 1
	}
	at, length, op := findOp(text[from:])
	if length == 0 {
		return nil, p.fail(len(text), "nothing is compared; write p99<100us or rt_throttled==0")
	}
	c.Op = op
	if err := p.measure(&c.Measure, from, from+at); err != nil {
		return nil, err
	}
	return c, p.limit(c, from+at+length)
}

// checkPattern refuses a pattern that matches nothing.
func checkPattern(s string) error {
	if s == "" {
		return fmt.Errorf("no task before the colon; leave the colon out, or name all with '*:'")
	}
	if _, err := path.Match(s, ""); err != nil {
		return fmt.Errorf("%q is no shell pattern", s)
	}
	return nil
}

// findOp finds the comparison in s: its place, its length in bytes (0: there is none).
func findOp(s string) (at, length int, op Op) {
	at = strings.IndexAny(s, "<>=!≤≥")
	if at < 0 {
		return 0, 0, 0
	}
	for word, op := range map[string]Op{"≤": AtMost, "≥": AtLeast} {
		if strings.HasPrefix(s[at:], word) {
			return at, len(word), op
		}
	}
	for i, word := range opTexts {
		if strings.HasPrefix(s[at:], word) {
			return at, len(word), Op(i)
		}
	}
	if s[at] == '=' {
		return at, 1, Equal // what people mean by a single one
	}
	return at, 0, 0
}

// Matches reports whether the condition names the task; with no pattern it names all.
func (c *Condition) Matches(comm string) bool {
	if c.Task == "" || c.Task == comm {
		return true
	}
	ok, err := path.Match(c.Task, comm)
	return ok && err == nil
}

// limitOf is the limit for a value that was before before; before is 0 for absolute limits.
func (c *Condition) limitOf(before int64) int64 {
	switch {
	case c.Percent:
		return before + int64(float64(before)*float64(c.Limit)/10_000)
	case c.Change:
		return before + c.Limit
	}
	return c.Limit
}
