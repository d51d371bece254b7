package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// waitList has the tasks of a class that wait on a CPU, the longest-waiting first.
type waitList struct {
	head, tail *forced
	n          int
}

func (l *waitList) insert(t *forced) {
	after := l.tail
	for after != nil && after.since > t.since {
		after = after.prev
	}
	t.list, t.prev = l, after
	if after == nil {
		t.next, l.head = l.head, t
	} else {
		t.next, after.next = after.next, t
	}
	if t.next == nil {
		l.tail = t
	} else {
		t.next.prev = t
	}
	l.n++
}

func (t *forced) unlink() {
	l := t.list
	if l == nil {
		return
	}
	if t.prev == nil {
		l.head = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		l.tail = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.list, t.prev, t.next = nil, nil, nil
	l.n--
}

// relist puts t into the list that it belongs to now, if any.
func (f *forcer) relist(t *forced) {
	p := t.task
	waits := p.OnRQ() && !p.Running() && !t.tl.Idle()
	if waits && t.list == &f.cpus[p.CPU()].waiting[p.Rank()] {
		return
	}
	t.unlink()
	if waits {
		f.cpus[p.CPU()].waiting[p.Rank()].insert(t)
	}
}

// longest returns who waits longest of a class on c; prev, which leaves and could go on, has
// waited for no time.
func (f *forcer) longest(c event.CPU, rank int, prev *sched.Task) *sched.Task {
	for t := f.cpus[c].waiting[rank].head; t != nil; t = t.next {
		if !t.task.QuotaThrottled() {
			return t.task
		}
	}
	return prev
}

// runnable counts the tasks of a class on c; prev leaves.
func (f *forcer) runnable(c event.CPU, rank int, prev *sched.Task) int {
	n := f.cpus[c].waiting[rank].n
	if rank == sched.RankFair && len(f.groups) > 0 {
		for t := f.cpus[c].waiting[rank].head; t != nil; t = t.next {
			if t.task.QuotaThrottled() {
				n--
			}
		}
	}
	if prev.OnRQ() && prev.Rank() == rank {
		n++
	}
	return n
}

// bestRank is the first class that has a runnable task on c.
func (f *forcer) bestRank(c event.CPU, prev *sched.Task) int {
	for rank := range sched.RankIdle {
		if f.runnable(c, rank, prev) > 0 {
			return rank
		}
	}
	return sched.RankIdle
}

// begin gives the model the state in which the trace begins.
func (f *forcer) begin() {
	f.now = f.first.from
	f.beginFair()
	for i := range f.first.tasks {
		b := &f.first.tasks[i]
		if b.status != timeline.StatusRunning && b.status != timeline.StatusReady || !f.exists(b.cpu) || b.pid == 0 {
			continue
		}
		// The timeline of this pass does not know the task yet; it will come by the same number.
		f.early(timeline.TaskID(i), b)
	}
}

// early makes a task that was runnable before its first event.
func (f *forcer) early(id timeline.TaskID, b *beginning) {
	tl := &timeline.Task{ID: id, PID: b.pid, Comm: b.comm, Prio: b.prio, Base: b.prio}
	t := f.of(tl, b.cpu)
	t.since, t.unordered, t.unsure = f.now, true, !f.first.reliable()
	f.sched.ForceReady(t.task, b.cpu)
	f.relist(t)
	if b.status == timeline.StatusRunning {
		f.makeCurrent(b.cpu, t)
	}
}

// fresh makes a new task of the model where the one that it has cannot be what is seen on c: it
// has exited, or was taken for the stopper of another CPU. A pid whose end was lost comes back.
func (f *forcer) fresh(t *forced, c event.CPU) {
	p := t.task
	if !p.State.Dead() && (p.Rank() != sched.RankStop || p.CPU() == c) {
		return
	}
	if p.Running() {
		f.leaveUnseen(p.CPU())
	}
	f.sched.ForceAsleep(p, event.StateSleeping)
	f.relist(t)
	t.task = f.newTask(t, t.tl.PID, t.tl.Comm, f.first.of(t.id))
	t.task.Data, t.task.State = t, event.StateSleeping
	f.enterGroup(t, &beginning{})
}

// enter sees to it that t is in the queue of c, and says why it was not.
func (f *forcer) enter(t *forced, c event.CPU) (why string) {
	f.fresh(t, c)
	p := t.task
	if p.OnRQ() && p.CPU() == c {
		return ""
	}
	switch {
	case t.tl.Idle():
		return ""
	case p.Running():
		f.leaveUnseen(p.CPU())
		why = "ran_elsewhere"
		f.sched.ForceReady(p, c)
	case p.OnRQ():
		why = "move_unseen"
		f.sched.ForceMove(c, p, c)
	default:
		why = "wake_unseen"
		f.sched.ForceReady(p, c)
		t.since = f.now
	}
	f.relist(t)
	return why
}

// leaveUnseen lets the current task of c, which must be elsewhere, give it up.
func (f *forcer) leaveUnseen(c event.CPU) {
	cur := f.sched.Curr(c)
	f.sched.Block(c, event.StateSleeping)
	f.want, f.quiet = f.sched.Idle(c), true
	f.sched.Schedule(c, false)
	f.quiet = false
	if t, ok := cur.Data.(*forced); ok {
		f.relist(t)
	}
}

// makeCurrent lets c run t where the switch to it was not seen.
func (f *forcer) makeCurrent(c event.CPU, t *forced) {
	cur := f.sched.Curr(c)
	if cur == t.task {
		return
	}
	f.enter(t, c)
	if cur != f.sched.Idle(c) {
		f.sched.Block(c, event.StateSleeping)
	}
	f.want, f.quiet = t.task, true
	f.sched.Schedule(c, false)
	f.quiet = false
	if was, ok := cur.Data.(*forced); ok {
		f.relist(was)
	}
	f.relist(t)
}
