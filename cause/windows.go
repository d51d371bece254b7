package cause

import (
	"fmt"
	"sort"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// window is a stretch in which a runqueue is in a state that keeps a class out.
type window struct {
	from, to event.Time
	verdict  Verdict
	culprit  timeline.TaskID // who brought it about; NoTask: see the current task
	detail   string
	needs    []string
	evidence []Ref

	// ends is the expiry of sched_rt_period_timer that ended RT throttling.
	ends event.Time
	// quiet: it began when a real-time task went to sleep, so that nothing shows its start.
	// It then explains only who was queued well before ends.
	quiet bool
	// budgetFrom is the expiry since which everything that was used was beyond the budget,
	// periods how many budgets were used up in that time: a debt is carried over from one to
	// the next.
	budgetFrom event.Time
	periods    int64
	// until is up to when what was used counts, deadline whether a deadline task had the CPU since
	// budgetFrom.
	until    event.Time
	deadline bool
	// least and most bound the runtime that was used up, where that is proven.
	least, most int64
}

// windowsOf returns the windows of c; none for a CPU without events.
func windowsOf(byCPU [][]window, c event.CPU) []window {
	if c < 0 || int(c) >= len(byCPU) {
		return nil
	}
	return byCPU[c]
}

// in returns the window that covers t.
func in(windows []window, t event.Time) *window {
	i := sort.Search(len(windows), func(i int) bool { return windows[i].to > t })
	if i < len(windows) && windows[i].from <= t {
		return &windows[i]
	}
	return nil
}

// edge returns the next start or end of a window after t, at most limit.
func edge(windows []window, t, limit event.Time) event.Time {
	i := sort.Search(len(windows), func(i int) bool { return windows[i].to > t })
	if i == len(windows) {
		return limit
	}
	if windows[i].from > t {
		return min(limit, windows[i].from)
	}
	return min(limit, windows[i].to)
}

// realTime reports whether a run that begins or ends with prio is one of a real-time
// task; the stop class shows priority 0 too and is none.
func (a *Analysis) realTime(r *timeline.Run, prio event.Prio) bool {
	return ClassOf(prio, a.comm(r.Comm), a.x.Tracker.Task(r.Task).Idle()) == ClassRT
}

// windowsApart is how far the starts of two windows of one CPU must be apart. Budgets are
// enforced at ticks, so real ones are; a damaged trace could have one in every switch, and
// each looks back over a whole period: of a long one they are the thousandth part of it.
const windowsApart event.Time = 1_000_000

// findWindows looks for the one pattern that both RT throttling and the fair server
// leave: a real-time task that could go on makes way for a fair task or for idle. Lost
// events end a window: nobody knows what ran then.
func (a *Analysis) findWindows(c event.CPU) {
	runs := a.x.CPUs[c].Runs
	last, apart := event.NoTime, max(windowsApart, a.rtPeriodLength()/1000)
	for i := 0; i+1 < len(runs); i++ {
		prev, next := &runs[i], &runs[i+1]
		if w, ok := a.quietWindow(c, runs, i); ok {
			a.throttled[c] = append(a.throttled[c], w)
			continue
		}
		if !a.makesWay(prev, next) && !a.passedRT(prev, next) || last != event.NoTime && prev.End-last < apart {
			continue
		}
		last = prev.End
		w := window{from: prev.End, to: a.x.To, culprit: timeline.NoTask, evidence: []Ref{{prev.End, c}}}
		gaps := a.x.CPUs[c].Gaps
		if lost := firstEnding(gaps, w.from); lost < len(gaps) {
			w.to = min(w.to, gaps[lost].From)
		}
		if w.to <= w.from {
			continue
		}
		known := sort.Search(len(runs), func(n int) bool { return runs[n].Start >= w.to })
		end := a.nextRealTime(runs[:known], i+1)
		if end < known {
			w.to = runs[end].Start
			w.evidence = append(w.evidence, Ref{w.to, c})
		}
		idle := a.x.Tracker.Task(next.Task).Idle()
		switch {
		case !idle && a.serverWindow(c, &w, end < known):
			a.served[c] = append(a.served[c], w)
		case a.x.Facts.FairServer != kernel.Yes && a.throttledWindow(c, runs[:known], end, &w):
			a.throttled[c] = append(a.throttled[c], w)
		default:
			continue
		}
		for i+2 < len(runs) && runs[i+2].Start < w.to {
			i++
		}
	}
}

// leaves reports whether a real-time task was replaced by a fair one or by idle.
func (a *Analysis) leaves(prev, next *timeline.Run) bool {
	if prev.Marks&(timeline.MarkOpen|timeline.MarkLast) != 0 || prev.End != next.Start {
		return false
	}
	return a.realTime(prev, prev.PrioOut) && (a.x.Tracker.Task(next.Task).Idle() || next.PrioIn.Fair())
}

// makesWay reports whether a real-time task that could go on was replaced by a fair one
// or by idle.
func (a *Analysis) makesWay(prev, next *timeline.Run) bool {
	return prev.State.Runnable() && a.leaves(prev, next)
}

// passedRT reports whether next was chosen with a real-time task in the queue, after a
// deadline task, one of the stop class, or one that went to sleep. Without the timers that end
// such a stretch it would say little.
func (a *Analysis) passedRT(prev, next *timeline.Run) bool {
	return a.x.Occurs(event.HrtimerExpireEntry) && next.Marks.Has(timeline.MarkPassedRT) &&
		prev.End == next.Start && prev.Marks&(timeline.MarkOpen|timeline.MarkLast) == 0
}

// nextRealTime returns the first run from i on that begins as a real-time one, len(runs)
// if there is none.
func (a *Analysis) nextRealTime(runs []timeline.Run, i int) int {
	for ; i < len(runs); i++ {
		if a.realTime(&runs[i], runs[i].PrioIn) {
			return i
		}
	}
	return i
}

// user is one who used a budget.
type user struct {
	task timeline.TaskID
	ns   int64
}

// budget sums what tasks used of one.
type budget struct {
	users []user
	at    map[timeline.TaskID]int // in users
	sum   int64
}

func (b *budget) add(t timeline.TaskID, ns int64) {
	b.sum += ns
	if n, ok := b.at[t]; ok {
		b.users[n].ns += ns
		return
	}
	if b.at == nil {
		b.at = make(map[timeline.TaskID]int)
	}
	b.at[t] = len(b.users)
	b.users = append(b.users, user{t, ns})
}

// largestFirst returns the users; of equals the one that came first.
func (b *budget) largestFirst() []user {
	sort.SliceStable(b.users, func(i, j int) bool { return b.users[i].ns > b.users[j].ns })
	return b.users
}

// usage sums what real-time and deadline tasks were charged on c in (from, to], the
// largest first.
func (a *Analysis) usage(c event.CPU, from, to event.Time) (users []user, sum int64) {
	var b budget
	charges := a.x.CPUs[c].Charges
	i := sort.Search(len(charges), func(i int) bool { return charges[i].At > from })
	for ; i < len(charges) && charges[i].At <= to; i++ {
		b.add(charges[i].Task, charges[i].NS)
	}
	return b.largestFirst(), b.sum
}

// charged is the sum of usage. It takes no time that grows with the stretch.
func (a *Analysis) charged(c event.CPU, from, to event.Time) int64 {
	if to <= from {
		return 0
	}
	charges := a.x.CPUs[c].Charges
	if sums := a.chargeSums[c]; len(sums) <= len(charges) {
		sums = make([]int64, 1, len(charges)+1)
		for i := range charges {
			sums = append(sums, sums[i]+charges[i].NS)
		}
		a.chargeSums[c] = sums
	}
	before := func(t event.Time) int64 {
		return a.chargeSums[c][sort.Search(len(charges), func(i int) bool { return charges[i].At > t })]
	}
	return before(to) - before(from)
}

// usageBySwitches sums the time that real-time and deadline tasks held c in (from, to].
func (a *Analysis) usageBySwitches(c event.CPU, from, to event.Time) (users []user, sum int64) {
	var b budget
	runs := a.x.CPUs[c].Runs
	i := sort.Search(len(runs), func(i int) bool { return runs[i].End > from })
	for ; i < len(runs) && runs[i].Start < to; i++ {
		r := &runs[i]
		idle := a.x.Tracker.Task(r.Task).Idle()
		class := ClassOf(r.PrioOut, a.comm(r.Comm), idle)
		if class == ClassUnknown {
			class = ClassOf(r.PrioIn, a.comm(r.Comm), idle)
		}
		if class == ClassRT || class == ClassDeadline {
			b.add(r.Task, int64(min(r.End, to)-max(r.Start, from)))
		}
	}
	return b.largestFirst(), b.sum
}

// describe names at most three users of a budget.
func (a *Analysis) describe(users []user) string {
	var b strings.Builder
	for i, u := range users {
		if i == 3 {
			fmt.Fprintf(&b, " and %d more", len(users)-3)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		t := a.x.Tracker.Task(u.task)
		fmt.Fprintf(&b, "%s/%d %s", a.comm(t.Comm), t.PID, millis(u.ns))
	}
	return b.String()
}

// millis prints ns as milliseconds with one decimal.
func millis(ns int64) string {
	tenths := (ns + 50_000) / 100_000
	return fmt.Sprintf("%d.%d ms", tenths/10, tenths%10)
}
