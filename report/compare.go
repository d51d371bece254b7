package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/whylate/whylate/result"
)

// Compare prints the answer of `whylate run --variant a,b`: a table with the tasks in each
// variant side by side, the measures, and why the longest wait of each was so long. Only
// writing to w can fail.
func Compare(w io.Writer, r *result.Compare, o Options) error {
	p := newPrinter(w, o)
	p.line("%s   %s", p.bold(escape(r.Scenario)), p.sampling(&r.Comparison))
	p.comparison(&r.Comparison)
	p.diagnostics(r.Diagnostics)
	return p.flush()
}

// sampling says how much was run, and whether seeds had anything to change: "2 variants · 10
// runs of each, with other seeds".
func (p *printer) sampling(c *result.Comparison) string {
	runs := int64(0)
	for i := range c.Variants {
		runs = max(runs, int64(c.Variants[i].Runs))
	}
	text := plural(int64(len(c.Variants)), "variant", "variants") + " · " + plural(int64(c.CPUs), "CPU", "CPUs")
	if !c.Random {
		return text + " · nothing random: one run of each, its numbers are exact"
	}
	if runs == 1 {
		return text + " · one run of each: nothing can be tested, --repeat runs more"
	}
	return text + " · " + count(runs) + " runs of each, with other seeds"
}

// comparison prints the tables of c.
func (p *printer) comparison(c *result.Comparison) {
	p.variedTasks(c)
	p.measures(c)
	p.worsts(c)
}

// mostVaried bounds the tasks of a table without All: a load has dozens, and those that
// matter come first.
const mostVaried = 12

// variedTasks prints a block of rows for each task, a row for each variant.
func (p *printer) variedTasks(c *result.Comparison) {
	keys := variedKeys(c)
	if len(keys) == 0 {
		return
	}
	hidden := 0
	if !p.All && len(keys) > mostVaried {
		hidden, keys = len(keys)-mostVaried, keys[:mostVaried]
	}
	first := c.Variants[0].Name
	head := []string{"TASK", "VARIANT", "AS", "WAITS", "P50", "P99", "MAX", "TIMER MAX", "MISSED", "MAX OF A RUN", "P99 AGAINST " + escape(first), "MAX AGAINST " + escape(first)}
	if !c.Random {
		head[9] = ""
	}
	rows := [][]string{head}
	for _, k := range keys {
		name := p.task(k.comm, k.pid)
		for i := range c.Variants {
			v := &c.Variants[i]
			if t := variedOf(v, k); t != nil {
				rows = append(rows, p.variedRow(name, v.Name, t, c.Random))
				name = ""
			}
		}
	}
	p.line("\n%s, %s", p.bold("wakeup waits"), p.unit())
	p.columns("", "lllrrrrrr", rows)
	if hidden > 0 {
		p.line("%s more; --task chooses, --all shows them", plural(int64(hidden), "task", "tasks"))
	}
}

type variedKey struct {
	comm string
	pid  int32
}

// variedKeys are the tasks of all variants in the order in which they are met.
func variedKeys(c *result.Comparison) []variedKey {
	var keys []variedKey
	have := make(map[variedKey]bool)
	for i := range c.Variants {
		for j := range c.Variants[i].Tasks {
			t := &c.Variants[i].Tasks[j]
			if k := (variedKey{t.Comm, t.PID}); !have[k] && t.Wakeup.Waits > 0 {
				have[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}

func variedOf(v *result.Variant, k variedKey) *result.Varied {
	for i := range v.Tasks {
		if t := &v.Tasks[i]; t.Comm == k.comm && t.PID == k.pid {
			return t
		}
	}
	return nil
}

func (p *printer) variedRow(name, variant string, t *result.Varied, random bool) []string {
	s := &t.Wakeup
	timer, misses := "-", "-"
	if t.Timer.Waits > 0 {
		timer, misses = p.number(t.Timer.MaxNS), count(t.Misses)+" of "+count(t.Timer.Waits)
	}
	spread := ""
	if random {
		spread = p.estimate(&t.RunMax)
	}
	return []string{name, escape(variant), classWord(t.Class, t.Prio), count(s.Waits), approximately(s) + p.number(s.P50NS),
		approximately(s) + p.number(s.P99NS), p.number(s.MaxNS), timer, misses, spread, p.difference(t.AgainstP99, p.number), p.difference(t.AgainstMax, p.number)}
}

// estimate prints a middle with where it lies: "12.3 (11.9–13.0)"; with too few runs for that
// "12.3 (11.9–13.0 seen)".
func (p *printer) estimate(e *result.Estimate) string { return spread(e, p.number) }

func spread(e *result.Estimate, number func(int64) string) string {
	switch {
	case e.Summary == "none":
		return "-"
	case e.Summary == "exact":
		return number(e.Center)
	case e.Confidence == 0:
		return fmt.Sprintf("%s (%s–%s seen)", number(e.Center), number(e.Low), number(e.High))
	}
	return fmt.Sprintf("%s (%s–%s, %d %%)", number(e.Center), number(e.Low), number(e.High), e.Confidence)
}

// difference prints what a test says: "−298.1 (p<0.001)", or that it says nothing, and from
// which difference on it would have.
func (p *printer) difference(d *result.Difference, number func(int64) string) string {
	if d == nil {
		return ""
	}
	change := number(d.Delta)
	if d.Delta > 0 {
		change = "+" + change
	}
	switch d.Verdict {
	case "exact_same":
		return "the same"
	case "exact_lower", "exact_higher":
		return change
	case "none_shown":
		text := "no difference shown ("
		if d.Test != "" {
			text += chance(d.P) + "; "
		}
		if d.Smallest != nil {
			return text + number(*d.Smallest) + " would have been)"
		}
		return text + escape(d.Note) + ")"
	}
	return change + " (" + chance(d.P) + ")"
}

func chance(p float64) string {
	if p < 0.001 {
		return "p<0.001"
	}
	return fmt.Sprintf("p=%.3f", p)
}

// mostIntervals is how many variants have room for their intervals in one table; Verbose
// prints them all.
const mostIntervals = 4

// measures prints a table of the named measures, a row for each measure.
func (p *printer) measures(c *result.Comparison) {
	if len(c.Measures) == 0 {
		return
	}
	head := []string{"MEASURE"}
	alignment := "l"
	for i := range c.Variants {
		head = append(head, escape(c.Variants[i].Name))
		alignment += "r"
	}
	rows := [][]string{head}
	for _, m := range c.Measures {
		row, some := []string{escape(m.Title)}, false
		for i := range c.Variants {
			cell := p.measure(&c.Variants[i], m.Name, p.Verbose || len(c.Variants) <= mostIntervals)
			some = some || cell != "-"
			row = append(row, cell)
		}
		if some {
			rows = append(rows, row)
		}
	}
	if len(rows) == 1 {
		return
	}
	p.line("")
	p.columns("", alignment, rows)
	if c.Random {
		p.line("~: no difference from %s shown", escape(c.Variants[0].Name))
	}
}

// measure prints one measure of a variant, with its interval where wanted; "-" where it has
// none.
func (p *printer) measure(v *result.Variant, name string, intervals bool) string {
	n, ok := v.Measures[name]
	if !ok {
		return "-"
	}
	number, unit := p.scale(name)
	text := number(n) + unit
	if e, ok := v.Spread[name]; ok && intervals {
		text = spread(&e, number) + unit
	}
	if d, ok := v.Against[name]; ok && d.Verdict == "none_shown" {
		text += " ~"
	}
	return text
}

// scale prints numbers of a measure by the unit at the end of its name, and says the unit.
func (p *printer) scale(name string) (number func(int64) string, unit string) {
	switch {
	case strings.HasSuffix(name, "_ns"):
		return p.number, " " + p.unit()
	case strings.HasSuffix(name, "_ns_per_mb"):
		return p.number, " " + p.unit() + "/MB"
	case strings.HasSuffix(name, "_ppm"):
		return hundredthsOfPercent, " %"
	case strings.HasSuffix(name, "_bytes_per_s"):
		return func(n int64) string { return count(n / 1000) }, " kB/s"
	}
	return count, ""
}

// hundredthsOfPercent is ppm as a percentage with two digits. The end of an interval may be below zero.
func hundredthsOfPercent(ppm int64) string {
	sign := ""
	if ppm <= -100 {
		sign = "-"
	}
	ppm = max(ppm, -ppm)
	return fmt.Sprintf("%s%d.%02d", sign, ppm/10_000, ppm%10_000/100)
}

// worsts prints for each variant what its longest wait was made of.
func (p *printer) worsts(c *result.Comparison) {
	some := false
	for i := range c.Variants {
		some = some || c.Variants[i].Worst != nil
	}
	if !some {
		return
	}
	p.line("\n%s", p.bold("the longest wait of each variant, explained from its events"))
	for i := range c.Variants {
		v := &c.Variants[i]
		l := v.Worst
		if l == nil {
			p.line("  %s: no task waited", escape(v.Name))
			continue
		}
		where := fmt.Sprintf("seed %d", l.Seed)
		if l.Trace != "" {
			where = escape(l.Trace)
		}
		p.line("  %s: %s for %s   (wait %s, %s)   %s", p.bold(escape(v.Name)), p.amount(l.LatenessNS), p.task(l.Comm, l.PID), escape(l.ID), where, p.verdict(l.Verdict))
		p.shares(&l.Late)
		if l.DueNS != nil && l.LatenessNS != l.WaitNS {
			p.line("     it was due %s before it was woken", p.amount(l.WokenNS-*l.DueNS))
		}
		p.needs(l.Needs, map[string]bool{})
	}
}
