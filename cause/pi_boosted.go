package cause

import (
	"fmt"
	"sort"

	"github.com/whylate/whylate/event"
)

// piBoosted: a task ran in front that of itself goes after the waiting one: it held a
// lock that a more important task wanted, and had inherited its priority.
//
// Shown and proven by: sched_pi_setprio raised the task, and the priority that it had
// before would not have kept the waiter out.
//
// Not this: a boosted task that would have gone first anyway; a holder whose boost is
// over, until the switch.
var piBoosted = Kind{
	Name:  "pi_boosted",
	Title: "priority inheritance",
	Needs: []event.Kind{event.SchedPISetprio},
	Best:  Proven,
}

func matchPIBoosted(p *piece) (Interval, bool) {
	if p.run == nil || !p.cur.boosted || p.cur.rank > p.waiter.rank || p.cur.baseRank <= p.waiter.rank {
		return Interval{}, false
	}
	i := p.ifInferred(p.blame(&piBoosted, Proven))
	i.Detail = fmt.Sprintf("raised from %s to %s by a lock that it holds", spoken(p.cur.base), spoken(p.cur.prio))
	changes := p.a.x.Tasks[p.run.Task].PrioChanges
	n := sort.Search(len(changes), func(i int) bool { return changes[i].At > p.from })
	if n > 0 {
		i.Evidence = append(i.Evidence, Ref{changes[n-1].At, p.cpu})
	}
	if n < len(changes) {
		i.Evidence = append(i.Evidence, Ref{changes[n].At, p.cpu})
	}
	return i, true
}
