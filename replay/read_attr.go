package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// ownPrio takes in that p is the own priority of s now, without what a lock lends it.
func (r *reader) ownPrio(s *script, p event.Prio, at event.Time) {
	if p == event.NoPrio || p == s.prio {
		return
	}
	old := s.prio
	if s.prio = p; old == event.NoPrio {
		s.first = p
		return
	}
	op := Op{Kind: OpAttr, At: at, Attr: attrOf(p), By: Inferred}
	switch {
	case s.doing != onCPU && s.sleep >= 0 && (s.doing == sleeping || s.doing == woken):
		s.insert(s.sleep, op) // somebody else changed it in its sleep
	case s.doing != onCPU:
		s.add(op)
	case s.call >= 0:
		op.By = FromEvents
		s.insert(s.call, op)
	default:
		at := s.changed(old, p)
		op.At = at.at
		in := insertion{at: at.op, op: op}
		if at == (place{s.run, s.since}) && s.run < len(s.ops) && s.ops[s.run].Kind == OpRun {
			// A run of the load may have a task do what takes no time before the switch to it.
			in.after = s.ops[s.run].NS / 2
		}
		s.in = append(s.in, in)
	}
	if !(p.Fair() && old.Fair()) {
		r.guess.add(classChanged)
	}
}

// The entries of script.charges.
const (
	asFair = iota
	asOther
	before
)

// charged takes in a sched_stat_runtime. Where a task does not leave its CPU and no interrupt
// asks, it is charged when it calls the scheduler: mostly to become another class.
func (r *reader) charged(ev *event.Event, step timeline.Step) {
	s := r.taskOf(step.Task)
	if s != nil {
		s.fair.charge(ev)
	}
	if s == nil || ev.Flags.InInterrupt() || s.doing != onCPU || r.cpus[ev.CPU].cur != s.id {
		return
	}
	r.until(ev.CPU, ev.Time)
	now := place{len(s.ops), ev.Time}
	s.charges[before], s.newest = s.newest, now
	switch {
	case ev.Arg2 == event.NoArg:
	case ev.Arg2 != 0:
		s.charges[asFair] = now
	default:
		s.charges[asOther] = now
	}
}

// changed is where in its run, which ends, the priority of s changed from old to p: when it was
// last charged as what it was. Where that is not recorded it is at the beginning of the run if
// it rose, since whoever it went after did not take the CPU from it, else at the end.
func (s *script) changed(old, p event.Prio) place {
	at := s.charges[before]
	switch {
	case s.charges[asFair].at != 0 || s.charges[asOther].at != 0:
		if at = s.charges[asOther]; old.Fair() {
			at = s.charges[asFair]
		}
		if old.Fair() == p.Fair() {
			at = s.charges[before]
		}
	}
	switch {
	case at.at >= s.since && at.op >= s.run:
		return at
	case p < old:
		return place{s.run, s.since}
	}
	return place{len(s.ops), s.left}
}

// attrOf is what a priority tells of a task's attributes.
func attrOf(p event.Prio) sched.Attr {
	switch {
	case p.Deadline():
		return sched.Attr{Policy: sched.Deadline}
	case p.RealTime():
		return sched.Attr{Policy: sched.FIFO, Priority: int(min(max(event.MaxRTPrio-1-p, 1), 99))}
	case p == event.NoPrio:
		return sched.Attr{}
	}
	return sched.Attr{Policy: sched.Normal, Nice: int(min(max(p-event.DefaultPrio, -20), 19))}
}

// pinned takes in that s comes to CPU c: a fair task is kept on the CPUs that it had, another one
// on those that it may use.
func (r *reader) pinned(s *script, c event.CPU) {
	if r.l.CPUs <= 1 || s.prio == event.NoPrio {
		return
	}
	if !s.prio.Fair() {
		if s.pin = event.NoCPU; !slices.Contains(s.freed, c) {
			s.freed = append(s.freed, c)
		}
		return
	}
	if s.pin == c {
		return
	}
	first := s.birth == event.NoCPU && len(s.freed) == 0
	if s.pin = c; first {
		s.birth = c
		return
	}
	op := Op{Kind: OpCPUs, At: s.left, CPUs: []event.CPU{c}, By: Assumed}
	if s.sleep >= 0 && (s.doing == woken || s.doing == sleeping) {
		s.insert(s.sleep, op)
	} else {
		s.add(op)
	}
}

// unpin lets s use more than the CPU on which it is kept as a fair task, from when it is none any
// more: all CPUs, or the one where it was seen then.
func (r *reader) unpin(s *script) {
	if s.birth == event.NoCPU {
		return
	}
	var may []event.CPU
	if len(s.freed) == 1 {
		may = s.freed
	}
	list := make([]insertion, 0, len(s.in))
	rises := func(op *Op) bool { return op.Kind == OpAttr && op.Attr.Policy != sched.Normal }
	for i := range s.ops {
		if op := &s.ops[i]; rises(op) {
			list = append(list, insertion{at: i, op: Op{Kind: OpCPUs, At: op.At, CPUs: may, By: Inferred}})
		}
	}
	for _, in := range s.in {
		if rises(&in.op) {
			list = append(list, insertion{at: in.at, after: in.after, op: Op{Kind: OpCPUs, At: in.op.At, CPUs: may, By: Inferred}})
		}
		list = append(list, in)
	}
	s.in = list
}

// attributes fills what Load.Tasks says of each task beside its operations.
func (r *reader) attributes(s *script, t *Task) {
	task := r.tr.Task(s.id)
	t.PID, t.TGID, t.Comm = task.PID, task.TGID, task.Comm
	comm := r.x.Names.String(t.Comm)
	t.Kernel = kernel.IsKernelThread(comm) || kernel.IsIRQThread(comm)
	t.Begin, t.CPU = s.begin, s.cpu
	t.Attr, t.AttrBy = attrOf(s.first), FromEvents
	if s.attr != nil {
		t.Attr, t.AttrBy = *s.attr, Inferred
	}
	if s.first == event.NoPrio {
		t.AttrBy = Assumed
	}
	t.Stopper = s.first == 0 && kernel.IsStopper(comm)
	ran := r.x.Tasks[s.id].RanOn
	t.CPUsBy = Assumed
	switch {
	case len(ran) == 1:
		t.CPUs = []event.CPU{ran[0].CPU}
	case s.birth != event.NoCPU:
		t.CPUs = []event.CPU{s.birth}
	}
	if (t.CPU == event.NoCPU || int(t.CPU) >= r.l.CPUs) && len(ran) > 0 {
		t.CPU = ran[0].CPU
	}
	if t.CPU < 0 || int(t.CPU) >= r.l.CPUs {
		t.CPU = 0
	}
	snap := r.snapshotOf(s, comm)
	if snap != nil {
		r.fromSnapshot(s, t, snap)
	}
	if !t.Stopper && len(s.ops) > 0 && (snap == nil || policyByName[snap.Policy] == sched.Normal) {
		r.policy(s, t)
	}
	if r.l.CPUs > 1 && len(ran) > 0 && !t.Stopper && t.CPUsBy != FromSnapshot {
		if s.birth != event.NoCPU {
			r.guess.add(fairPinned)
		} else {
			r.guess.add(cpusSeen)
		}
	} else if s.first.Fair() && len(s.ops) > 0 {
		r.guess.add(fairPinned)
	}
}

// policy tells SCHED_RR from SCHED_FIFO, which have the same priorities.
func (r *reader) policy(s *script, t *Task) {
	any := false
	set := func(a *sched.Attr) {
		if a.Policy == sched.FIFO {
			if any = true; s.rr {
				a.Policy = sched.RR
			}
		}
	}
	set(&t.Attr)
	if any {
		t.AttrBy = Inferred
	}
	for i := range s.ops {
		set(&s.ops[i].Attr)
	}
	for i := range s.in {
		set(&s.in[i].op.Attr)
	}
	switch {
	case any && s.rr:
		r.guess.add(policyRR)
	case any:
		r.guess.add(policyFIFO)
	}
}
