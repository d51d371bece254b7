package scenario

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// qemuCosts are those of the emulated machine of the recordings: one instruction is one ns,
// and tracing is on, so an event costs as much as a small function. costs_fit_test.go gets
// the figures from recordings and compares. Those machines had one CPU: what happens
// between CPUs is that of the typical table.
func qemuCosts(profile string) (Costs, error) {
	k := machine.TypicalCosts()
	k.Dequeue = 0 // is in Op
	c := Costs{Slack: 50_000}
	set := func(irq, idleExit, wake, enqueue, swtch, tick, op event.Time) (Costs, error) {
		k.IRQ, k.IdleExit, k.Wake, k.Enqueue, k.Switch, k.Tick = irq, idleExit, wake, enqueue, swtch, tick
		c.Machine, c.Op = k, op
		return c, nil
	}
	switch profile {
	case "6.1":
		return set(650, 150, 660, 4430, 1160, 3110, 2020)
	case "6.1-rt":
		return set(670, 150, 670, 4400, 1140, 3170, 2080)
	case "6.12-rt":
		return set(670, 160, 680, 4330, 1180, 3230, 2080)
	}
	return c, fmt.Errorf("nothing was recorded of kernel %s", profile)
}
