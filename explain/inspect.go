package explain

import (
	"fmt"
	"sort"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// Inspect tells what is in src, which verdicts its events support, and what to record
// for more.
func Inspect(src Source, o Options) (*result.Info, error) {
	info, names := o.info(src), src.Names()
	tr := timeline.NewTracker(info.Machine, names)
	counts := make(map[event.Name]int64)
	var kinds event.KindSet
	var perCPU []result.CPUCount
	f, err := pass(src, event.Options{Progress: o.Progress}, tr, func(ev *event.Event, _ timeline.Step) {
		kinds |= 1 << ev.Kind
		perCPU = countCPU(perCPU, ev)
		if ev.Kind == event.Gap {
			return
		}
		n := ev.Name
		if n == 0 {
			n = names.Intern(ev.Kind.String())
		}
		counts[n]++
	})
	if err != nil {
		return nil, err
	}
	r := &result.Info{Schema: "whylate.info/1", Input: f.input(src, &o, tr.CPUs()), Machine: info.Machine,
		Profile: kernel.ProfileOf(info.Kernel), Buffers: info.Buffers, Commands: info.Commands, Counts: []result.EventCount{}, PerCPU: []result.CPUCount{},
		Verdicts: supports(kinds, kernel.Of(info.Kernel), sysinfo.Of(src)), Record: []string{}, Diagnostics: diagnostics(&f, tr, nil)}
	r.Snapshot = sumUp(sysinfo.Of(src), f.start)
	for n, count := range counts {
		r.Counts = append(r.Counts, result.EventCount{Event: names.String(n), Count: count})
	}
	sort.Slice(r.Counts, func(i, j int) bool {
		if a, b := r.Counts[i], r.Counts[j]; a.Count != b.Count {
			return a.Count > b.Count
		}
		return r.Counts[i].Event < r.Counts[j].Event
	})
	for _, c := range perCPU {
		if c.Events > 0 || c.Lost != 0 {
			c.StartNS -= int64(f.start)
			c.EndNS -= int64(f.start)
			r.PerCPU = append(r.PerCPU, c)
		}
	}
	r.Record = recordFor(r.Verdicts)
	return r, nil
}

func countCPU(list []result.CPUCount, ev *event.Event) []result.CPUCount {
	const most = 8192
	if ev.CPU < 0 || ev.CPU >= most {
		return list
	}
	for int(ev.CPU) >= len(list) {
		list = append(list, result.CPUCount{CPU: int32(len(list))})
	}
	c := &list[ev.CPU]
	if ev.Kind == event.Gap {
		if ev.Arg < 0 || c.Lost < 0 {
			c.Lost = -1
		} else {
			c.Lost += ev.Arg
		}
		return list
	}
	if c.Events == 0 {
		c.StartNS = int64(ev.Time)
	}
	c.Events++
	c.EndNS = int64(ev.Time)
	return list
}

// recordNames says how to ask a recorder for the events of a kind.
var recordNames = map[event.Kind]string{
	event.SchedSwitch: "sched:sched_switch", event.SchedWaking: "sched:sched_waking", event.SchedWakeup: "sched:sched_wakeup",
	event.SchedPISetprio: "sched:sched_pi_setprio", event.SchedStatRuntime: "sched:sched_stat_runtime",
	event.SchedProcessExit: "sched:sched_process_exit", event.HrtimerExpireEntry: "timer:hrtimer_expire_entry",
	event.HrtimerStart: "timer:hrtimer_start", event.SoftirqRaise: "irq:softirq_raise", event.SoftirqEntry: "irq:softirq_entry",
	event.IRQHandlerEntry: "irq:irq_handler_entry", event.SysEnter: "raw_syscalls:sys_enter", event.CPUIdle: "power:cpu_idle",
	event.IPIEntry: "ipi:ipi_entry", event.PreemptDisable: "preemptirq:preempt_disable", event.IRQDisable: "preemptirq:irq_disable",
}

// supports says for each kind of cause what verdict the events of a trace allow at best.
// Kinds whose events simply did not happen look like kinds that were not recorded.
func supports(seen event.KindSet, facts kernel.Facts, snap *sysinfo.Snapshot) []result.Support {
	out := []result.Support{}
	for _, k := range cause.Kinds() {
		if k.Best == cause.Unknown {
			continue
		}
		s := result.Support{Kind: k.Name, Best: k.Best.String(), Needs: []string{}}
		if k.Snapshot != nil && snap != nil {
			s.Best = k.Snapshot(snap).String()
		}
		for _, need := range k.Needs {
			if seen&(1<<need) == 0 {
				s.Best = cause.Likely.String()
				s.Needs = append(s.Needs, recordNames[need])
			}
		}
		switch {
		case k.On != nil && k.On(facts) == kernel.No:
			s.Best, s.Needs = "never on this kernel", []string{}
		case seen&(1<<event.SchedSwitch) == 0:
			s.Best = cause.Unknown.String()
		}
		out = append(out, s)
	}
	return out
}

// recordFor returns the trace-cmd words for the events that are missing.
func recordFor(list []result.Support) []string {
	var missing []string
	seen := make(map[string]bool)
	for _, s := range list {
		for _, n := range s.Needs {
			if !seen[n] {
				seen[n] = true
				missing = append(missing, n)
			}
		}
	}
	if len(missing) == 0 {
		return []string{}
	}
	line := "trace-cmd record"
	for _, n := range missing {
		line += fmt.Sprintf(" -e %s", n)
	}
	return []string{line + " …   (beside what is recorded already)"}
}
