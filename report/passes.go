package report

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/result"
)

// mostPasses is how many looks of the balancer a wait prints; Verbose has no such bound.
const mostPasses = 8

// passes prints the looks of the load balancer that could have ended a wait: how many of whom, and of
// each what it saw and chose.
func (p *printer) passes(l *result.Late) {
	n := l.PassesN
	if n == 0 {
		return
	}
	p.line("     %s of the balancer could have ended it: %s", plural(int64(n), "look", "looks"), lookers(l.BalancePasses))
	most := len(l.BalancePasses)
	if !p.Verbose {
		most = min(most, mostPasses)
	}
	var rows [][]string
	for i := range l.BalancePasses[:most] {
		x := &l.BalancePasses[i]
		who := fmt.Sprintf("CPU %d %s", x.CPU, escape(x.Kind))
		if x.By != x.CPU {
			who += fmt.Sprintf(" by CPU %d", x.By)
		}
		rows = append(rows, []string{"+" + p.amount(x.AtNS-l.WokenNS), who, strings.TrimSpace(escape(x.Domain) + " " + p.passed(x))})
	}
	p.columns("       ", "r", rows)
	if more := n - most; more > 0 {
		p.line("       %s more; -v lists them", count(int64(more)))
	}
}

// lookers counts the passes by the CPU for which they looked, in the order of their first one.
func lookers(list []result.BalancePass) string {
	var cpus []int32
	n := map[int32]int{}
	for i := range list {
		if n[list[i].CPU]++; n[list[i].CPU] == 1 {
			cpus = append(cpus, list[i].CPU)
		}
	}
	words := make([]string, 0, len(cpus))
	for _, c := range cpus {
		words = append(words, fmt.Sprintf("CPU %d %s", c, times(n[c])))
	}
	if len(words) > mostIdle+1 {
		words = append(words[:mostIdle], fmt.Sprintf("%d more CPUs", len(words)-mostIdle))
	}
	return strings.Join(words, ", ")
}

// passed says what a pass saw of the CPU where the task waited, and what it chose instead.
func (p *printer) passed(x *result.BalancePass) string {
	why := ""
	if x.Why != "" {
		why = ": " + escape(x.Why)
	}
	switch x.Missed {
	case "taken":
		return "took it"
	case "balanced":
		return "saw no imbalance" + why
	case "other_task":
		return fmt.Sprintf("chose CPU %d, where it waited, and took %s", x.WaitedOn, pids(x.Moved))
	case "not_moved":
		return fmt.Sprintf("chose CPU %d, where it waited, and took nothing%s", x.WaitedOn, why)
	}
	text := fmt.Sprintf("chose CPU %d", x.Source)
	if x.Source < 0 {
		text = "chose no CPU"
	}
	if x.Missed == "other_queue" {
		text += queues(x)
	} else {
		text += groups(x)
	}
	if len(x.Moved) > 0 {
		return text + ", took " + pids(x.Moved)
	}
	return text + why
}

// queues compares the CPU that was chosen with that where the task waited.
func queues(x *result.BalancePass) string {
	text := ""
	for _, c := range []int32{x.Source, x.WaitedOn} {
		for i := range x.Queues {
			q := &x.Queues[i]
			switch {
			case q.CPU != c:
				continue
			case c == x.Source:
				text += fmt.Sprintf(" (load %s, %d running)", count(q.Load), q.Running)
			default:
				text += fmt.Sprintf("; CPU %d: load %s, %d running", c, count(q.Load), q.Running)
			}
			break
		}
	}
	return text
}

// groups compares the group that was chosen with that where the task waited.
func groups(x *result.BalancePass) string {
	text := ""
	if x.Busiest >= 0 && x.Busiest < len(x.Groups) {
		text = " in " + groupWords(&x.Groups[x.Busiest])
	}
	for i := range x.Groups {
		g := &x.Groups[i]
		if i == x.Busiest || !inList(g.CPUs, x.WaitedOn) {
			continue
		}
		if g.Local {
			return text + "; it waited in the group that looked, " + groupWords(g)
		}
		return text + "; it waited in " + groupWords(g)
	}
	return text
}

func groupWords(g *result.BalanceGroup) string {
	return fmt.Sprintf("{%s} (%s, load %s, %d running, %d idle)", escape(g.CPUs), escape(g.Type), count(g.Load), g.Running, g.Idle)
}

// inList reports whether a list of CPUs as the kernel prints it has c.
func inList(list string, c int32) bool {
	for _, part := range strings.Split(list, ",") {
		var a, b int32
		n, _ := fmt.Sscanf(part, "%d-%d", &a, &b)
		if n == 1 {
			b = a
		}
		if n > 0 && a <= c && c <= b {
			return true
		}
	}
	return false
}

// pids lists some tasks by their numbers.
func pids(list []int32) string {
	words := make([]string, 0, len(list))
	for _, pid := range list {
		words = append(words, fmt.Sprint(pid))
	}
	if len(words) > 4 {
		words = append(words[:4], fmt.Sprintf("%d more", len(words)-4))
	}
	return strings.Join(words, ", ")
}
