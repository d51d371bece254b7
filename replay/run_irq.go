package replay

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// lines are the interrupts of a run.
type lines struct {
	// after are the sleeps that arrivals wait for; looked up only.
	after map[sleepKey]*starter
}

// starter is a sleep that arrivals wait for: who does, or when it was reached.
type starter struct {
	by      []*arriving
	reached event.Time // on the machine's clock, NoTime: not yet
}

// sleepKey names a sleep of a task: by when it began in the recording.
type sleepKey struct {
	task  int
	slept event.Time
}

// arriving is an arrival of a run; it is the handler of that interrupt.
type arriving struct {
	run      *runner
	irq      machine.Scripted
	of       int // the index of its line
	arrival  *Arrival
	next     *arriving // of its line, in time; nil: none
	follower *arriving // the softirq that is done at its end
	planned  bool
	entered  bool
	done     int // of its Wakes
	worked   event.Time
}

// startLines lets interrupts come: at their recorded times, at the end of the one before, or
// when their device has been served or asked.
func (r *runner) startLines() {
	r.lines.after = make(map[sleepKey]*starter)
	var all []*arriving
	for i := range r.load.Lines {
		l := &r.load.Lines[i]
		arrivals := make([]arriving, len(l.Arrivals))
		for j := range l.Arrivals {
			if after := l.Arrivals[j].After; after != nil && after.Task >= 0 {
				r.lines.after[sleepKey{after.Task, after.Slept}] = &starter{reached: event.NoTime}
			}
			a := &arrivals[j]
			*a = arriving{run: r, of: i, arrival: &l.Arrivals[j]}
			a.irq = machine.Scripted{CPU: r.cpuOf(a.arrival), Number: l.Number, Name: l.Name, Softirq: l.Softirq, Handler: a}
			all = append(all, a)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].arrival.At < all[j].arrival.At })
	onCPU := make([]*arriving, r.m.CPUs()) // the newest on each
	first, newest := make([]*arriving, len(r.load.Lines)), make([]*arriving, len(r.load.Lines))
	for _, a := range all {
		before := onCPU[a.irq.CPU]
		onCPU[a.irq.CPU] = a
		switch {
		case a.arrival.Follows && before != nil:
			before.follower = a
			continue
		case first[a.of] == nil:
			first[a.of] = a
		default:
			newest[a.of].next = a
		}
		newest[a.of] = a
	}
	for _, a := range first {
		a.plan()
	}
}

// cpuOf is where an arrival is sent to.
func (r *runner) cpuOf(a *Arrival) event.CPU {
	if a.CPU < 0 || int(a.CPU) >= r.m.CPUs() {
		return 0
	}
	return a.CPU
}

// plan lets a come when it is time for it, and what comes behind it in its line too. Those
// that wait for a task, or for the handler before, keep nobody waiting who does not.
func (a *arriving) plan() {
	for ; a != nil && !a.planned; a = a.next {
		switch after := a.arrival.After; {
		case after != nil && after.Task < 0:
			return // its line says so at the end of the one before
		case after != nil && a.run.willSleep(after):
			a.planned = true
			w := a.run.lines.after[sleepKey{after.Task, after.Slept}]
			if w.reached != event.NoTime {
				a.raise(max(w.reached+after.Gap, a.run.m.Now())) // the task was faster than the one before
			} else {
				w.by = append(w.by, a)
			}
		default:
			a.planned = true
			a.raise(a.run.model(max(a.arrival.At, a.run.load.From)))
			return
		}
	}
}

// willSleep reports whether the task of after still has that sleep before it.
func (r *runner) willSleep(after *After) bool {
	if after.Task >= len(r.threads) {
		return false
	}
	t := r.threads[after.Task].task
	began := t.Begin == BeginBlocked && len(t.Ops) > 0 && t.Ops[0].Slept == after.Slept
	return !t.Removed && !began
}

// reaches takes in that p goes to sleep for op.
func (r *runner) reaches(p *thread, op *Op) {
	w := r.lines.after[sleepKey{p.index, op.Slept}]
	if w == nil {
		return
	}
	w.reached = r.m.Now()
	for _, a := range w.by {
		a.raise(w.reached + a.arrival.After.Gap)
	}
	w.by = nil
}

// raise raises the interrupt.
func (a *arriving) raise(at event.Time) { a.run.m.Raise(at, &a.irq) }

// Next lets the handler work up to its next wake, which comes then.
func (a *arriving) Next(_ *machine.Machine, c event.CPU) (event.Time, bool) {
	if !a.entered {
		a.entered = true
		a.next.plan()
	}
	for ; a.done < len(a.arrival.Wakes); a.done++ {
		at := a.wakeAt(a.done)
		if at > a.arrival.NS {
			break
		}
		if ns := at - a.worked; ns > 0 {
			a.worked = at
			return ns, true
		}
		a.wake(c)
	}
	if ns := a.arrival.NS - a.worked; ns > 0 {
		a.worked = a.arrival.NS
		return ns, true
	}
	if f := a.follower; f != nil {
		f.raise(a.run.m.Now())
	}
	return 0, false
}

// wakeAt is how much is done before wake i.
func (a *arriving) wakeAt(i int) event.Time {
	if i >= len(a.arrival.WakeAt) {
		return a.arrival.NS
	}
	return max(a.arrival.WakeAt[i], 0)
}

// wake makes the wake that comes.
func (a *arriving) wake(c event.CPU) {
	if t := a.arrival.Wakes[a.done]; t >= 0 && t < len(a.run.threads) {
		a.run.post(c, t)
	}
}

// Left makes the wakes behind the exit.
func (a *arriving) Left(m *machine.Machine, c event.CPU) {
	for ; a.done < len(a.arrival.Wakes); a.done++ {
		a.wake(c)
	}
	if n := a.next; n != nil && n.arrival.After != nil && n.arrival.After.Task < 0 {
		n.raise(m.Now() + n.arrival.After.Gap)
	}
}

// startStopped lets CPUs stand still when they did, and the throttling of real-time tasks be
// where it was.
func (r *runner) startStopped() {
	l := r.load
	for _, s := range l.Stolen {
		if s.CPU >= 0 && int(s.CPU) < r.m.CPUs() {
			r.m.StealAt(s.CPU, r.model(max(s.From, l.From)), r.model(min(s.To, l.To)))
		}
	}
	for _, s := range l.Late {
		if s.CPU >= 0 && int(s.CPU) < r.m.CPUs() {
			r.m.HoldTimers(s.CPU, r.model(max(s.From, l.From)), r.model(min(s.To, l.To)))
		}
	}
	period := r.setup.Machine.Sched.RTPeriod
	if l.RTPeriod == event.NoTime || period <= 0 || l.RTPeriod >= l.From+period {
		return // it did not run yet
	}
	cpu := l.RTPeriodCPU
	if cpu < 0 || int(cpu) >= r.m.CPUs() {
		cpu = 0
	}
	r.m.Sched.StartRTPeriod(cpu, nextOf(r.model(l.RTPeriod), period, r.model(l.From)))
	for c, used := range l.RTUsed {
		if c < r.m.CPUs() {
			r.m.Sched.SetRTUsed(event.CPU(c), used)
		}
	}
}

// stoppers let migration/N do their recorded work; the machine's own work for them comes
// before.
func (r *runner) stoppers() {
	there := make([]bool, r.m.CPUs())
	for i := range r.threads {
		p := &r.threads[i]
		cpu := p.task.CPU
		if !p.task.Stopper || p.task.Removed || there[cpu] {
			continue
		}
		there[cpu] = true
		p.beginAsleep()
		p.th = r.m.AddStopper(cpu, p.task.PID, p)
		r.living[p.task.PID] = i
		if p.task.Begin != BeginBlocked {
			p.entered = false
			r.m.Wake(cpu, p.th)
		}
	}
}
