package sched

import "github.com/whylate/whylate/event"

// Candidate is a task that could have been picked.
type Candidate struct {
	Task *Task
	// Key is what its class goes by, in KeyName: the absolute deadline_ns, the prio of a
	// real-time task, the vruntime of a fair one.
	Key     int64
	KeyName string
}

// Decision is one pick: what no tracepoint tells. It is only valid during the call.
type Decision struct {
	At         event.Time
	CPU        event.CPU
	Prev, Next *Task
	// Rule is why Next was picked.
	Rule string
	// Candidates are the runnable tasks of the CPU, in the order in which they would be
	// picked: at most MostCandidates. Runnable says how many there were.
	Candidates []Candidate
	Runnable   int
}

// MostCandidates bounds the candidates of one Decision.
const MostCandidates = 64

// OnDecision lets f see every pick from now on; nil ends it. Whoever listens changes
// nothing in what is picked.
func (s *Sched) OnDecision(f func(*Decision)) { s.decide = f }

// tell hands a pick to who listens.
func (s *Sched) tell(rq *RQ, prev, next *Task) {
	s.fillDecision(rq, prev, next)
	s.decide(&s.decision)
}

// fillDecision says what could be picked on rq.
func (s *Sched) fillDecision(rq *RQ, prev, next *Task) {
	d := &s.decision
	*d = Decision{At: rq.clock, CPU: rq.cpu, Prev: prev, Next: next, Rule: s.ruleOf(rq, next), Candidates: d.Candidates[:0],
		Runnable: rq.nrRunning - rq.cfs.hNrDelayed}
	add := func(t *Task, key int64, name string) bool {
		d.Candidates = append(d.Candidates, Candidate{t, key, name})
		return len(d.Candidates) < MostCandidates
	}
	if rq.stop != nil && rq.stop.onRQ {
		add(rq.stop, 0, "stop")
	}
	for n := rq.dl.queue.first; n != nil && len(d.Candidates) < MostCandidates; n = n.next() {
		add(n.task, int64(n.task.dl.deadline), "deadline_ns")
	}
	rt := &rq.rt.active
	if p := rt.highest(); rq.rt.queued {
		for l := rt.queue[p].head; l != nil && len(d.Candidates) < MostCandidates; l = rt.behind(l) {
			add(l.task, int64(l.prio), "prio")
		}
	}
	s.fairCandidates(rq, next, add)
}

// ruleOf says by which rule its class picks a task.
func (s *Sched) ruleOf(rq *RQ, t *Task) string {
	switch t.class {
	case stopClass:
		return "the stopper goes first"
	case dlClass:
		return "earliest deadline"
	case rtClass:
		return "first of the highest priority"
	case fairClass:
		rule := "least vruntime"
		switch {
		case s.cfg.FairPlaced:
			rule = "first in the recorded order"
		case s.cfg.Fair.EEVDF:
			rule = "earliest virtual deadline of those that are owed time"
		}
		if rq.server.queued() {
			return rule + ", chosen by the fair server"
		}
		return rule
	}
	return "nothing is runnable"
}

// ClassName returns the class of a task as results spell it.
func (p *Task) ClassName() string {
	return [...]string{"stop", "dl", "rt", "fair", "idle"}[p.class]
}

// fairCandidates hands out the fair tasks that do not sleep: the current ones of all levels, which the timelines
// do not have, where the class would choose them.
func (s *Sched) fairCandidates(rq *RQ, next *Task, add func(*Task, int64, string) bool) {
	if len(s.decision.Candidates) >= MostCandidates {
		return
	}
	name := "vruntime"
	key := func(p *Task) int64 { return p.se.vruntime }
	if s.cfg.Fair.EEVDF && !s.cfg.FairPlaced {
		name, key = "virtual_deadline", func(p *Task) int64 { return p.se.deadline }
	}
	curr := rq.curr
	if next.class == fairClass && next.se.onRQ && !add(next, key(next), name) {
		return
	}
	if curr != next && curr.class == fairClass && curr.se.onRQ && !curr.se.delayed && curr.onCPU && !curr.se.node.in && !add(curr, key(curr), name) {
		return
	}
	rq.cfs.eachWaiting(func(p *Task) bool { return p == next || p == curr && !p.se.node.in || add(p, key(p), name) })
}
