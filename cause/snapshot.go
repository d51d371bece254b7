package cause

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// What the snapshot of the machine says. It holds as far as no event says otherwise.

// TaskOf returns t as s has it, nil where it does not. A pid that was given to a new task in the
// trace may be in s as that of an older one: then the name is another one.
func TaskOf(s *sysinfo.Snapshot, names *event.Names, t *timeline.Task) *sysinfo.Task {
	if s == nil || t.Idle() {
		return nil
	}
	x := s.Task(int32(t.PID))
	if x == nil || t.Parent != nil && !x.Named(names.String(t.Comm)) {
		return nil
	}
	return x
}

// CGroupOf returns the path of the control group of t as s has it: its own, else that of its
// process, else that of whoever created it; "": not known. names are those of t.
func CGroupOf(s *sysinfo.Snapshot, names *event.Names, t *timeline.Task) string {
	if s == nil {
		return ""
	}
	for n := 0; t != nil && n < mostAncestors; n, t = n+1, t.Parent {
		if x := TaskOf(s, names, t); x != nil && x.CGroup != "" {
			return x.CGroup
		}
		if x := s.Task(int32(t.TGID)); x != nil && x.CGroup != "" && t.TGID != t.PID {
			return x.CGroup
		}
	}
	return ""
}

// mostAncestors bounds how many parents are asked.
const mostAncestors = 100

// rtBandwidth is what real-time tasks may use of a CPU in each period, in ns, by the snapshot;
// runtime −1: there is no limit. false: it is not known.
func (a *Analysis) rtBandwidth() (runtime, period int64, ok bool) {
	if a.snap == nil {
		return 0, 0, false
	}
	runtime, ok = a.snap.Number("sched_rt_runtime_us")
	if !ok || runtime > mostMicros {
		return 0, 0, false
	}
	if period, ok = a.snap.Number("sched_rt_period_us"); !ok || period <= 0 || period > mostMicros {
		period = a.x.Facts.RTPeriod / 1000
	}
	if runtime < 0 {
		return -1, period * 1000, true
	}
	return runtime * 1000, period * 1000, true
}

// mostMicros bounds settings: they are 32-bit numbers in the kernel.
const mostMicros = 1<<31 - 1

// usualTick is the distance of two ticks where no event shows it.
func (a *Analysis) usualTick() event.Time {
	if a.snap != nil {
		if hz, ok := a.snap.Number("HZ"); ok && hz >= 24 && hz <= 10_000 {
			return event.Time(1_000_000_000 / hz)
		}
	}
	return event.Time(a.x.Facts.Tick)
}

// rtPeriodLength is the period of real-time runtime in ns.
func (a *Analysis) rtPeriodLength() event.Time {
	if _, period, ok := a.rtBandwidth(); ok {
		return event.Time(period)
	}
	return event.Time(a.x.Facts.RTPeriod)
}

// sharesRuntime reports whether CPUs borrow real-time runtime of each other, by the snapshot.
func (a *Analysis) sharesRuntime() bool {
	if a.snap == nil {
		return false
	}
	on, _ := a.snap.Feature("RT_RUNTIME_SHARE")
	return on
}

// serverRuntime is what fair tasks get of c in each period of its deadline server, in ns; 0:
// it is switched off.
func (a *Analysis) serverRuntime(c event.CPU) int64 {
	if a.snap == nil {
		return a.x.Facts.FairServerRuntime
	}
	if x := a.snap.CPU(int32(c)); x != nil && x.FairServer != nil {
		return x.FairServer.RuntimeNS
	}
	if ns, ok := a.snap.Number("fair_server_runtime_ns"); ok && ns >= 0 {
		return ns
	}
	return a.x.Facts.FairServerRuntime
}
