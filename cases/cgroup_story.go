package cases

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
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

// passesDuring are the passes that could have ended a wait.
func passesDuring(ctx context.Context, setup *scenario.Setup, w *result.Late) ([]result.BalancePass, error) {
	src, err := scenario.NewSource(setup)
	if err != nil {
		return nil, fmt.Errorf("looking at the balancer: %w", err)
	}
	r := &result.Explain{Input: result.Input{StartNS: int64(setup.Start)}, Late: []result.Late{*w}}
	if err := experiment.TellPasses(src, r, ctx.Err); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(r.Late[0].BalancePasses, func(p result.BalancePass) bool {
		return p.Kind == "active" || len(p.Groups) == 0
	}), nil
}

// storyOf tells the wait, the CPUs that idled longest, and what their balancer chose.
func storyOf(w *result.Late, passes []result.BalancePass) string {
	idle := slices.Clone(w.IdleElsewhere)
	sort.SliceStable(idle, func(i, j int) bool { return idle[i].NS > idle[j].NS })
	idle = slices.DeleteFunc(idle, func(e result.IdleElsewhere) bool { return e.NS*10 < w.WaitNS || e.CPU == w.CPU })
	if len(idle) == 0 {
		return "No CPU idled meanwhile for long."
	}
	var looks []string
	for i := range idle {
		var chosen []string
		for j := range passes {
			p := &passes[j]
			switch {
			case p.CPU != idle[i].CPU:
			case p.Source < 0:
				chosen = append(chosen, "none")
			default:
				chosen = append(chosen, fmt.Sprintf("CPU %d", p.Source))
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
	others := "another"
	if len(idle) > 1 {
		others = fmt.Sprintf("%d others", len(idle))
	}
	return fmt.Sprintf("%s/%d waited %s on CPU %d while %s, on which it might have run, idled for a tenth of that or more (%s); %s.",
		w.Comm, w.PID, words(w.WaitNS), w.CPU, others, strings.Join(cpus, ", "), strings.Join(looks, "; "))
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
