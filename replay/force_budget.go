package replay

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// outOfBudget reports whether the model lets nobody of the class of the current task of c go on.
func (f *forcer) outOfBudget(c event.CPU) bool {
	cur := f.sched.Curr(c)
	switch cur.Rank() {
	case sched.RankRT:
		return f.sched.RTThrottled(c) || f.sched.Serves(c)
	case sched.RankDL:
		return cur.Throttled()
	}
	return false
}

// spend does something that may use up a budget, and notes if it did: then the current task
// has to leave.
func (f *forcer) spend(c event.CPU, do func()) {
	cur, before := f.sched.Curr(c), f.outOfBudget(c)
	do()
	if !before && cur == f.sched.Curr(c) && f.outOfBudget(c) {
		f.cpus[c].spent = f.now
	}
}

// outsideCharges are the kinds that are not recorded amid the reckoning of the kernel.
var outsideCharges = event.Kinds(event.HrtimerExpireEntry, event.SchedWaking, event.IRQHandlerEntry, event.SoftirqEntry,
	event.SysEnter, event.SysExit)

// stillRuns finds the current tasks that the model has throttled and the kernel has not: what
// comes next on the CPU shows that nobody asks them to leave. Where the kernel switches, the
// switch tells.
func (f *forcer) stillRuns(ev *event.Event) {
	c := ev.CPU
	cp := &f.cpus[c]
	if cp.spent == event.NoTime || ev.Time <= cp.spent || !outsideCharges.Has(ev.Kind) || ev.Flags&event.FlagsKnown == 0 {
		return
	}
	if ev.Flags.Has(event.HardIRQ) && ev.Kind != event.HrtimerExpireEntry {
		return // the tick wakes before it charges
	}
	cp.spent = event.NoTime
	cur := f.sched.Curr(c)
	if ev.Flags.Has(event.NeedResched) || !f.outOfBudget(c) {
		return
	}
	rank := cur.Rank()
	row := f.scores.row(rank, ClassPick)
	if why := f.classDoubt(c, rank, cur); why != "" {
		row.undecide(why)
	} else {
		row.count(false, true)
		f.miss(rank, ClassPick, c, Choice{Class: cur.ClassName()}, Choice{Class: "throttled"}, cur)
	}
	if rank == sched.RankDL {
		f.sched.ForceReplenish(cur)
	} else {
		if f.throttles() {
			at, _ := f.sched.RTUsed(c)
			f.budget.low = max(f.budget.low, at)
		}
		f.followClass(c, cur, rank, rank)
	}
}

// budget is what decisions show of sched_rt_runtime_us: real-time tasks went on at low, and
// were throttled at high or before; ns.
type budget struct {
	low, high event.Time // high 0: never
	windows   int64      // times that they were throttled
}

// used notes what the real-time tasks of c had used when the kernel charged them and let them
// go on.
func (f *forcer) used(c event.CPU) {
	cp := &f.cpus[c]
	if f.sched.Curr(c).Rank() != sched.RankRT || !f.throttles() || f.sched.RTThrottled(c) {
		return // one that became real-time while they are throttled goes on
	}
	if !cp.flags.Has(event.NeedResched) {
		f.budget.low = max(f.budget.low, cp.used)
	}
	cp.used, _ = f.sched.RTUsed(c)
}

// throttled notes that the kernel has throttled the real-time tasks of c.
func (f *forcer) throttled(c event.CPU) {
	if f.scores.periods == 0 {
		return // what they had used before the trace counts too
	}
	at, _ := f.sched.RTUsed(c)
	if f.budget.windows++; f.budget.high == 0 || at < f.budget.high {
		f.budget.high = at
	}
}

// guess is the roundest runtime that fits, unless the kernel's default does; −1: no limit.
func (b *budget) guess(usual, period event.Time) event.Time {
	switch {
	case b.high == 0 && (b.low > period || usual >= 0 && b.low > usual):
		return -1
	case b.high == 0 || usual >= b.low && usual < b.high:
		return usual
	}
	for unit := event.Time(100_000_000); unit >= 1_000_000; unit /= 10 {
		for _, u := range [...]event.Time{unit, unit / 2} {
			if r := (b.low + u - 1) / u * u; r > 0 && r < b.high {
				return r
			}
		}
	}
	return usual // a number that nobody would write down fits by chance
}

// mostGuesses bounds how often a trace is followed anew with another runtime.
const mostGuesses = 4

// fit follows src with the runtime and the period of real-time tasks that it shows. They are
// not scored by what they were fitted on alone: one number has to fit every window.
func fit(src Input, o Options, first *firstSight, cfg sched.Config) (*forcer, error) {
	if first.budgetTold {
		return follow(src, o, first, cfg)
	}
	period, told := first.rtPeriod(), cfg
	if cfg.RTPeriod > 0 && period > 0 && farFrom(period, cfg.RTPeriod) > cfg.RTPeriod/10 {
		// An expiry can be late, but not by that much each time. The share stays.
		cfg.RTRuntime, cfg.RTPeriod = cfg.RTRuntime/1000*period/(cfg.RTPeriod/1000), period
	}
	usual := cfg.RTRuntime
	for range mostGuesses {
		f, err := follow(src, o, first, cfg)
		if err != nil || cfg.RTPeriod == 0 {
			return f, err
		}
		r := f.budget.guess(usual, cfg.RTPeriod)
		if r == cfg.RTRuntime || cfg.RTRuntime < 0 || !first.shows(event.SchedStatRuntime) {
			f.tellBudget(told, cfg)
			return f, nil
		}
		cfg.RTRuntime = r
	}
	f, err := follow(src, o, first, cfg)
	if err == nil {
		f.tellBudget(told, cfg)
	}
	return f, err
}

// tellBudget says which budget was assumed, where it is not the usual one.
func (f *forcer) tellBudget(usual, used sched.Config) {
	text := ""
	switch {
	case used.RTRuntime < 0 && usual.RTRuntime >= 0:
		text = fmt.Sprintf("sched_rt_runtime_us is not recorded; real-time tasks had more than the usual %d µs at once and were not throttled, so there is no limit", usual.RTRuntime/1000)
	case usual.RTRuntime != used.RTRuntime || usual.RTPeriod != used.RTPeriod:
		text = fmt.Sprintf("sched_rt_runtime_us and sched_rt_period_us are not recorded; %d of %d µs fit the %d times that real-time tasks were throttled, and those that they were not",
			used.RTRuntime/1000, used.RTPeriod/1000, f.budget.windows)
	default:
		return
	}
	f.assumed = append(f.assumed, Assumption{Kind: guesses[rtRuntime].kind, Count: 1, Text: text})
}
