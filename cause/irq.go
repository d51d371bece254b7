package cause

import "github.com/whylate/whylate/event"

// irq: a hard interrupt was being served on the CPU.
//
// Shown and proven by: irq_handler_entry and irq_handler_exit, or the entry and exit
// events of an interrupt vector.
//
// Not this: an interrupt without events, such as the local timer where its vector events
// are not recorded: its time counts for the task that it interrupted. A threaded handler
// is a task.
var irq = Kind{
	Name:  "irq",
	Title: "interrupt",
	Needs: []event.Kind{event.IRQHandlerEntry},
	Best:  Proven,
}

func matchIRQ(p *piece) (Interval, bool) {
	if p.irq == nil {
		return Interval{}, false
	}
	i := p.interval(&irq, Proven)
	i.Comm = p.irq.Name
	i.Evidence = []Ref{{p.irq.From, p.cpu}, {p.irq.To, p.cpu}}
	return i, true
}
