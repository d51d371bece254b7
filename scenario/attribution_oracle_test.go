package scenario_test

import (
	"iter"
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/truth"
)

// The oracle says, from the truth alone, which kind and whose fault each moment of a wait is
// by docs/definitions.md. It has its own words for classes and its own way to look back, and
// shares no code with the analysis that it judges.
type oracle struct {
	log   *truth.Log
	waits map[event.PID][]*truth.Wait
	// off are events that were not recorded: an interrupt without events counts, by the
	// definitions, for who is interrupted.
	off event.KindSet
}

// told reports whether c shows in the events.
func (o *oracle) told(c truth.Cover) bool {
	switch c.Kind {
	case truth.HardIRQ:
		return o.off == 0 || !o.off.Has(event.IRQHandlerEntry)
	case truth.SoftIRQ:
		return o.off == 0 || !o.off.Has(event.SoftirqEntry)
	}
	return c.Kind == truth.LocalIRQ && c.Name != 0
}

// atMostSwitch is how long a task that should leave may take to switch, by the definitions;
// wayBack is how long the return of a deadline task belongs to its throttling.
const (
	atMostSwitch = 50 * us
	wayBack      = 100 * us
)

// fact is what holds during a stretch of a wait: any of the kinds is a right answer.
type fact struct {
	from, to event.Time
	kinds    []string
	pid      event.PID   // whose fault, NoPID: nobody's
	or       []event.PID // whose as well
	name     event.Name  // of an interrupt
	why      string      // for people, where no kind has it
}

func newOracle(l *truth.Log) *oracle {
	o := &oracle{log: l, waits: make(map[event.PID][]*truth.Wait)}
	for w := range l.Waits() {
		o.waits[w.PID] = append(o.waits[w.PID], w)
	}
	return o
}

// late yields the facts from the moment at which pid should have been woken to that at which
// it was: none if no timer woke it, or in time.
func (o *oracle) late(pid event.PID, woken event.Time) (due event.Time, facts []fact) {
	timer, ok := o.log.TimerOf(pid, woken)
	if !ok {
		return event.NoTime, nil
	}
	if timer.By == 0 {
		return timer.Due, []fact{{timer.Due, woken, []string{"late_wakeup"}, event.NoPID, nil, 0, ""}}
	}
	for s := range o.log.On(timer.CPU, timer.Due, woken) {
		f := fact{s.From, s.To, []string{"late_wakeup"}, s.PID, nil, 0, ""}
		if s.Rule == truth.Idle {
			f.pid = event.NoPID
		}
		facts = append(facts, f)
	}
	return timer.Due, facts
}

// facts yields what holds in [from, to), as far as pid waited then.
func (o *oracle) facts(pid event.PID, from, to event.Time) iter.Seq[fact] {
	return func(yield func(fact) bool) {
		list := o.waits[pid]
		i := sort.Search(len(list), func(i int) bool { return list[i].To > from })
		for ; i < len(list) && list[i].From < to; i++ {
			for n := range list[i].Parts {
				q := &list[i].Parts[n]
				cuts := o.cuts(pid, q, max(q.From, from), min(q.To, to))
				for j := 0; j+1 < len(cuts); j++ {
					if !yield(o.at(list[i], n, cuts[j], cuts[j+1])) {
						return
					}
				}
			}
		}
	}
}

// cuts returns the moments in [from, to] at which anything changes for one who waits.
func (o *oracle) cuts(pid event.PID, q *truth.Part, from, to event.Time) []event.Time {
	if from >= to {
		return nil
	}
	cuts := []event.Time{from, to}
	add := func(times ...event.Time) {
		for _, t := range times {
			if t > from && t < to {
				cuts = append(cuts, t)
			}
		}
	}
	for s := range o.log.On(q.CPU, from, to) {
		add(s.From, s.To)
	}
	for c := range o.log.Covers(q.CPU, from, to) {
		add(c.From, c.To)
	}
	for _, list := range []iter.Seq[truth.Span]{o.log.RTThrottled(q.CPU, from, to), o.log.FairServed(q.CPU, from, to), o.log.Throttled(pid, from, to)} {
		for s := range list {
			add(s.From, s.To)
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// holds reports whether one of the spans at t exists.
func holds(list iter.Seq[truth.Span]) bool {
	for range list {
		return true
	}
	return false
}

// at judges [from, to) of part n of a wait, during which nothing changes.
func (o *oracle) at(w *truth.Wait, n int, from, to event.Time) fact {
	q := &w.Parts[n]
	f := fact{from: from, to: to, pid: event.NoPID}
	h, _ := o.log.At(q.CPU, from)
	cover := o.coverAt(q.CPU, from)
	switch told := o.told(cover); {
	case told && cover.Kind == truth.SoftIRQ:
		f.kinds = []string{"softirq"}
	case told:
		f.kinds, f.name = []string{"irq"}, cover.Name
	case q.Rule == truth.RealTime && o.dark(q.CPU, from, &h):
		f.kinds, f.or = []string{"rt_throttled"}, o.mostBudget(q.CPU, from)
		if h.Rule <= truth.Deadline {
			// It would have the CPU without throttling as well: both are right.
			f.kinds, f.or = append(f.kinds, "higher_prio"), append(f.or, h.PID)
			if h.Dying {
				f.kinds = append(f.kinds, "exit_teardown")
			}
		}
		o.andSection(&f, &h)
	case q.Rule == truth.RealTime && h.Rule == truth.Fair && holds(o.log.FairServed(q.CPU, from, from+1)):
		f.kinds, f.pid = []string{"fair_server"}, h.PID
		if o.lowerUntil(w, n, from)-o.lowerSince(w, n, from) <= atMostSwitch {
			f.kinds = append(f.kinds, "switch") // it gets the CPU at once: the server did not keep it out
		}
		o.andSection(&f, &h)
	case q.Rule == truth.Deadline && holds(o.log.Throttled(w.PID, from, from+1)):
		f.kinds = []string{"dl_throttled"}
	default:
		o.held(&f, w, n, &h, cover)
	}
	return f
}

// andSection adds that the holder could not have been preempted anyway: both are right.
func (o *oracle) andSection(f *fact, h *truth.Holder) {
	if h.Mode != truth.User && h.Rule == truth.Fair {
		f.kinds, f.or = append(f.kinds, "preempt_off"), append(f.or, h.PID)
	}
}

// held judges a moment at which the holder of the CPU decides.
func (o *oracle) held(f *fact, w *truth.Wait, n int, h *truth.Holder, cover truth.Cover) {
	q := &w.Parts[n]
	mine, theirs, own := place(q.Rule, q.Prio), place(h.Rule, h.Prio), placeOf(h.Normal)
	f.pid = h.PID
	switch {
	case h.Rule == truth.Idle:
		f.kinds, f.pid = []string{"idle_exit"}, event.NoPID
	case theirs > mine:
		o.lower(f, w, n, h, cover)
	case h.Dying:
		f.kinds = []string{"exit_teardown"}
	case h.Boosted && own > mine:
		f.kinds = []string{"pi_boosted"}
	case theirs < mine, theirs == placeDeadline:
		f.kinds = []string{"higher_prio"}
	case q.Rule == truth.Fair:
		f.kinds = []string{"fair_turn"}
	default:
		f.kinds = []string{"same_prio"}
	}
	// The way from the end of a state of the runqueue to the switch is a part of it.
	if q.Rule == truth.RealTime && theirs > mine {
		for s := range o.log.RTThrottled(q.CPU, f.from-wayBack, f.from) {
			if s.To <= f.from && o.lowerSince(w, n, f.from) <= s.To {
				f.kinds, f.or = append(f.kinds, "rt_throttled"), append(f.or, o.mostBudget(q.CPU, s.To-1)...)
			}
		}
		for s := range o.log.FairServed(q.CPU, f.from-wayBack, f.from) {
			if s.To <= f.from && o.lowerSince(w, n, f.from) <= s.To {
				f.kinds = append(f.kinds, "fair_server")
			}
		}
	}
	// The way of a deadline task from its replenishment to the CPU is a part of its
	// throttling, unless somebody else has the CPU by right.
	if q.Rule == truth.Deadline && theirs > mine {
		for s := range o.log.Throttled(w.PID, f.from-wayBack, f.from) {
			if s.To <= f.from && o.lowerSince(w, n, f.from) <= s.To {
				f.kinds, f.or = append(f.kinds, "dl_throttled"), append(f.or, event.NoPID)
			}
		}
	}
}

// The places of tasks by who goes first: those of real-time tasks are their priorities.
const (
	placeStop     event.Prio = -2
	placeDeadline event.Prio = -1
	placeFair     event.Prio = 1000
	placeIdle     event.Prio = 2000
)

func place(r truth.Rule, prio event.Prio) event.Prio {
	switch r {
	case truth.Stop:
		return placeStop
	case truth.Idle:
		return placeIdle
	}
	return placeOf(prio)
}

func placeOf(prio event.Prio) event.Prio {
	switch {
	case prio < 0:
		return placeDeadline
	case prio < event.MaxRTPrio:
		return prio
	}
	return placeFair
}

// lower judges a moment at which one has the CPU who should make way.
func (o *oracle) lower(f *fact, w *truth.Wait, n int, h *truth.Holder, cover truth.Cover) {
	cpu := w.Parts[n].CPU
	from, to := o.lowerSince(w, n, f.from), o.lowerUntil(w, n, f.from)
	lingers, section := to-from, false
	for c := range o.log.Covers(cpu, from, to) {
		if o.told(c.Cover) {
			lingers -= c.To - c.From
		}
	}
	for s := range o.log.On(cpu, from, to) {
		section = section || s.Mode != truth.User
	}
	switch {
	case lingers <= atMostSwitch:
		f.kinds = []string{"switch"}
		if h.Dying { // exit_normalize made it one that should leave
			f.kinds = append(f.kinds, "exit_teardown")
		}
	case h.Dying:
		f.kinds = []string{"exit_teardown"}
	case cover.Kind == truth.Stolen && h.Mode == truth.User:
		f.why, f.pid = "the hypervisor had taken the CPU", event.NoPID
	case section:
		f.kinds = []string{"preempt_off"}
	default:
		f.why = "the machine's own work"
	}
}

// isLower reports whether who holds the CPU of q at t goes after it, and who that is.
func (o *oracle) isLower(q *truth.Part, t event.Time) (event.PID, bool) {
	h, ok := o.log.At(q.CPU, t)
	return h.PID, ok && h.Rule != truth.Idle && place(h.Rule, h.Prio) > place(q.Rule, q.Prio)
}

// lowerSince looks back from t: since when has the same lower task had the CPU while this
// one was queued there.
func (o *oracle) lowerSince(w *truth.Wait, n int, t event.Time) event.Time {
	cpu := w.Parts[n].CPU
	who, lower := o.isLower(&w.Parts[n], t)
	for ; n >= 0 && w.Parts[n].CPU == cpu; n-- {
		q := &w.Parts[n]
		stretches := slices.Collect(o.log.On(cpu, q.From, min(t, q.To)))
		for _, s := range slices.Backward(stretches) {
			if pid, l := o.isLower(q, s.From); pid != who || l != lower {
				return t
			}
			t = s.From
		}
		t = q.From
	}
	return t
}

// lowerUntil looks ahead: until when.
func (o *oracle) lowerUntil(w *truth.Wait, n int, t event.Time) event.Time {
	cpu := w.Parts[n].CPU
	who, lower := o.isLower(&w.Parts[n], t)
	for ; n < len(w.Parts) && w.Parts[n].CPU == cpu; n++ {
		q := &w.Parts[n]
		for s := range o.log.On(cpu, max(t, q.From), q.To) {
			if pid, l := o.isLower(q, s.From); pid != who || l != lower {
				return s.From
			}
			t = s.To
		}
	}
	return t
}

func (o *oracle) coverAt(cpu event.CPU, t event.Time) truth.Cover {
	for c := range o.log.Covers(cpu, t, t+1) {
		return c.Cover
	}
	return truth.Cover{}
}

// dark reports whether the real-time tasks of cpu are kept off it at t. The one that used the
// budget up still runs until the switch.
func (o *oracle) dark(cpu event.CPU, t event.Time, h *truth.Holder) bool {
	for s := range o.log.RTThrottled(cpu, 0, t+1) {
		if s.To <= t {
			continue
		}
		if h.Rule != truth.RealTime {
			return true
		}
		before, _ := o.log.At(cpu, s.From-1)
		if before.PID != h.PID || before.Rule != truth.RealTime {
			return true // as a fair task that became real-time there
		}
		for x := range o.log.On(cpu, s.From, t) {
			if x.PID != h.PID {
				return true
			}
		}
		return false
	}
	return false
}

// mostBudget returns who used most of the budget that ran out before t, by the time for which
// they had the CPU; more than one where they are a tick or less apart, since run time is
// charged at ticks.
func (o *oracle) mostBudget(cpu event.CPU, t event.Time) []event.PID {
	begin := t
	for s := range o.log.RTThrottled(cpu, 0, t+1) {
		if s.To > t {
			begin = s.From
		}
	}
	used, most := map[event.PID]event.Time{}, event.Time(0)
	for s := range o.log.On(cpu, o.log.RTPeriodBefore(begin), begin) {
		if s.Rule == truth.RealTime || s.Rule == truth.Deadline {
			used[s.PID] += s.To - s.From
			most = max(most, used[s.PID])
		}
	}
	var list []event.PID
	for pid, ns := range used {
		if ns >= most-oneTick {
			list = append(list, pid)
		}
	}
	return list
}

// oneTick is the longest tick of the kernels that are scored.
const oneTick = 10 * ms
