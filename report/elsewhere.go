package report

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/result"
)

// mostIdle is how many idle CPUs are named without Verbose: a large machine has hundreds.
const mostIdle = 4

// longIdle is from when on it is told of a CPU, in ns, that it idled without a sign of balancing:
// ticks are no closer than that.
const longIdle = 1_000_000

// idleElsewhere prints on which CPUs the task might have run instead, and what the balancer did for
// the one that idled longest; with Verbose for each.
func (p *printer) idleElsewhere(in *result.Input, l *result.Late) {
	list := l.IdleElsewhere
	if len(list) == 0 {
		return
	}
	most := len(list)
	if !p.Verbose {
		most = min(most, mostIdle)
	}
	words := make([]string, 0, most+1)
	for _, c := range list[:most] {
		verdict := escape(c.Verdict)
		if verdict == "unknown" {
			verdict += ": woken elsewhere although it idled; may be not allowed there"
		}
		words = append(words, fmt.Sprintf("%s %s (%s)", cpuWord(c.CPU), p.amount(c.NS), verdict))
	}
	if more := len(list) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	p.line("     meanwhile idle: %s", strings.Join(words, ", "))
	if !p.Verbose {
		if b := list[0].Balancing; b != nil && (b.Softirqs+b.ByOthers+b.Pulls > 0 || list[0].NS >= longIdle) {
			p.line("     %s %s; %s", cpuWord(list[0].CPU), p.since(l, &list[0]), p.balancing(l, b))
		}
		return
	}
	for i := range list {
		e := &list[i]
		text := fmt.Sprintf("%s %s", cpuWord(e.CPU), p.since(l, e))
		if e.SinceNS != nil {
			text += ", at " + p.clock(in.StartNS+*e.SinceNS) + " s"
		}
		if e.Stays > 1 {
			text += ", " + times(e.Stays)
		}
		if e.Balancing != nil {
			text += "; " + p.balancing(l, e.Balancing)
		}
		p.line("     %s", text)
		for _, line := range e.Evidence {
			p.line("           %s", p.paint(ansiDim, escape(line)))
		}
	}
}

// since says from when on a CPU idled, seen from the beginning of the wait.
func (p *printer) since(l *result.Late, e *result.IdleElsewhere) string {
	switch {
	case e.SinceNS == nil:
		return "had idled since before the trace shows"
	case *e.SinceNS <= l.WokenNS:
		return "had idled for " + p.amount(l.WokenNS-*e.SinceNS) + " by then"
	}
	return "idled from " + p.amount(*e.SinceNS-l.WokenNS) + " on"
}

// balancing says in a few words what shows of the balancer at work for an idle CPU.
func (p *printer) balancing(l *result.Late, b *result.Balancing) string {
	var words []string
	if b.Softirqs > 0 {
		words = append(words, "its balancing softirq ran "+times(b.Softirqs))
	}
	if b.ByOthers > 0 {
		cpus := make([]string, 0, len(b.Others))
		for _, c := range b.Others {
			cpus = append(cpus, fmt.Sprint(c))
		}
		of := "that of"
		if b.Softirqs == 0 {
			of = "the balancing softirq of"
		}
		words = append(words, fmt.Sprintf("%s idle CPU %s ran %s, for it too perhaps", of, strings.Join(cpus, ", "), times(b.ByOthers)))
	}
	switch {
	case len(b.Needs) > 0:
		words = append(words, "whether its balancing softirq ran was not recorded ("+strings.Join(escapeAll(b.Needs), ", ")+")")
	case len(words) == 0:
		words = append(words, "no balancing of it shows")
	}
	if len(b.Pulled) > 0 {
		first, who := &b.Pulled[0], "this task"
		if first.PID != l.PID {
			who = p.task(first.Comm, first.PID)
		}
		text := fmt.Sprintf("it got %s from CPU %d", who, first.FromCPU)
		if b.Pulls > 1 {
			text += fmt.Sprintf(" and %d more", b.Pulls-1)
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}

// times says how often.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return count(int64(n)) + " times"
}

// escapeAll is escape for a list.
func escapeAll(list []string) []string {
	clean := make([]string, len(list))
	for i, s := range list {
		clean[i] = escape(s)
	}
	return clean
}
