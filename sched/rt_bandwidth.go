package sched

import "github.com/whylate/whylate/event"

// noLimit is a runtime that never ends; RUNTIME_INF.
const noLimit event.Time = -1

// rtBandwidth is rt_bandwidth: what real-time tasks may use of every CPU in each period,
// and the timer that gives it back. Times are ns.
type rtBandwidth struct {
	group   *Group     // whose it is, nil: the root's
	runtime event.Time // noLimit: all
	period  event.Time
	// expires is when the period timer expires, or would have next: where it was stopped,
	// it goes on from there.
	expires event.Time
	active  bool  // the timer runs
	periods int64 // how often it has expired
}

// The root group's runtime and period at boot; sysctl_sched_rt_runtime and _period.
const (
	rootRuntime event.Time = 950_000_000
	rootPeriod  event.Time = 1_000_000_000
)

// initRTBandwidth gives every CPU its runtime; init_rt_bandwidth() and init_rt_rq().
func (s *Sched) initRTBandwidth() {
	s.rtBW = rtBandwidth{runtime: s.cfg.RTRuntime, period: s.cfg.RTPeriod, expires: s.cfg.RTTimerExpires}
	if s.cfg.RTGroupSched {
		// The root group has what sched_rt_runtime_us was at boot, and keeps it.
		s.rtBW.runtime, s.rtBW.period = rootRuntime, rootPeriod
	} else if s.rtBW.runtime < 0 {
		s.rtBW.runtime = noLimit
	}
	for _, rq := range s.rqs {
		rq.rt.runtime = s.rtBW.runtime
	}
}

// rtBandwidthEnabled is rt_bandwidth_enabled(): the kernel has throttling and
// sched_rt_runtime_us is not −1.
func (s *Sched) rtBandwidthEnabled() bool { return s.cfg.RTPeriod > 0 && s.cfg.RTRuntime >= 0 }

// RTThrottled reports whether the real-time tasks of c are kept off it because they have
// used up their runtime: rt_rq->rt_throttled.
func (s *Sched) RTThrottled(c event.CPU) bool { return s.rqs[c].rt.dark() }

// RTPeriods counts how often the period timer has given runtime back.
func (s *Sched) RTPeriods() int64 { return s.rtBW.periods }

// startRTBandwidth starts the period timer of g where it is stopped, on the CPU that executes
// this; start_rt_bandwidth(). Since 4.6 a timer whose next expiry has passed expires at once,
// so that a period begins when the first real-time task comes; before, it keeps to multiples
// of the period.
func (s *Sched) startRTBandwidth(rq *RQ, g *Group) {
	b := s.bandwidth(g)
	if b.active || !s.rtBandwidthEnabled() || b.runtime == noLimit {
		return
	}
	b.active = true
	if s.cfg.RTTimerKeepsGrid {
		b.forward(s.host.Now(), b.period)
	} else {
		b.forward(s.host.Now(), max(s.cfg.TimerResolution, 1))
	}
	s.host.SetTimer(Timer{Kind: TimerRTPeriod, CPU: s.hereOr(rq), Group: g.number()}, b.expires)
}

// number is that of a group in a Timer.
func (g *Group) number() int {
	if g == nil {
		return 0
	}
	return g.id
}

// forward moves the next expiry past now by whole intervals and returns how many they are.
func (b *rtBandwidth) forward(now, interval event.Time) int64 {
	return forward(&b.expires, now, interval)
}

// schedRTPeriodTimer is sched_rt_period_timer(): every CPU gets its runtime back. at is the
// CPU that serves the timer. Where nothing is left to do it stops.
func (s *Sched) schedRTPeriodTimer(at event.CPU, group int) {
	b := &s.rtBW
	if group > 0 {
		b = &s.groups[group-1].bw
	}
	b.periods++
	idle := true
	for {
		n := b.forward(s.host.Now(), b.period)
		if n == 0 {
			break
		}
		idle = s.doSchedRTPeriodTimer(at, b, n)
	}
	if idle {
		b.active = false
		return
	}
	s.host.SetTimer(Timer{Kind: TimerRTPeriod, CPU: at, Group: group}, b.expires)
}

// doSchedRTPeriodTimer repays the debts of all CPUs, those of overrun periods at once, lets
// those go on that have runtime again, and reports whether the timer may stop;
// do_sched_rt_period_timer().
func (s *Sched) doSchedRTPeriodTimer(at event.CPU, b *rtBandwidth, overrun int64) bool {
	idle, throttled := true, false
	for _, rq := range s.rqs {
		rt := rq.budget(b.group)
		running := rq.rtRunning(b.group)
		if !s.cfg.RTRuntimeShare && rt.runtime != noLimit {
			rt.runtime = b.runtime
		}
		if rt.time == 0 && !running {
			continue
		}
		s.updateRQClock(rq)
		enqueue := false
		if rt.time > 0 {
			enqueue = s.repayRT(b, rt, overrun)
			idle = idle && rt.time == 0 && !running
		} else {
			idle = false
			enqueue = !rt.dark()
		}
		throttled = throttled || rt.throttled
		if enqueue && running {
			s.showGroup(rq, b.group)
			if b.group == nil && !s.cfg.RTGroupSched || rq.rt.queued && rq.rt.highest() < rq.curr.prio {
				s.reschedCurr(at, rq)
			}
		}
	}
	return !throttled && (!s.rtBandwidthEnabled() || b.runtime == noLimit) || idle
}

// repayRT pays a debt back and reports whether the tasks may go on for it.
func (s *Sched) repayRT(b *rtBandwidth, rt *rtBudget, overrun int64) bool {
	if rt.throttled {
		s.balanceRuntime(b, rt)
	}
	if rt.runtime == noLimit {
		rt.time = 0
	} else {
		rt.time -= min(rt.time, event.Time(overrun)*rt.runtime)
	}
	if !rt.throttled || rt.runtime != noLimit && rt.time >= rt.runtime {
		return false
	}
	rt.throttled = false
	return true
}

// rtRunning reports rt_nr_running of g on rq, of groups those below included.
func (rq *RQ) rtRunning(g *Group) bool {
	if g == nil {
		return rq.rt.nrRunning > 0
	}
	if len(g.cpus[rq.cpu].runnable) > 0 {
		return true
	}
	for _, child := range g.children {
		if !child.cpus[rq.cpu].dark() && rq.rtRunning(child) {
			return true
		}
	}
	return false
}

// enqueueTopRTRQ counts the real-time tasks of rq among the runnable ones;
// enqueue_top_rt_rq().
func (s *Sched) enqueueTopRTRQ(rq *RQ) {
	if rt := &rq.rt; !rt.queued && !rt.dark() && rt.nrRunning > 0 {
		rt.queued = true
		for range rt.nrRunning {
			s.addNrRunning(rq)
		}
	}
}

// dequeueTopRTRQ stops counting them: they keep their places, and other CPUs still believe
// that rq runs them; dequeue_top_rt_rq().
func (s *Sched) dequeueTopRTRQ(rq *RQ) {
	if rt := &rq.rt; rt.queued {
		rt.queued = false
		for range rt.nrRunning {
			s.subNrRunning(rq)
		}
	}
}

// rtRuntimeExceeded throttles g on rq where its real-time tasks have used more than their
// runtime; sched_rt_runtime_exceeded(). It is asked when run time is charged: at ticks and
// switches, so up to a tick more is used, and that is a debt of the next period.
func (s *Sched) rtRuntimeExceeded(rq *RQ, g *Group) bool {
	rt, b := rq.budget(g), s.bandwidth(g)
	if rt.throttled {
		return rt.dark()
	}
	if rt.runtime == noLimit || rt.runtime >= b.period {
		return false
	}
	s.balanceRuntime(b, rt)
	if rt.time <= rt.runtime {
		return false
	}
	if b.runtime == 0 {
		rt.time = 0 // nothing would ever be given back
		return false
	}
	rt.throttled = true
	if !rt.dark() {
		return false
	}
	s.showGroup(rq, g)
	return true
}

// chargeRT counts what p has run against the runtime of its groups, the root last; the second
// half of update_curr_rt().
func (s *Sched) chargeRT(rq *RQ, p *Task, delta event.Time) {
	if !s.rtBandwidthEnabled() {
		return
	}
	g := p.group
	if !s.cfg.RTGroupSched {
		g = nil // groups are those of fair tasks alone
	}
	for ; ; g = g.parent {
		if rt := rq.budget(g); rt.runtime != noLimit {
			rt.time += delta
			if s.rtRuntimeExceeded(rq, g) {
				s.reschedCurr(rq.cpu, rq)
				s.startRTBandwidth(rq, g)
			}
		}
		if g == nil {
			return
		}
	}
}

// chargeDLToRT counts what a deadline task has run against the runtime of real-time tasks:
// the two share it. Whether that is too much only a real-time task finds out;
// sched_rt_bandwidth_account() in update_curr_dl().
func (s *Sched) chargeDLToRT(rq *RQ, delta event.Time) {
	if b := &s.rtBW; s.rtBandwidthEnabled() && (b.active || rq.rt.time < b.runtime) {
		rq.rt.time += delta
	}
}
