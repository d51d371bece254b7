package cause

import "github.com/whylate/whylate/event"

// fairTurn: another fair task had its turn. Which of them is next depends on weights and
// run times that no event shows, so this tells who ran, not that it was wrong.
//
// Proven: the switches around it are seen without a gap. Likely: its class changed in
// this run without an event, or a bandwidth timer of fair groups expired during the wait, so
// that the waiter's group may have had no quota for a part of it; not where the machine's
// snapshot says that it has none, or it used clearly less.
//
// Not this: a real-time or deadline task (higher_prio).
var fairTurn = Kind{
	Name:  "fair_turn",
	Title: "others' fair turn",
	Needs: []event.Kind{event.SchedSwitch},
	Best:  Proven,
}

func matchFairTurn(p *piece) (Interval, bool) {
	if p.run == nil || p.cur.class != ClassFair || p.waiter.class != ClassFair {
		return Interval{}, false
	}
	i := p.ifInferred(p.blame(&fairTurn, Proven))
	if p.a.quotaTimerIn(p.w.Woken, p.w.End) && !p.a.spared(p.w.Task.ID, p.to-1) {
		i.Verdict = Likely
		i.Detail = "or its group had no quota: bandwidth timers run"
		i.Needs = append(i.Needs, "snapshot of cpu.max and cpu.stat")
	}
	return p.orItsExit(i), true
}
