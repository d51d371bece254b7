package cause

import "github.com/whylate/whylate/event"

// fairTurn: another fair task had its turn. Which of them is next depends on weights and
// run times that no event shows, so this tells who ran, not that it was wrong.
//
// Proven: the switches around it are seen without a gap. Likely: its class changed in
// this run without an event.
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
	return p.orItsExit(p.ifInferred(p.blame(&fairTurn, Proven))), true
}
