package cause

import "github.com/whylate/whylate/event"

// samePrio: a real-time task of the same priority ran; it came first and nothing made it
// give way (SCHED_FIFO), or its time slice was not over (SCHED_RR).
//
// Proven and likely: as higher_prio.
//
// Not this: fair tasks, which take turns; deadline tasks, which go by their deadlines.
var samePrio = Kind{
	Name:  "same_prio",
	Title: "same priority",
	Needs: []event.Kind{event.SchedSwitch},
	Best:  Proven,
}

func matchSamePrio(p *piece) (Interval, bool) {
	if p.run == nil || p.cur.rank != p.waiter.rank || p.cur.class != p.waiter.class ||
		p.cur.class != ClassRT && p.cur.class != ClassStop {
		return Interval{}, false
	}
	return p.orItsExit(p.ifInferred(p.blame(&samePrio, Proven))), true
}
