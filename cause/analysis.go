package cause

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// Analysis is what a whole trace says, ready to explain single waits. It is not changed
// after New, so several goroutines may use it at once.
type Analysis struct {
	x    *timeline.Index
	snap *sysinfo.Snapshot // nil: the machine is not known
	tick event.Time        // distance of two ticks, from the trace where it shows

	throttled  [][]window      // by CPU: RT throttling
	served     [][]window      // by CPU: the fair server
	quota      [][]window      // by CPU: idling that only a used-up quota explains, if a fair task is queued
	chargeSums [][]int64       // by CPU: of the charges before each; made when they are needed in New
	gaps       []timeline.Span // of all CPUs together; only where groupsOf is there
	groupsOf   [][]*quotaGroup // by task: groups that have a quota by the snapshot, the innermost first
	exits      []event.Time    // by task: from when its last run is likely its exit

	rtPeriod  []timeline.Expiry // of sched_rt_period_timer, all CPUs, by time
	cfsPeriod []timeline.Expiry // of the bandwidth timers of fair groups
	cfsSlack  []timeline.Expiry // of those that hand out what is left of a period
	dlTimer   [][]timeline.Expiry
	deadline  map[timeline.TaskID]*deadlineTask
	ownTimers map[timeline.TaskID]*ownTimer
	timerOf   map[int64]timeline.TaskID // whose timer an address is, where that is known
	clocks    clocks
	wakeup    event.Name // hrtimer_wakeup
	periods   map[timeline.TaskID]period
	idle      [][]idleRun // by CPU

	idlePasses []Ref // softirqs in which idle CPUs balanced, by time
}

// afterTimer is how long after a timer's expiry a switch still counts as its effect.
const afterTimer event.Time = 100_000

// atOnce is how long a task that should have left the CPU may take to do so before the
// delay asks for a reason of its own.
const atOnce event.Time = 50_000

// New looks over the whole trace. snap is the machine that recorded it, nil where that is not
// known.
func New(x *timeline.Index, snap *sysinfo.Snapshot) *Analysis {
	a := &Analysis{x: x, snap: snap, throttled: make([][]window, len(x.CPUs)), served: make([][]window, len(x.CPUs)), chargeSums: make([][]int64, len(x.CPUs)),
		dlTimer: make([][]timeline.Expiry, len(x.CPUs))}
	var ok bool
	if a.wakeup, ok = x.Names.Lookup("hrtimer_wakeup"); !ok {
		a.wakeup = ^event.Name(0) // no timer has it; 0 would be one without a name
	}
	a.collectTimers()
	a.tick = a.findTick()
	a.clocks.collect(x)
	a.findPeriods()
	a.collectIdle()
	a.collectPasses()
	a.quota = make([][]window, len(x.CPUs))
	a.findExits()
	a.collectDeadlineTasks()
	a.findQuotaGroups()
	for c := range x.CPUs {
		a.findQuota(event.CPU(c))
		a.findWindows(event.CPU(c))
		a.findKept(event.CPU(c))
	}
	return a
}

// Tick returns the distance of two scheduler ticks in ns.
func (a *Analysis) Tick() event.Time { return a.tick }

func (a *Analysis) collectTimers() {
	name := func(s string) event.Name {
		n, ok := a.x.Names.Lookup(s)
		if !ok {
			return ^event.Name(0)
		}
		return n
	}
	rt, dl := name("sched_rt_period_timer"), name("dl_task_timer")
	cfs, slack := name("sched_cfs_period_timer"), name("sched_cfs_slack_timer")
	for c := range a.x.CPUs {
		for _, e := range a.x.CPUs[c].Expiries {
			switch e.Func {
			case rt:
				a.rtPeriod = append(a.rtPeriod, e)
			case dl:
				a.dlTimer[c] = append(a.dlTimer[c], e)
			case slack:
				a.cfsSlack = append(a.cfsSlack, e)
				fallthrough
			case cfs:
				a.cfsPeriod = append(a.cfsPeriod, e)
			}
		}
	}
	for _, list := range [][]timeline.Expiry{a.rtPeriod, a.cfsPeriod, a.cfsSlack} {
		sort.SliceStable(list, func(i, j int) bool { return list[i].At < list[j].At })
	}
}

// lastExpiry returns the last expiry at or before t, and false if there is none.
func lastExpiry(list []timeline.Expiry, t event.Time) (timeline.Expiry, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i].At > t })
	if i == 0 {
		return timeline.Expiry{}, false
	}
	return list[i-1], true
}

// ticks are the periods of the HZ values that kernels are built with: 1000, 300, 250, 100.
var ticks = [...]event.Time{1_000_000, 3_333_333, 4_000_000, 10_000_000}

// findTick takes the period that most distances between two ticks of one CPU fit. A single
// distance says little: a late tick makes one too long and one too short.
// tick_sched_timer is called tick_nohz_handler from 6.9.
func (a *Analysis) findTick() event.Time {
	old, ok1 := a.x.Names.Lookup("tick_sched_timer")
	now, ok2 := a.x.Names.Lookup("tick_nohz_handler")
	var votes [len(ticks)]int
	for c := range a.x.CPUs {
		last := event.NoTime
		for _, e := range a.x.CPUs[c].Expiries {
			if !(ok1 && e.Func == old || ok2 && e.Func == now) || e.Now == event.NoArg {
				continue
			}
			for i, t := range ticks {
				if last != event.NoTime && distance(event.Time(e.Now)-last, t) < t/8 {
					votes[i]++
				}
			}
			last = event.Time(e.Now)
		}
	}
	best := slices.Max(votes[:])
	if best == 0 {
		return a.usualTick()
	}
	return ticks[slices.Index(votes[:], best)]
}

func distance(a, b event.Time) event.Time { return max(a-b, b-a) }

// comm returns the text of a name.
func (a *Analysis) comm(n event.Name) string { return a.x.Names.String(n) }

// throttles reports whether this kernel may throttle real-time runqueues.
func (a *Analysis) throttles() bool {
	if len(a.rtPeriod) > 0 {
		return true
	}
	// Without a limit there is no timer either.
	runtime, _, known := a.rtBandwidth()
	return a.x.Facts.RTThrottling != kernel.No && !(known && runtime < 0)
}
