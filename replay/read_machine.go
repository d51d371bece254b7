package replay

import (
	"slices"
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/timeline"
)

// machine fills what is known of the machine itself.
func (r *reader) machine() {
	l := r.l
	release := l.Info.Kernel
	l.Kernel = kernel.ProfileOf(release)
	if l.Kernel == "" {
		l.Kernel = r.nearestKernel()
		r.guess.add(kernelUnknown)
	}
	for i := range kernel.Profiles {
		if p := &kernel.Profiles[i]; p.Name == l.Kernel {
			l.Preempt = p.Traits().Preempt
		}
	}
	l.CPUs = max(l.CPUs, l.Info.CPUs, 1)
	l.Zero = l.From
	if phase, ok := r.tickPhase(); ok {
		l.Zero -= (l.From - phase) % l.Tick
		if l.Zero > l.From {
			l.Zero -= l.Tick
		}
	}
	if r.look.low.tick > 0 {
		l.Values = append(l.Values, scenario.Value{Name: "highres", To: "off"})
	}
	r.rtBandwidth()
	r.fairServer()
	r.settings()
	r.rtPeriod()
}

// nearestKernel is the profile most like a kernel that has none: of the newest version that is
// not newer, PREEMPT_RT if threads of the trace say so.
func (r *reader) nearestKernel() string {
	rt := r.x.Facts.PreemptRT == kernel.Yes
	for i := 0; i < r.tr.Tasks() && !rt; i++ {
		comm := r.x.Names.String(r.tr.Task(timeline.TaskID(i)).Comm)
		rt = len(comm) > 8 && comm[:8] == "ktimers/"
	}
	return nearestProfile(&r.x.Facts, rt)
}

// nearestProfile is that profile; a kernel that is not known at all is taken for 6.12.
func nearestProfile(f *kernel.Facts, rt bool) string {
	best := "6.12"
	if rt {
		best = "6.12-rt"
	}
	if !f.Known {
		return best
	}
	best = ""
	for i := range kernel.Profiles {
		p := &kernel.Profiles[i]
		if p.RT != rt || best != "" && !f.Version.AtLeast(p.Major, p.Minor) {
			continue
		}
		best = p.Name
	}
	return best
}

// tickPhase is a time at which the machine ticked; false: no tick is recorded.
func (r *reader) tickPhase() (event.Time, bool) {
	if low := r.look.low; low.tick > 0 {
		return low.phase, true
	}
	var on []event.Time
	for c := range r.x.CPUs {
		for _, e := range r.x.CPUs[c].Expiries {
			if !isTick(r.x, e.Func) {
				continue
			}
			if at := r.expired(e) - r.l.From; at >= 0 {
				on = append(on, at%r.l.Tick)
			}
		}
	}
	if len(on) == 0 {
		return 0, false
	}
	// A tick can only be late: the phase is the start of the shortest arc that holds three of
	// four.
	best, _ := shortestArc(on, r.l.Tick, len(on)*3/4)
	return r.l.From + best, true
}

// rtBandwidth infers sched_rt_period_us and sched_rt_runtime_us where the usual values do not fit:
// the period by the distances of its timer's expiries, the runtime as what people write of what the
// throttling allows, and no limit where more than the usual was used without any.
func (r *reader) rtBandwidth() {
	if r.x.Facts.RTThrottling != kernel.Yes {
		return
	}
	if r.snap != nil {
		if _, known := r.snap.Number("sched_rt_runtime_us"); known {
			return
		}
	}
	set := func(name string, us int64) {
		r.l.Values = append(r.l.Values, scenario.Value{Name: name, To: strconv.FormatInt(us, 10)})
		r.guess.add(rtRuntime)
	}
	usual, period := r.x.Facts.RTRuntime, event.Time(r.x.Facts.RTPeriod)
	if p := r.rtPeriodLength(); p > 0 && p != period {
		period, usual = p, int64(p/1000*950)
		set("sched_rt_period_us", int64(p/1000))
	}
	least, most, ok := r.a.RTRuntime()
	// A stretch as long as a period lies in two of them: there the runtimes of both can be used.
	if 2*event.Time(most)+r.l.Tick < max(r.mostRT(), r.mostRTWithin(period)) {
		ok = false // only likely, and more was used
	}
	switch {
	case ok && usual > least && usual <= most:
		if usual != r.x.Facts.RTRuntime {
			set("sched_rt_runtime_us", usual/1000)
		}
	case ok:
		v := int64(roundest(event.Time(least), event.Time(most)))
		if most-v <= int64(chargedLate) {
			r.l.RTShort = shortOfTick
		}
		set("sched_rt_runtime_us", v/1000)
	case !r.a.Throttled() && r.mostRT() > 2*event.Time(usual)+r.l.Tick:
		set("sched_rt_runtime_us", -1)
	case usual != r.x.Facts.RTRuntime:
		set("sched_rt_runtime_us", usual/1000)
	}
}

// rtPeriodLength is the roundest distance that two expiries of sched_rt_period_timer have more than
// once, 0 where none is. A period that was idle ends the timer, and the next begins anywhere.
func (r *reader) rtPeriodLength() event.Time {
	timer := r.x.Names.Intern("sched_rt_period_timer")
	var at, apart []event.Time
	for c := range r.x.CPUs {
		for _, e := range r.x.CPUs[c].Expiries {
			if e.Func == timer {
				at = append(at, r.expired(e))
			}
		}
	}
	slices.Sort(at)
	for i := 1; i < len(at); i++ {
		apart = append(apart, at[i]-at[i-1])
	}
	return recurring(apart)
}

// fairServer infers the runtime of the fair servers where the usual one does not fit: a server that
// begins with the expiry of its timer keeps real-time tasks away until a tick finds its runtime used
// up, if fair tasks want the CPU so long.
func (r *reader) fairServer() {
	if r.x.Facts.FairServer != kernel.Yes {
		return
	}
	var served event.Time
	for c := range r.x.CPUs {
		runs, timers := r.x.CPUs[c].Runs, r.x.CPUs[c].Expiries
		for i, t := 0, 0; i+1 < len(runs); i++ {
			for t < len(timers) && timers[t].At <= runs[i].End {
				t++
			}
			if !r.realTime(&runs[i], runs[i].PrioOut) || !runs[i].State.Runnable() || !runs[i+1].PrioIn.Fair() || runs[i+1].Start != runs[i].End ||
				t == 0 || timers[t-1].Func != r.serverTimer || runs[i].End-timers[t-1].At > justAfter {
				continue
			}
			from := i
			for i+1 < len(runs) && !r.realTime(&runs[i+1], runs[i+1].PrioIn) {
				i++
			}
			if i+1 < len(runs) { // else its end was not seen
				served = max(served, runs[i+1].Start-runs[from].End)
			}
		}
	}
	usual := event.Time(r.x.Facts.FairServerRuntime)
	if least := served - r.l.Tick - justAfter; served > 0 && (usual <= least || usual > served) {
		r.l.Values = append(r.l.Values, scenario.Value{Name: "fair_server_runtime_ns", To: strconv.FormatInt(int64(roundest(least, served)), 10)})
		r.guess.add(serverRuntime)
	}
}

// chargedLate is how long after the time of a tick the charge may come that it brings.
const chargedLate event.Time = 10_000

// shortOfTick is what is taken off a runtime that was used up at the very tick, less than any stretch of
// work: in a run, where a charge takes no time, that tick finds it used up as the recorded one did.
const shortOfTick event.Time = 1_000

// mostRTWithin is the longest time that real-time and deadline tasks had a CPU within some stretch
// of the given length.
func (r *reader) mostRTWithin(length event.Time) (most event.Time) {
	for c := range r.x.CPUs {
		runs := r.x.CPUs[c].Runs
		first, used := 0, event.Time(0) // runs[first:i] begin within the stretch that ends with runs[i]
		for i := range runs {
			used += r.realTimeOf(&runs[i])
			for ; runs[i].End-runs[first].End > length; first++ {
				used -= r.realTimeOf(&runs[first])
			}
			// Of the first one a part may lie before the stretch.
			before := max(0, runs[i].End-length-runs[first].Start)
			most = max(most, used-min(before, r.realTimeOf(&runs[first])))
		}
	}
	return most
}

// realTimeOf is how long a run was one of a real-time or deadline task.
func (r *reader) realTimeOf(run *timeline.Run) event.Time {
	if r.x.Tracker.Task(run.Task).Idle() || !run.PrioOut.RealTime() && !run.PrioOut.Deadline() {
		return 0
	}
	return run.End - run.Start
}

// mostRT is the longest time for which real-time and deadline tasks alone had a CPU.
func (r *reader) mostRT() (most event.Time) {
	for c := range r.x.CPUs {
		var since event.Time
		for i := range r.x.CPUs[c].Runs {
			run := &r.x.CPUs[c].Runs[i]
			if idle := r.x.Tracker.Task(run.Task).Idle(); idle || !run.PrioOut.RealTime() && !run.PrioOut.Deadline() || i > 0 && run.Start != r.x.CPUs[c].Runs[i-1].End {
				since = run.End
				continue
			}
			if since == 0 {
				since = run.Start
			}
			most = max(most, run.End-since)
		}
	}
	return most
}
