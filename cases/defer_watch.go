package cases

import (
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// putPrevs measures what put_prev_task() does in front of real-time tasks, and what putting it
// off does to others:
//
//	put_prev_min_instructions, _max_, _avg_    of all calls on all CPUs
//	put_prev_max_ns                            the longest at the price of the scenario
//	put_prev_fair_ppm                          calls that put back a fair task
//	put_prev_depthN_max_instructions, _avg_    on CPU N alone, where there are more than four
//	put_prev_depthN_least_instructions         the least of calls for a fair task there
//	latency_avg_ns, latency_max_ns             of the timers of the real-time tasks
//	scheduler_ns                               the scheduler's own work on all CPUs
//	ran_TASK_ppm                               of the time that fair tasks had
//	charged_TASK_ppm                           what the scheduler charged a task, of what it had
type putPrevs struct {
	names *event.Names
	setup *scenario.Setup
	m     *machine.Machine
	// from and until bound what counts: the start of the program has waits of its own.
	from, until event.Time

	since   map[event.CPU]event.Time // of its current task
	order   []string                 // fair tasks, in the order in which they were met
	ran     map[string]int64
	charged map[string]int64
	// realTime says which threads are, by their number.
	realTime []bool
	rounds   int64
	late     int64
	latest   int64
}

// startUp is longer than it takes until all threads have begun.
const startUp event.Time = 100_000_000

// watchPutPrevs watches the real-time tasks and everybody else.
func watchPutPrevs(c *experiment.Context) experiment.Watcher {
	p := &putPrevs{names: c.Names, setup: c.Setup, from: c.Setup.Start + startUp, until: c.Setup.Start + c.Setup.Load.Duration, since: make(map[event.CPU]event.Time),
		ran: make(map[string]int64), charged: make(map[string]int64)}
	for i := range c.Setup.Load.Tasks {
		t := &c.Setup.Load.Tasks[i]
		for range t.Instances {
			p.realTime = append(p.realTime, t.Attr != nil && (t.Attr.Policy == sched.FIFO || t.Attr.Policy == sched.RR))
		}
	}
	return p
}

// Machine is where the instructions are counted.
func (p *putPrevs) Machine(m *machine.Machine) {
	p.m = m
	m.CountFrom(p.from)
}

// Event follows who has the CPUs and who is charged for it.
func (p *putPrevs) Event(ev *event.Event) {
	if ev.Time > p.until || ev.TaskPrio.RealTime() {
		if ev.Kind == event.SchedSwitch {
			p.since[ev.CPU] = min(ev.Time, p.until)
		}
		return
	}
	switch ev.Kind {
	case event.SchedSwitch:
		if ev.Task != 0 {
			p.meet(ev.TaskComm)
			p.ran[kindOf(p.names.String(ev.TaskComm))] += int64(ev.Time - p.since[ev.CPU])
		}
		p.since[ev.CPU] = ev.Time
	case event.SchedStatRuntime:
		p.charged[kindOf(p.names.String(ev.TaskComm))] += ev.Arg
	}
}

func (p *putPrevs) meet(comm event.Name) {
	kind := kindOf(p.names.String(comm))
	if _, ok := p.ran[kind]; !ok {
		p.order = append(p.order, kind)
	}
}

// Round takes in the latencies of the timers.
func (p *putPrevs) Round(l *scenario.Round) {
	if l.CPeriod == 0 || l.End > p.until || l.Start < p.from || !p.realTime[l.Thread] {
		return
	}
	ns := int64(experiment.TimerLatency(l))
	p.rounds++
	p.late += ns
	p.latest = max(p.latest, ns)
}

// Values gives the measures.
func (p *putPrevs) Values(event.Time) map[string]int64 {
	m := map[string]int64{}
	price := int64(p.setup.Machine.Costs.Instruction)
	var all machine.PutPrevs
	for c := range event.CPU(p.m.CPUs()) {
		one := p.m.PutPrevs(c)
		m["scheduler_ns"] += int64(p.m.SchedulerTime(c))
		if one.Calls == 0 {
			continue
		}
		if p.m.CPUs() > 4 {
			name := "put_prev_depth" + strconv.Itoa(int(c))
			m[name+"_max_instructions"], m[name+"_avg_instructions"] = one.Max, average(one.Instructions, one.Calls)
			m[name+"_least_instructions"] = one.FairMin
		}
		if all.Calls == 0 {
			all.Min = one.Min
		}
		all.Min, all.Max = min(all.Min, one.Min), max(all.Max, one.Max)
		all.Calls, all.Fair, all.Instructions = all.Calls+one.Calls, all.Fair+one.Fair, all.Instructions+one.Instructions
	}
	if all.Calls > 0 {
		m["put_prev_min_instructions"], m["put_prev_max_instructions"] = all.Min, all.Max
		m["put_prev_avg_instructions"], m["put_prev_max_ns"] = average(all.Instructions, all.Calls), all.Max*price
		m["put_prev_fair_ppm"] = all.Fair * 1_000_000 / all.Calls
	}
	if p.rounds > 0 {
		m["latency_avg_ns"], m["latency_max_ns"] = average(p.late, p.rounds), p.latest
	}
	total := int64(0)
	for _, n := range p.ran {
		total += n
	}
	for _, kind := range p.order {
		if ran := p.ran[kind]; ran > 1_000_000 {
			m["ran_"+kind+"_ppm"] = ran * 1000 / (total / 1000)
			m["charged_"+kind+"_ppm"] = p.charged[kind] * 1000 / (ran / 1000)
		}
	}
	return m
}

// average is to the nearest.
func average(sum, n int64) int64 { return (sum + n/2) / n }
