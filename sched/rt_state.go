package sched

import "github.com/whylate/whylate/event"

// StartRTPeriod lets the root's period timer run, to expire on c at at, as in a machine that
// has run real-time tasks before. Without throttling it does nothing.
func (s *Sched) StartRTPeriod(c event.CPU, at event.Time) {
	b := &s.rtBW
	if b.active || !s.rtBandwidthEnabled() || b.runtime == noLimit {
		return
	}
	b.active, b.expires = true, at
	s.host.SetTimer(Timer{Kind: TimerRTPeriod, CPU: c}, at)
}

// SetRTUsed says what the real-time tasks of c have used, in ns, of the period that runs.
// More than they may use is a debt, as always; they are throttled at the next charge.
func (s *Sched) SetRTUsed(c event.CPU, used event.Time) {
	if rt := &s.rqs[c].rt; s.rtBandwidthEnabled() && rt.runtime != noLimit {
		rt.time = max(used, 0)
	}
}
