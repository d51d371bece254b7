package machine

import "github.com/whylate/whylate/event"

// LayerKind says what covers the current task of a CPU: while a layer lies over it, the
// task is current and its work does not go on.
type LayerKind uint8

// The layers.
const (
	LayerTask     LayerKind = iota // none: the current task works, or the CPU is idle
	LayerOwn                       // the machine's own work that belongs to no interrupt: switches, picks, wakes
	LayerLocal                     // entering an interrupt: that of a timer, the tick, another CPU, or a device before its handler
	LayerIRQ                       // the handler of a device in interrupt context; IRQ and Name say which
	LayerSoftirq                   // softirqs in interrupt context, or where a task turned them on again; Vec says which
	LayerIdleExit                  // leaving an idle state
	LayerStolen                    // the hypervisor has taken the CPU away
)

// Layer is what covers the current task of a CPU. Two Layers are equal if nothing changed.
type Layer struct {
	Kind LayerKind
	IRQ  int64      // number of the interrupt line; LayerIRQ only, else 0
	Name event.Name // of its handler; LayerIRQ only
	Vec  int64      // event.SoftirqTimer …; LayerSoftirq only, else 0
}

// Layer is what covers the current task of c now. It holds until something happens: who
// wants to know all of them looks with Watch.
func (m *Machine) Layer(c event.CPU) Layer {
	cp := &m.cpus[c]
	switch {
	case cp.stolen > m.now:
		return Layer{Kind: LayerStolen}
	case cp.hard != nil:
		return Layer{Kind: LayerIRQ, IRQ: cp.hard.irq.Number, Name: cp.hard.name}
	case cp.script != nil && cp.script.hard != nil:
		return Layer{Kind: LayerIRQ, IRQ: cp.script.hard.Number, Name: cp.script.hard.Name}
	case cp.busy > m.now:
		return Layer{Kind: cp.own}
	case cp.soft != nil && cp.soft.inIRQ.begun:
		return Layer{Kind: LayerSoftirq, Vec: cp.soft.inIRQ.vec}
	case cp.script != nil && cp.script.inSoftirq():
		return Layer{Kind: LayerSoftirq, Vec: cp.script.soft[0].Number}
	case cp.handAt > m.now:
		return Layer{Kind: LayerOwn}
	}
	if th, _ := m.Sched.Curr(c).Data.(*Thread); th != nil && !m.rt() && th.pass != nil && th.pass.begun && !isDaemon(th) {
		return Layer{Kind: LayerSoftirq, Vec: th.pass.vec} // where it turned them on again
	}
	return Layer{}
}

// SoftirqBelow reports whether what covers the current task of c, an interrupt or the machine's
// own work, lies over a softirq, and the vector of that.
func (m *Machine) SoftirqBelow(c event.CPU) (vec int64, ok bool) {
	if cp := &m.cpus[c]; cp.soft != nil && cp.soft.inIRQ.begun {
		return cp.soft.inIRQ.vec, true
	} else if cp.script != nil && cp.script.inSoftirq() {
		return cp.script.soft[0].Number, true
	}
	if th, _ := m.Sched.Curr(c).Data.(*Thread); th != nil && !m.rt() && th.pass != nil && th.pass.begun && !isDaemon(th) {
		return th.pass.vec, true
	}
	return 0, false
}
