package replay

import (
	"sort"
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// rtPeriod finds out when a period of the real-time budget began, on which CPU its timer was,
// and what of the budget had been used at the beginning of the trace.
func (r *reader) rtPeriod() {
	l := r.l
	l.RTSwitchCharge = r.switchCharge()
	l.RTPeriod = event.NoTime
	timer := r.x.Names.Intern("sched_rt_period_timer")
	first := -1
	for c := range r.x.CPUs {
		for n, e := range r.x.CPUs[c].Expiries {
			if e.Func != timer {
				continue
			}
			if at := r.expired(e); l.RTPeriod == event.NoTime || at < l.RTPeriod {
				l.RTPeriod, l.RTPeriodCPU, first = at, event.CPU(c), n
			}
			break
		}
	}
	if l.RTPeriod == event.NoTime {
		return
	}
	l.RTPeriod = r.besideTick(l.RTPeriodCPU, first)
	for c := range r.x.CPUs {
		if used, ok := r.rtUsed(event.CPU(c), l.RTPeriod); ok {
			if l.RTUsed == nil {
				l.RTUsed = make([]event.Time, len(r.x.CPUs))
			}
			l.RTUsed[c] = used
		}
	}
}

// expired is when e came, on the trace's clock.
func (r *reader) expired(e timeline.Expiry) event.Time {
	if offset, ok := r.a.TimerOffset(e); ok {
		return event.Time(e.Now - offset)
	}
	return e.At
}

// besideTick is when the period timer of expiry n of c was due. An interrupt reads its clock
// once for all timers that it serves, in the order of their times: where one served the tick
// too, that shows on which side of it the other was. What was current then is charged at the
// tick, so in the period that ends or in the one that begins. On an idle CPU there is no tick:
// then a later period tells, since all of them begin as far from a tick.
func (r *reader) besideTick(c event.CPU, n int) event.Time {
	first := &r.x.CPUs[c].Expiries[n]
	at := r.expired(*first)
	if r.look.low.tick > 0 {
		return r.tickBefore(at)
	}
	tick := r.l.Zero + (at-r.l.Zero+r.l.Tick/2)/r.l.Tick*r.l.Tick
	if distance(at, tick) > besideEach {
		return at
	}
	for c := range r.x.CPUs {
		list := r.x.CPUs[c].Expiries
		for i := range list {
			if list[i].Func != first.Func {
				continue
			}
			for _, other := range []int{i - 1, i + 1} {
				if other < 0 || other >= len(list) || list[other].Now != list[i].Now || !isTick(r.x, list[other].Func) {
					continue
				}
				if other < i {
					tick++
				}
				return tick
			}
		}
	}
	return at
}

// besideEach is how far apart two timers that are due at the same time may seem to be.
const besideEach event.Time = 2_000

// rtUsed is what the real-time tasks of c had used of their budget when the trace began, if they
// were throttled before first, the first expiry of the period timer: the budget less what was
// charged until then, and half a tick since only ticks find out.
func (r *reader) rtUsed(c event.CPU, first event.Time) (event.Time, bool) {
	runs := r.x.CPUs[c].Runs
	budget, ok := r.rtBudget()
	after := sort.Search(len(runs), func(i int) bool { return runs[i].Start >= first })
	if !ok || after == len(runs) || runs[after].Start-first > longestGap || !r.realTime(&runs[after], runs[after].PrioIn) {
		return 0, false
	}
	for i := 0; i+1 < len(runs) && runs[i].End < first; i++ {
		if !r.realTime(&runs[i], runs[i].PrioOut) || !runs[i].State.Runnable() || runs[i+1].PrioIn.RealTime() {
			continue
		}
		charged := event.Time(0)
		for _, ch := range r.x.CPUs[c].Charges {
			if ch.At <= runs[i].End {
				charged += min(event.Time(ch.NS), ch.At-r.x.From) // the first goes back further
			}
		}
		return max(0, budget-charged+r.l.Tick/2), true
	}
	return 0, false
}

// switchCharge is what turns of real-time tasks are charged beside their time, on average. Only
// turns count in which the class did not change, and no wait for a charge of a tick that came
// before.
func (r *reader) switchCharge() event.Time {
	over, turns := event.Time(0), event.Time(0)
	for c := range r.x.CPUs {
		ci := &r.x.CPUs[c]
		n := 0
		for i := range ci.Runs {
			run := &ci.Runs[i]
			for n < len(ci.Charges) && ci.Charges[n].At < run.Start {
				n++
			}
			charged := event.Time(0)
			for ; n < len(ci.Charges) && ci.Charges[n].At <= run.End; n++ {
				charged += event.Time(ci.Charges[n].NS)
			}
			if charged > 0 && r.realTime(run, run.PrioIn) && r.realTime(run, run.PrioOut) && run.Marks&(timeline.MarkOpen|timeline.MarkUnseenStart) == 0 {
				over += charged - (run.End - run.Start)
				turns++
			}
		}
	}
	if turns < leastExpiries {
		return 0
	}
	return min(max(over/turns, 0), afterHandler)
}

// realTime reports whether a run that begins or ends with prio is one of a real-time task; the
// stop class shows priority 0 too.
func (r *reader) realTime(run *timeline.Run, prio event.Prio) bool {
	return prio.RealTime() && !kernel.IsStopper(r.x.Names.String(run.Comm))
}

// rtBudget is what real-time tasks may use of each period, in ns; false: all of it.
func (r *reader) rtBudget() (event.Time, bool) {
	budget := event.Time(r.x.Facts.RTRuntime)
	for _, v := range r.l.Values {
		if v.Name == "sched_rt_runtime_us" {
			us, err := strconv.ParseInt(v.To, 10, 64)
			if err != nil || us < 0 {
				return 0, false
			}
			budget = event.Time(us)*1000 - r.l.RTShort
		}
	}
	return budget, budget > 0
}
