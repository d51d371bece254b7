package replay

// startLines lets interrupts come at their recorded times. What they take and whether their
// device waits for its service is not looked at.
func (r *runner) startLines() error {
	for i := range r.load.Lines {
		r.arrive(&r.load.Lines[i], 0)
	}
	return nil
}

// arrive lets arrival n of a line come, and then the next one.
func (r *runner) arrive(l *Line, n int) {
	if n >= len(l.Arrivals) {
		return
	}
	a := &l.Arrivals[n]
	cpu := a.CPU
	if cpu < 0 || int(cpu) >= r.m.CPUs() {
		cpu = 0
	}
	r.m.Interrupt(r.model(max(a.At+a.NS, r.load.From)), cpu, func() {
		for _, t := range a.Wakes {
			if t >= 0 && t < len(r.threads) {
				r.post(cpu, t)
			}
		}
		r.arrive(l, n+1)
	})
}
