package replay

import (
	"slices"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
)

// timerSleep is a sleep that the sleeper's own timer ended.
type timerSleep struct {
	op     int
	cpu    event.CPU
	expiry int // in the CPU's expiries, −1: none is recorded

	at     event.Time // when it expired, on the trace's clock
	due    event.Time // when it should have, with the slack; NoTime: its start was not seen
	soft   event.Time // without the slack, on the timer's own clock
	length event.Time // from its start, without the slack
	armed  event.Time
}

// nearRound is how far below a round length a timer may be set that counts from now: the clock
// was read a little before hrtimer_start is stamped.
const (
	nearRound event.Time = 10_000
	round     event.Time = 100_000
)

// sleepsByTimer says of each sleep that a timer ended when it was due and what it counts from.
func (r *reader) sleepsByTimer(s *script) {
	if len(s.timers) == 0 {
		return
	}
	started, free := s.timers[:0:0], s.timers[:0:0]
	for _, t := range s.timers {
		if r.timing(s, &t); t.due != event.NoTime {
			started = append(started, t)
		} else {
			free = append(free, t)
		}
	}
	r.startedTimers(s, started)
	r.freeTimers(s, free)
}

// timing finds out when t was due.
func (r *reader) timing(s *script, t *timerSleep) {
	op := &s.ops[t.op]
	t.at, t.due = op.At, event.NoTime
	if r.look.low.tick > 0 {
		t.at = r.tickBefore(t.at)
	}
	if t.expiry < 0 {
		return
	}
	e := r.x.CPUs[t.cpu].Expiries[t.expiry]
	offset, ok := r.a.TimerOffset(e)
	if !ok {
		return
	}
	t.at = min(event.Time(e.Now-offset), t.at)
	arm, ok := r.armed(t)
	if !ok || arm.By != s.id || arm.Expires == event.NoArg {
		return
	}
	t.due, t.armed, t.soft = event.Time(arm.Expires-offset), arm.At, event.Time(arm.Expires)
	if arm.Soft != event.NoArg {
		t.soft = event.Time(arm.Soft)
	}
	t.length = t.soft - event.Time(offset) - t.armed
}

// startedTimers decides by hrtimer_start: times at one distance are a grid, lengths that are
// round count from the sleep.
func (r *reader) startedTimers(s *script, list []timerSleep) {
	every := gridOf(list)
	// Who is late by more than that may begin a grid of its own there: only neighbours tell.
	neighbours := func(i, j int) bool {
		return i >= 0 && j < len(list) && (list[j].soft-list[i].soft)%every == 0
	}
	for i := range list {
		t := &list[i]
		up := (t.length + round - 1) / round * round
		switch {
		case every > 0 && (neighbours(i-1, i) || neighbours(i, i+1)):
			r.absolute(s, t, t.due, every, FromEvents)
		case t.length > 0 && up-t.length <= nearRound:
			r.relative(s, t, t.due, Inferred)
		default:
			r.absolute(s, t, t.due, 0, Assumed)
		}
	}
}

// gridOf is the distance that most neighbours in list have, if more than one pair has it; else 0.
// Its times are exact: nobody but who programs a grid has one.
func gridOf(list []timerSleep) (every event.Time) {
	apart := make(map[event.Time]int)
	most := 1
	for i := 1; i < len(list); i++ {
		d := list[i].soft - list[i-1].soft
		if d < nearRound {
			continue
		}
		if apart[d]++; apart[d] > most {
			most, every = apart[d], d
		}
	}
	return every
}

// freeTimers decides by regularity alone.
func (r *reader) freeTimers(s *script, list []timerSleep) {
	times := make([]event.Time, len(list))
	lengths := make([]event.Time, len(list))
	for i := range list {
		times[i] = list[i].at
		lengths[i] = list[i].at - s.ops[list[i].op].Slept
	}
	slices.Sort(times)
	grid, regular := cause.GridOf(times)
	length := steady(lengths)
	for i := range list {
		t := &list[i]
		switch slept := s.ops[t.op].Slept; {
		case regular:
			due := grid.Before(t.at)
			if due < slept || t.at-due > grid.Every()/2 {
				due = t.at // not one of its grid, or so late that nothing tells
			}
			r.absolute(s, t, due, grid.Every(), Inferred)
		case length > 0 && t.at-slept >= length-nearRound:
			r.relative(s, t, slept+min(t.at-slept, length), Inferred)
		default:
			r.absolute(s, t, t.at, 0, Assumed)
		}
	}
}

// steady is the length that three of four in list have, but for what a switch takes; 0: none.
func steady(list []event.Time) event.Time {
	n := len(list)
	if n < 4 {
		return 0
	}
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	most := n * 3 / 4
	for i := 0; i+most < n; i++ {
		if sorted[i] > 0 && sorted[i+most]-sorted[i] <= nearRound {
			return sorted[i+most/2]
		}
	}
	return 0
}

// absolute makes the sleep one until due, which stands.
func (r *reader) absolute(s *script, t *timerSleep, due, every event.Time, by Origin) {
	op := &s.ops[t.op]
	op.Kind, op.At, op.Every, op.By = OpSleep, min(max(due, t.armed), op.At), every, by
	if by == Assumed {
		r.guess.add(timerFixed)
	} else {
		r.guess.add(timerGrid)
	}
}

// relative makes the sleep one that ends as long after its beginning as it did.
func (r *reader) relative(s *script, t *timerSleep, due event.Time, by Origin) {
	op := &s.ops[t.op]
	op.Kind, op.NS, op.By = OpNap, max(min(due, op.At)-op.Slept, 0), by
	r.guess.add(timerRelative)
}
