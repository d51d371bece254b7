package cases

import (
	"math/bits"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// wakeups measures what schbench prints of its workers, and how often tasks were moved:
//
//	p50_ns … p999_ns, max_ns  latency of the workers, as the program's own histogram has it
//	wakeups_n                 how many those are
//	late_ppm                  those of 1 ms and more
//	moved_n                   migrations of all tasks
//
// and, where balancing is watched, see choices.
type wakeups struct {
	until   event.Time
	latency histogram
	late    int64
	moved   int64
	choices *choices
}

// lateFrom is a latency that no machine needs that has a CPU to give.
const lateFrom event.Time = 1_000_000

func watchWakeups(c *experiment.Context) experiment.Watcher {
	return &wakeups{until: c.Setup.Start + c.Setup.Load.Duration}
}

// watchChoices also looks at each pass of the balancer.
func watchChoices(c *experiment.Context) experiment.Watcher {
	w := watchWakeups(c).(*wakeups)
	w.choices = &choices{}
	return w
}

// Machine is where the balancer is watched.
func (w *wakeups) Machine(m *machine.Machine) {
	if w.choices != nil {
		m.Sched.OnBalance(w.choices.see)
	}
}

// Event counts migrations.
func (w *wakeups) Event(ev *event.Event) {
	if ev.Kind == event.SchedMigrateTask && ev.Time <= w.until {
		w.moved++
	}
}

// Round takes in a wakeup of a worker: nobody else waits in a queue. The program counts from its start
// on, and nothing that took less than a microsecond.
func (w *wakeups) Round(l *scenario.Round) {
	if l.End > w.until || l.WakeupLatency < 1000 {
		return
	}
	w.latency.add(int64(l.WakeupLatency) / 1000)
	if l.WakeupLatency >= lateFrom {
		w.late++
	}
}

// Values gives the measures.
func (w *wakeups) Values(event.Time) map[string]int64 {
	m := map[string]int64{"moved_n": w.moved, "wakeups_n": w.latency.n}
	if w.latency.n > 0 {
		for _, q := range schbenchPercentiles {
			m[q.name] = w.latency.percentile(q.of1000) * 1000
		}
		m["max_ns"] = w.latency.most * 1000
		m["late_ppm"] = w.late * 1_000_000 / w.latency.n
	}
	if w.choices != nil {
		w.choices.values(m)
	}
	return m
}

// schbenchPercentiles are those that the program prints.
var schbenchPercentiles = []struct {
	name   string
	of1000 int64
}{{"p50_ns", 500}, {"p75_ns", 750}, {"p90_ns", 900}, {"p95_ns", 950}, {"p99_ns", 990}, {"p995_ns", 995}, {"p999_ns", 999}}

// histogram is schbench's, which is fio's: µs one by one up to 511, then 256 buckets for each power of
// two, whose middle is printed.
type histogram struct {
	buckets [19 << bucketBits]int64
	n, most int64
}

const bucketBits = 8

func (h *histogram) add(us int64) {
	h.n++
	h.most = max(h.most, us)
	at := us
	if lost := bits.Len64(uint64(us)) - 1 - bucketBits; lost > 0 {
		at = int64(lost+1)<<bucketBits + us>>lost&(1<<bucketBits-1)
	}
	h.buckets[min(at, int64(len(h.buckets)-1))]++
}

// percentile is the bucket with which the count reaches a share of all.
func (h *histogram) percentile(of1000 int64) int64 {
	sum := int64(0)
	for i, n := range h.buckets {
		if sum += n; sum*1000 >= of1000*h.n {
			return middle(int64(i))
		}
	}
	return h.most
}

func middle(bucket int64) int64 {
	if bucket < 2<<bucketBits {
		return bucket
	}
	lost := bucket>>bucketBits - 1
	return 1<<(lost+bucketBits) + bucket%(1<<bucketBits)<<lost + 1<<lost/2
}

// choices counts what the balancer chose for CPUs that were idle or about to be, while a task waited elsewhere
// in the domain:
//
//	passes_n        such passes
//	took_n          that took a task
//	hot_n           that chose a CPU on which one waited, and took none
//	wrong_group_n   that chose a group of CPUs in which none waited, or no group
//	wrong_queue_n   that chose a CPU on which none waited, in a group in which one did
//	misled_n        of these two: the same rules of 4.11 would have chosen a CPU on which one waits, had
//	                the load of each CPU been the sum of what is queued there
type choices struct{ passes, took, hot, group, queue, judged, misled int64 }

func (c *choices) see(p *sched.BalancePass) {
	if p.Kind != sched.BalanceNewidle && p.Kind != sched.BalanceNohz && p.Kind != sched.BalancePeriodic {
		return
	}
	idle, waits := false, false
	for i := range p.Groups {
		g := &p.Groups[i]
		if g.Local {
			idle = g.Idle > 0 || p.Kind == sched.BalanceNewidle
		} else {
			waits = waits || waiting(g)
		}
	}
	if !idle || !waits {
		return
	}
	c.passes++
	if p.Judged {
		c.judged++
	}
	switch {
	case len(p.Moved) > 0:
		c.took++
		return
	case p.Busiest < 0 || !waiting(&p.Groups[p.Busiest]):
		c.group++
	case running(p.Queues, p.Source) > 1:
		c.hot++
		return
	default:
		c.queue++
	}
	if p.Wrong {
		c.misled++
	}
}

// waiting reports whether a task waits on one of the CPUs of g: more want to run than CPUs are busy.
func waiting(g *sched.BalanceGroup) bool { return g.Running > len(g.CPUs)-g.Idle }

// running is how many tasks want to run on c, of the queues that were compared.
func running(queues []sched.BalanceQueue, c event.CPU) int {
	for i := range queues {
		if queues[i].CPU == c {
			return queues[i].Running
		}
	}
	return 0
}

func (c *choices) values(m map[string]int64) {
	m["passes_n"], m["took_n"], m["hot_n"], m["wrong_group_n"], m["wrong_queue_n"] = c.passes, c.took, c.hot, c.group, c.queue
	if c.judged > 0 {
		m["misled_n"] = c.misled
	}
}
