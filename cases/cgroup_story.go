package cases

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// tellPasses tells of the longest wait of the nested variant what the balancer of CPUs that idled did
// meanwhile. That the CPUs idled is in the events; what the balancer compared is not, and no tracepoint
// tells it: the run is made once more, up to there.
func tellPasses(ctx context.Context, out *experiment.Outcome) (string, error) {
	for i := range out.Variants {
		if v := &out.Variants[i]; v.Name == "nested" && v.Worst != nil {
			passes, err := passesDuring(ctx, out.Setups[i], &v.Worst.Late)
			if err != nil {
				return "", err
			}
			return storyOf(&v.Worst.Late, passes), nil
		}
	}
	return "", nil
}

// looked is a pass of the balancer for a CPU.
type looked struct{ cpu, source event.CPU }

// passesDuring are the passes during a wait over domains that have the CPU where the task waited.
func passesDuring(ctx context.Context, setup *scenario.Setup, w *result.Late) ([]looked, error) {
	from := setup.Start + event.Time(w.WokenNS)
	to := from + event.Time(w.WaitNS)
	var list []looked
	until := *setup
	until.Until = to + 1
	p := scenario.Probe{Before: func(m *machine.Machine) {
		m.Sched.OnBalance(func(p *sched.BalancePass) {
			if p.At >= from && p.At <= to && slices.Contains(p.Span, event.CPU(w.CPU)) && p.Kind != sched.BalanceActive && p.Kind != sched.BalanceWake && len(p.Groups) > 0 {
				list = append(list, looked{p.CPU, p.Source})
			}
		})
	}}
	if err := p.Run(ctx, &until); err != nil {
		return nil, fmt.Errorf("looking at the balancer: %w", err)
	}
	return list, nil
}

// storyOf tells the wait, the CPUs that idled longest, and what their balancer chose.
func storyOf(w *result.Late, passes []looked) string {
	idle := slices.Clone(w.IdleElsewhere)
	sort.SliceStable(idle, func(i, j int) bool { return idle[i].NS > idle[j].NS })
	idle = slices.DeleteFunc(idle, func(e result.IdleElsewhere) bool { return e.NS*10 < w.WaitNS || e.CPU == w.CPU })
	if len(idle) == 0 {
		return "No CPU idled meanwhile for long."
	}
	var looks []string
	for i := range idle {
		var chosen []string
		for _, p := range passes {
			switch {
			case p.cpu != event.CPU(idle[i].CPU):
			case p.source == event.NoCPU:
				chosen = append(chosen, "none")
			default:
				chosen = append(chosen, fmt.Sprintf("CPU %d", p.source))
			}
		}
		if len(chosen) > 0 && len(looks) < 2 {
			looks = append(looks, fmt.Sprintf("for CPU %d the balancer looked %s and chose %s", idle[i].CPU, often(len(chosen)), inTurn(chosen)))
		}
	}
	if len(looks) == 0 {
		looks = []string{"for none of them the balancer looked"}
	}
	cpus := make([]string, 0, 3)
	for i := range min(len(idle), 3) {
		cpus = append(cpus, fmt.Sprintf("CPU %d for %s", idle[i].CPU, words(idle[i].NS)))
	}
	return fmt.Sprintf("%s/%d waited %s on CPU %d while %d others, on which it might have run, idled for a tenth of that or more (%s); %s.",
		w.Comm, w.PID, words(w.WaitNS), w.CPU, len(idle), strings.Join(cpus, ", "), strings.Join(looks, "; "))
}

func often(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// inTurn lists what was chosen one after the other: "CPU 5, then none twice".
func inTurn(chosen []string) string {
	var list []string
	for i := 0; i < len(chosen); {
		n := 1
		for i+n < len(chosen) && chosen[i+n] == chosen[i] {
			n++
		}
		text := chosen[i]
		if n > 1 {
			text += " " + often(n)
		}
		list, i = append(list, text), i+n
	}
	return strings.Join(list, ", then ")
}
