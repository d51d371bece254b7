package machine

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// Costs says how long the machine's own work takes, in ns. During that the CPU's
// interrupts are off and no thread's work goes on there. The zero Costs is free.
//
// Events are stamped at the beginning of what they tell: sched_switch before the pick and
// the switch are paid for, sched_wakeup before the enqueueing is, and an interrupt's events
// after its entry.
type Costs struct {
	Switch event.Time // a context switch
	IPI    event.Time // from sending an interrupt to its arrival at another CPU; that one does not notice
	Wake   event.Time // from the entry of a sleep timer's interrupt to the wake

	IRQ      event.Time // entry and exit of any interrupt, paid before it is served
	IdleExit event.Time // leaving the idle state, in front of an interrupt
	Tick     event.Time // a scheduler tick, without what the classes do
	Pick     event.Time // choosing the next task
	Enqueue  event.Time // putting a task into a queue
	Dequeue  event.Time // taking one out: paid after the switch to the next, as the pick is
	Migrate  event.Time // moving a task to another CPU: locks and lost caches
	// Instruction is what one instruction takes of the work in the fair class that Instructions
	// counts, in ns; 0: that is in the others.
	Instruction event.Time
	CoSwitch    event.Time // from Linux to the co-kernel or back; Config.CoKernel
	Search      event.Time // each CPU or task that is looked at on the way
}

// TypicalCosts are those of a server processor of about 3 GHz with caches that are warm,
// in round figures: a few microseconds from a timer to the thread. They are no
// measurement; who needs his own machine's measures them.
func TypicalCosts() Costs {
	return Costs{Switch: 900, IPI: 700, Wake: 500, IRQ: 600, IdleExit: 1000, Tick: 1200, Pick: 200, Enqueue: 150, Dequeue: 150, Migrate: 400, Search: 20, CoSwitch: 900}
}

// price is what the scheduler's work costs.
func (k *Costs) price(w *sched.Work) event.Time {
	return k.Switch*event.Time(w.Switches) + k.Pick*event.Time(w.Picks) + k.Enqueue*event.Time(w.Enqueues) + k.Dequeue*event.Time(w.Dequeues) +
		k.Migrate*event.Time(w.Migrations) + k.Search*event.Time(w.Searched) + k.Instruction*event.Time(allInstructions(w))
}

// charge lets c pay for what the scheduler did there.
func (m *Machine) charge(c event.CPU, w *sched.Work) {
	if c < 0 || m.cpus[c].co.active {
		return
	}
	price := event.Time(0)
	if !m.free {
		price = m.cfg.Costs.price(w)
	}
	if m.now >= m.countFrom {
		cp := &m.cpus[c]
		cp.putPrevs.count(w)
		cp.scheduler += price
	}
	m.spend(c, price)
}

// spend keeps c from everything else for ns.
func (m *Machine) spend(c event.CPU, ns event.Time) { m.spendFor(c, LayerOwn, ns) }

// spendFor is spend for what the layer says. Own work that is added to another adopts that.
func (m *Machine) spendFor(c event.CPU, what LayerKind, ns event.Time) {
	if ns <= 0 || c < 0 {
		return
	}
	m.pause(c)
	cp := &m.cpus[c]
	if cp.busy <= m.now {
		cp.own = what
	}
	cp.busy = max(cp.busy, m.now) + ns
	m.ask(c)
}
