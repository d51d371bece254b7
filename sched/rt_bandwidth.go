package sched

import "github.com/whylate/whylate/event"

// noLimit is a runtime that never ends; RUNTIME_INF.
const noLimit event.Time = -1

// rtBandwidth is rt_bandwidth: what real-time tasks may use of every CPU in each period,
// and the timer that gives it back. Times are ns.
type rtBandwidth struct {
	runtime event.Time // noLimit: all
	period  event.Time
	// expires is when the period timer expires, or would have next: where it was stopped,
	// it goes on from there.
	expires event.Time
	active  bool  // the timer runs
	periods int64 // how often it has expired
}

// initRTBandwidth gives every CPU its runtime; init_rt_bandwidth() and init_rt_rq().
func (s *Sched) initRTBandwidth() {
	s.rtBW = rtBandwidth{runtime: s.cfg.RTRuntime, period: s.cfg.RTPeriod, expires: s.cfg.RTTimerExpires}
	if s.rtBW.runtime < 0 {
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
func (s *Sched) RTThrottled(c event.CPU) bool { return s.rqs[c].rt.throttled }

// RTPeriods counts how often the period timer has given runtime back.
func (s *Sched) RTPeriods() int64 { return s.rtBW.periods }

// startRTBandwidth starts the period timer where it is stopped, on the CPU that executes
// this; start_rt_bandwidth(). Since 4.6 a timer whose next expiry has passed expires at
// once, so that a period begins when the first real-time task comes; before, it keeps to
// multiples of the period.
func (s *Sched) startRTBandwidth(rq *RQ) {
	b := &s.rtBW
	if !s.rtBandwidthEnabled() || b.active {
		return
	}
	b.active = true
	if s.cfg.RTTimerKeepsGrid {
		b.forward(s.host.Now(), b.period)
	} else {
		b.forward(s.host.Now(), max(s.cfg.TimerResolution, 1))
	}
	s.host.SetTimer(Timer{Kind: TimerRTPeriod, CPU: s.hereOr(rq)}, b.expires)
}

// forward moves the next expiry past now by whole intervals and returns how many they are;
// hrtimer_forward().
func (b *rtBandwidth) forward(now, interval event.Time) int64 {
	late := now - b.expires
	if late < 0 {
		return 0
	}
	n := int64(late/interval) + 1
	b.expires += event.Time(n) * interval
	return n
}

// schedRTPeriodTimer is sched_rt_period_timer(): every CPU gets its runtime back. at is the
// CPU that serves the timer. Where nothing is left to do it stops.
func (s *Sched) schedRTPeriodTimer(at event.CPU) {
	b := &s.rtBW
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
	s.host.SetTimer(Timer{Kind: TimerRTPeriod, CPU: at}, b.expires)
}

// doSchedRTPeriodTimer repays the debts of all CPUs, those of overrun periods at once, lets
// those go on that have runtime again, and reports whether the timer may stop;
// do_sched_rt_period_timer().
func (s *Sched) doSchedRTPeriodTimer(at event.CPU, b *rtBandwidth, overrun int64) bool {
	idle, throttled := true, false
	for _, rq := range s.rqs {
		rt := &rq.rt
		if !s.cfg.RTRuntimeShare && rt.runtime != noLimit {
			rt.runtime = b.runtime
		}
		if rt.time == 0 && rt.nrRunning == 0 {
			continue
		}
		s.updateRQClock(rq)
		enqueue := false
		if rt.time > 0 {
			if rt.throttled {
				s.balanceRuntime(rt)
			}
			if rt.runtime == noLimit {
				rt.time = 0
			} else {
				rt.time -= min(rt.time, event.Time(overrun)*rt.runtime)
			}
			if rt.throttled && (rt.runtime == noLimit || rt.time < rt.runtime) {
				rt.throttled = false
				enqueue = true
			}
			idle = idle && rt.time == 0 && rt.nrRunning == 0
		} else {
			idle = false
			enqueue = !rt.throttled
		}
		throttled = throttled || rt.throttled
		if enqueue {
			s.schedRTRQEnqueue(at, rq)
		}
	}
	return !throttled && !s.rtBandwidthEnabled() || idle
}

// schedRTRQEnqueue makes the real-time tasks of rq eligible again; sched_rt_rq_enqueue().
func (s *Sched) schedRTRQEnqueue(from event.CPU, rq *RQ) {
	if rq.rt.nrRunning > 0 {
		s.enqueueTopRTRQ(rq)
		s.reschedCurr(from, rq)
	}
}

// enqueueTopRTRQ counts the real-time tasks of rq among the runnable ones;
// enqueue_top_rt_rq().
func (s *Sched) enqueueTopRTRQ(rq *RQ) {
	if rt := &rq.rt; !rt.queued && !rt.throttled && rt.nrRunning > 0 {
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

// rtRuntimeExceeded throttles rq where its real-time tasks have used more than their
// runtime; sched_rt_runtime_exceeded(). It is asked when run time is charged: at ticks and
// switches, so up to a tick more is used, and that is a debt of the next period.
func (s *Sched) rtRuntimeExceeded(rq *RQ) bool {
	rt, b := &rq.rt, &s.rtBW
	if rt.throttled {
		return true
	}
	if rt.runtime == noLimit || rt.runtime >= b.period {
		return false
	}
	s.balanceRuntime(rt)
	if rt.time <= rt.runtime {
		return false
	}
	if b.runtime == 0 {
		rt.time = 0 // nothing would ever be given back
		return false
	}
	rt.throttled = true
	s.dequeueTopRTRQ(rq)
	return true
}

// chargeRT counts what a real-time task has run against the runtime of its CPU; the second
// half of update_curr_rt().
func (s *Sched) chargeRT(rq *RQ, delta event.Time) {
	if !s.rtBandwidthEnabled() || rq.rt.runtime == noLimit {
		return
	}
	rq.rt.time += delta
	if s.rtRuntimeExceeded(rq) {
		s.reschedCurr(rq.cpu, rq)
		s.startRTBandwidth(rq)
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
