package scenario

import "fmt"

// qemuCosts are those of the emulated machine of the recordings: one instruction is one ns,
// and tracing is on, so an event costs as much as a small function. costs_fit_test.go gets
// the figures from recordings and compares. Those machines had one CPU: what happens
// between CPUs, and fork, exec and page faults, are those of the typical table.
func qemuCosts(profile string) (Costs, error) {
	c := DefaultCosts()
	m, k := &c.Machine, &c.Kernel
	m.Dequeue = 0 // is in Op
	switch profile {
	case "6.1":
		m.IRQ, m.IdleExit, m.Wake, m.Enqueue, m.Switch, m.Tick, c.Op = 650, 150, 660, 4430, 1160, 3110, 2020
		k.Exit, k.ExitMM, k.ExitPage, k.ExitFree = 11_370, 255_750, 1476, 506
	case "6.1-rt":
		m.IRQ, m.IdleExit, m.Wake, m.Enqueue, m.Switch, m.Tick, c.Op = 670, 150, 670, 4400, 1140, 3170, 2080
		k.Exit, k.ExitMM, k.ExitPage, k.ExitFree = 14_090, 296_920, 2092, 113
	case "6.12":
		m.IRQ, m.IdleExit, m.Wake, m.Enqueue, m.Switch, m.Tick, c.Op = 660, 160, 680, 4400, 1230, 3210, 2030
		k.Exit, k.ExitMM, k.ExitPage, k.ExitFree = 11_900, 246_480, 1063, 673
	case "6.12-rt":
		m.IRQ, m.IdleExit, m.Wake, m.Enqueue, m.Switch, m.Tick, c.Op = 670, 160, 680, 4330, 1180, 3230, 2080
		k.Exit, k.ExitMM, k.ExitPage, k.ExitFree = 11_540, 304_680, 1860, 100
	default:
		return c, fmt.Errorf("nothing was recorded of kernel %s", profile)
	}
	k.ExitVMA = 0           // is in ExitMM
	k.ExitDrain = 3_855_000 // pgd_free of a dead task's memory, recorded with functions on 6.1
	k.CoreMB = 1_563_000    // 100,032 µs for 64 MB, recorded with functions on 6.1-rt
	return c, nil
}
