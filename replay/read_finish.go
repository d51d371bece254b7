package replay

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/timeline"
)

// rawWait is a wait of the recording whose place among the operations is known, and not yet
// how many of these will be left.
type rawWait struct {
	w  Wait
	at int // it comes before this operation is over
}

// wait takes in a wait of the third pass.
func (r *reader) wait(w *latency.Wait) {
	s := r.taskOf(w.Task)
	if s == nil {
		return
	}
	at := len(s.ops)
	if w.Kind == latency.Wakeup && !w.New && s.sleep >= 0 {
		at = s.sleep
	}
	comm := r.x.Names.String(w.Comm)
	r.waits = append(r.waits, rawWait{at: at, w: Wait{Key: WaitKey{Task: s.index, Kind: w.Kind}, ID: w.ID(), Due: r.a.Due(w),
		Woken: w.Woken, OnCPU: w.OnCPU, End: w.End, CPU: w.CPUAt(w.End), Class: cause.ClassOf(w.Base, comm, false).String(),
		Prio: w.Base, Untrusted: w.GapFrom != event.NoTime}})
}

// load finishes what was read.
func (r *reader) load() *Load {
	for c := range r.cpus {
		r.until(event.CPU(c), r.x.To)
	}
	r.lt.Finish()
	r.locks.finish(r)
	l := r.l
	l.Mutexes = r.locks.mutexes
	r.machine()
	r.deadlines()
	l.Tasks = make([]Task, len(r.tasks))
	for i := range r.tasks {
		s := &r.tasks[i]
		r.sleepsByTimer(s)
		r.lastJob(s)
		r.unpin(s)
		r.attributes(s, &l.Tasks[i])
		r.count(s)
	}
	cycles := make([][]int32, len(r.tasks))
	for i := range r.tasks {
		s := &r.tasks[i]
		l.Tasks[i].Ops, cycles[i] = s.merge()
		if s.begin == BeginNew && s.born != event.NoTime && len(l.Tasks[i].Ops) > 0 {
			l.Tasks[i].Ops[0].At = s.born
		}
		s.ops, s.in = nil, nil
	}
	r.fair()
	r.record(cycles)
	l.Lines = readLines(r, l.Tasks)
	r.guess[lostEvents] += int64(len(l.Stolen) - len(r.look.stolen))
	r.guess[stolenTime] += int64(len(r.look.stolen))
	r.guess[lateTimers] += int64(len(l.Late))
	sort.SliceStable(l.Stolen, func(i, j int) bool { return l.Stolen[i].From < l.Stolen[j].From })
	l.Assumed = r.guess.list()
	return l
}

// count counts what was guessed of s.
func (r *reader) count(s *script) {
	if s.begin == BeginReady && len(s.ops) > 0 && s.sleep >= 0 {
		r.guess.add(beginUnseen)
	}
	if _, likely := r.a.ExitFrom(s.id); likely {
		r.guess.add(exitLikely)
	}
	for i := range s.ops {
		switch op := &s.ops[i]; {
		case op.Kind != OpRun:
		case op.Mode == machine.PreemptOff:
			r.guess.add(preemptOff)
		case op.Mode == machine.IRQsOff:
			r.guess.add(irqsOff)
		}
	}
}

// merge returns the operations of s with those that were found out late in their places, without
// those that do nothing, and for each place in ops how many operations that sleep come before it.
func (s *script) merge() (ops []Op, cycles []int32) {
	sort.SliceStable(s.in, func(i, j int) bool {
		a, b := &s.in[i], &s.in[j]
		return a.at < b.at || a.at == b.at && a.after < b.after
	})
	cycles = make([]int32, len(s.ops)+1)
	ops = make([]Op, 0, len(s.ops)+len(s.in))
	sleeps, in := int32(0), 0
	put := func(op Op) {
		if op.Kind == OpRun {
			if op.NS <= 0 {
				return
			}
			// What was not done in one go stays apart: fair tasks take turns by the recorded times.
			if n := len(ops) - 1; n >= 0 && ops[n].Kind == OpRun && ops[n].Mode == op.Mode && ops[n].Dying == op.Dying && ops[n].Slept == op.At {
				ops[n].NS += op.NS
				ops[n].Slept = op.Slept
				return
			}
		}
		if op.Kind.Sleeps() {
			sleeps++
		}
		ops = append(ops, op)
	}
	for i := 0; i <= len(s.ops); i++ {
		cycles[i] = sleeps
		var rest Op
		if i < len(s.ops) {
			rest = s.ops[i]
		}
		for ; in < len(s.in) && s.in[in].at <= i; in++ {
			if d := min(s.in[in].after, rest.NS); rest.Kind == OpRun && d > 0 {
				part := rest
				part.NS = d
				put(part)
				rest.NS -= d
				rest.At += d
				for j := in + 1; j < len(s.in) && s.in[j].at == i; j++ {
					s.in[j].after -= d
				}
			}
			put(s.in[in].op)
		}
		if i < len(s.ops) {
			cycles[i] = sleeps
			put(rest)
		}
	}
	return slices.Clip(ops), cycles
}

// record numbers the waits of the recording as those of a run are.
func (r *reader) record(cycles [][]int32) {
	type cycle struct {
		task, cycle int
		kind        latency.Kind
	}
	sort.SliceStable(r.waits, func(i, j int) bool { return r.waits[i].w.Woken < r.waits[j].w.Woken })
	seen := make(map[cycle]int)
	r.l.Recorded = make([]Wait, 0, len(r.waits))
	for i := range r.waits {
		w := &r.waits[i].w
		w.Key.Cycle = int(cycles[w.Key.Task][r.waits[i].at])
		at := cycle{w.Key.Task, w.Key.Cycle, w.Key.Kind}
		w.Key.N = seen[at]
		seen[at]++
		r.l.Recorded = append(r.l.Recorded, *w)
	}
	SortWaits(r.l.Recorded)
}

// armed returns who started the timer of t.
func (r *reader) armed(t *timerSleep) (timeline.Arming, bool) {
	arm, ok := r.x.Armed[timeline.ExpiryKey{CPU: t.cpu, N: t.expiry}]
	return arm, ok
}
