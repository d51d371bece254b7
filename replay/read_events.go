package replay

import (
	"sort"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// reader writes down what each task of a recording did.
type reader struct {
	x      *timeline.Index
	a      *cause.Analysis
	look   *look
	quotas []quotaStart
	tr     *timeline.Tracker
	lt     *latency.Tracker
	l      *Load
	snap   *sysinfo.Snapshot // nil: none

	cpus  []cpuReader
	tasks []script // as Load.Tasks
	index []int32  // in tasks, by timeline.TaskID; −1: an idle task
	posts []posted
	waits []rawWait
	locks locks
	guess assumptions

	rt          bool // softirqs run in threads
	waking      event.Kind
	sleeper     event.Name // hrtimer_wakeup
	serverTimer event.Name // dl_task_timer
}

func newReader(x *timeline.Index, a *cause.Analysis, k *look) *reader {
	r := &reader{x: x, a: a, look: k, l: &Load{CPUs: len(x.CPUs), From: x.From, To: x.To, HandOver: k.over, IdleHandOver: k.idleOver, Tick: a.Tick()}}
	if k.low.tick > 0 {
		r.l.Tick = k.low.tick
	}
	r.l.Stolen = append(r.l.Stolen, k.stolen...)
	r.l.Late = k.late
	r.rt = x.Facts.PreemptRT == kernel.Yes
	r.cpus = make([]cpuReader, len(x.CPUs))
	for c := range r.cpus {
		r.cpus[c] = cpuReader{cur: timeline.NoTask, from: event.NoTime, hard: event.NoTime, taken: takenOf(x, c, r.rt)}
	}
	n := x.Tracker.Tasks()
	r.index = make([]int32, n)
	for id := range r.index {
		r.index[id] = -1
		if x.Tracker.Task(timeline.TaskID(id)).Idle() {
			continue
		}
		r.index[id] = int32(len(r.tasks))
		r.tasks = append(r.tasks, script{id: timeline.TaskID(id), index: len(r.tasks), cpu: event.NoCPU, born: event.NoTime,
			left: event.NoTime, sleep: -1, call: -1, prio: event.NoPrio, first: event.NoPrio, pin: event.NoCPU, birth: event.NoCPU,
			since: event.NoTime, early: early{at: event.NoTime}, servedBy: noIRQ})
	}
	r.waking = event.SchedWaking
	if !x.Occurs(event.SchedWaking) {
		r.waking = event.SchedWakeup
	}
	r.sleeper, r.serverTimer = x.Names.Intern("hrtimer_wakeup"), x.Names.Intern("dl_task_timer")
	return r
}

// script returns the task numbered id, nil for an idle or an unknown one.
func (r *reader) script(id timeline.TaskID) *script {
	if id < 0 || int(id) >= len(r.index) || r.index[id] < 0 {
		return nil
	}
	return &r.tasks[r.index[id]]
}

// push takes in the next event of the third pass.
func (r *reader) push(ev *event.Event, step timeline.Step) {
	if ev.CPU < 0 || int(ev.CPU) >= len(r.cpus) {
		return
	}
	if step.BrokenFrom != event.NoTime {
		r.lose(ev.CPU, step.BrokenFrom, ev.Time)
	}
	// A wait that ends here is told before anything else becomes of its task.
	r.lt.Push(ev, step)
	if cur := r.tr.CPU(ev.CPU).Current; cur != nil && cur.ID != r.cpus[ev.CPU].cur && ev.Kind != event.SchedSwitch {
		r.learn(ev.CPU, cur, ev.Time)
	}
	if ev.Kind == r.waking && step.Task != nil {
		r.wake(ev, step.Task)
	}
	if ev.Flags.InInterrupt() {
		r.cpus[ev.CPU].hard = ev.Time
	}
	switch ev.Kind {
	case event.SchedSwitch:
		r.schedSwitch(ev, step)
	case event.SchedWakeup:
		if s := r.taskOf(step.Task); s != nil && s.doing == onCPU {
			r.unwake(s)
		}
	case event.SchedWakeupNew:
		if s := r.taskOf(step.Task); s != nil {
			r.fork(ev, s)
		}
	case event.SchedProcessFork, event.TaskNewtask:
		if s := r.taskOf(step.Next); s != nil && (s.doing == unheard || s.doing == newborn) {
			s.doing, s.begin = newborn, BeginNew
			if !r.x.Occurs(event.SchedWakeupNew) && ev.Kind == event.SchedProcessFork {
				r.fork(ev, s)
			}
		}
	case event.IRQHandlerEntry:
		r.served(ev)
	case event.SchedPISetprio:
		r.setprio(ev, step)
	case event.SchedStatRuntime:
		r.charged(ev, step)
	case event.HrtimerStart:
		r.quotaStarted(ev)
	case event.SysEnter:
		if kernel.IsClassSyscall(r.l.Info.Machine, ev.Arg, r.x.Names.String(ev.Name)) {
			if s := r.taskOf(step.Task); s != nil {
				r.until(ev.CPU, ev.Time)
				s.call = len(s.ops)
			}
		}
	}
}

func (r *reader) taskOf(t *timeline.Task) *script {
	if t == nil {
		return nil
	}
	return r.script(t.ID)
}

// learn takes in that t has CPU c: seen without a switch, or as the one that leaves.
func (r *reader) learn(c event.CPU, t *timeline.Task, at event.Time) {
	cp := &r.cpus[c]
	begin := BeginReady
	if cp.from == event.NoTime {
		cp.from, begin = r.x.From, BeginRunning
	} else {
		r.until(c, at)
	}
	cp.cur = t.ID
	s := r.taskOf(t)
	if s == nil {
		return
	}
	if s.doing == unheard {
		s.begin, s.cpu = begin, c
	}
	r.came(s, c, at)
}

// came takes in that s is on CPU c from now on.
func (r *reader) came(s *script, c event.CPU, at event.Time) {
	s.doing, s.run, s.since, s.call = onCPU, len(s.ops), at, -1
	s.early.at = event.NoTime
	s.charges = [len(s.charges)]place{}
}

func (r *reader) schedSwitch(ev *event.Event, step timeline.Step) {
	if step.Next == nil {
		return
	}
	cp := &r.cpus[ev.CPU]
	if cp.cur != step.Task.ID {
		r.learn(ev.CPU, step.Task, ev.Time)
	}
	if cp.debt = r.handedOver(ev.CPU, step, ev.Time); cp.debt > 0 && r.heldUntil(ev.CPU, ev.Time) {
		cp.debt = 0 // it was over while the current task went on with preemption off
	}
	r.until(ev.CPU, ev.Time)
	if s := r.taskOf(step.Task); s != nil {
		s.pay(cp.debt)
		if step.Task.Status == timeline.StatusReady && !step.Task.Yielding && ev.TaskPrio == ev.NextPrio && ev.TaskPrio.RealTime() {
			s.rr = true
		}
		r.leave(s, ev, step.Task)
	}
	cp.debt = 0
	if s := r.taskOf(step.Next); s != nil {
		r.arrive(s, ev, step.Next)
	}
	cp.cur = step.Next.ID
}

// heldUntil reports whether the current task of c had preemption off until it was made to leave
// at t.
func (r *reader) heldUntil(c event.CPU, t event.Time) bool {
	list := r.look.off[c]
	for n := r.cpus[c].off; n < len(list) && list[n].from < t; n++ {
		if list[n].mode == machine.PreemptOff && list[n].to >= t {
			return true
		}
	}
	return false
}

// handedOver is what of the time before a switch the hand-over to a woken task took, or to one
// that a timer's interrupt let have the CPU.
func (r *reader) handedOver(c event.CPU, step timeline.Step, at event.Time) event.Time {
	s := r.taskOf(step.Next)
	if step.Task.Status != timeline.StatusReady || step.Task.Yielding {
		return 0
	}
	switch {
	case s != nil && s.doing == woken && s.begin == BeginNew && s.sleep < 0:
		return r.l.HandOver // it is at its first run; until takes no more than there is
	case s != nil && s.doing == woken && s.sleep >= 0:
		return min(r.l.HandOver, at-s.ops[s.sleep].At)
	}
	prev := r.taskOf(step.Task)
	if prev == nil || prev.prio.Fair() && (s == nil || s.prio.Fair()) {
		return 0 // who of the fair tasks goes first the recording says
	}
	list := r.x.CPUs[c].Expiries
	n := sort.Search(len(list), func(i int) bool { return list[i].At > at }) - 1
	if n >= 0 && list[n].Hard && at-list[n].At <= atOnce && list[n].At >= prev.since {
		return min(r.l.HandOver, at-list[n].At)
	}
	return 0
}

// leave writes down how s left its CPU.
func (r *reader) leave(s *script, ev *event.Event, t *timeline.Task) {
	r.ownPrio(s, t.Base, ev.Time)
	s.left = ev.Time
	switch t.Status {
	case timeline.StatusDead:
		s.add(Op{Kind: OpExit, At: ev.Time, State: ev.State})
		s.doing = gone
	case timeline.StatusBlocked:
		s.goSleep(ev.Time, ev.State)
		if e := s.early; e.at != event.NoTime {
			s.early.at = event.NoTime
			s.ops[s.sleep].At, s.doing = ev.Time, woken
			if e.by < 0 {
				r.posts = append(r.posts, posted{e.at, e.cpu, s.index})
			}
			return
		}
		r.locks.sleeps(s)
	case timeline.StatusReady:
		if t.Yielding {
			s.add(Op{Kind: OpYield, At: ev.Time})
		}
		s.doing = queued
	default:
		s.doing = unseen
	}
	r.unwake(s)
}

// arrive writes down how s came to a CPU.
func (r *reader) arrive(s *script, ev *event.Event, t *timeline.Task) {
	switch s.doing {
	case unheard:
		s.begin, s.cpu = BeginReady, ev.CPU
	case newborn:
		s.born, s.cpu = ev.Time, ev.CPU
	case sleeping:
		// Nobody was seen to wake it: somebody did, a hand-over ago.
		op := &s.ops[s.sleep]
		op.At = max(op.Slept, ev.Time-r.l.HandOver)
		op.By = Assumed
		r.posts = append(r.posts, posted{op.At, ev.CPU, s.index})
		r.guess.add(wakeUnseen)
	}
	r.ownPrio(s, t.Base, ev.Time)
	r.pinned(s, ev.CPU)
	r.came(s, ev.CPU, ev.Time)
}

// fork writes down that the current task made s runnable for the first time.
func (r *reader) fork(ev *event.Event, s *script) {
	if s.doing != unheard && s.doing != newborn {
		return
	}
	s.begin, s.doing, s.cpu, s.born = BeginNew, woken, ev.Target, ev.Time
	r.ownPrio(s, r.tr.Task(s.id).Base, ev.Time)
	if w := r.waker(ev); w != nil {
		r.until(ev.CPU, ev.Time)
		w.add(Op{Kind: OpFork, At: ev.Time, Ref: s.index, By: FromEvents})
		s.born = event.NoTime
	}
}

// waker returns the task that does what ev tells, nil where that is an interrupt, the idle
// task or nobody knows.
func (r *reader) waker(ev *event.Event) *script {
	s := r.script(r.cpus[ev.CPU].cur)
	if s == nil || ev.Flags.InInterrupt() {
		return nil
	}
	if !r.rt && ev.Flags.Has(event.SoftIRQ) && !kernel.IsSoftirqThread(r.x.Names.String(r.tr.Task(s.id).Comm)) {
		return nil
	}
	return s
}

// wake takes in the wake of t.
func (r *reader) wake(ev *event.Event, t *timeline.Task) {
	s := r.taskOf(t)
	if s == nil {
		return
	}
	w := r.waker(ev)
	if w != nil && r.softirqThread(s.id) && r.atExit(ev.CPU, w, ev.Time) {
		w = nil
	}
	switch s.doing {
	case onCPU:
		if w == s {
			return
		}
		r.unwake(s)
		s.early = early{at: ev.Time, cpu: ev.CPU, by: -1}
		if w != nil {
			r.until(ev.CPU, ev.Time)
			s.early.by, s.early.op = w.index, len(w.ops)
			w.add(Op{Kind: OpWake, At: ev.Time, Ref: s.index, By: FromEvents})
		}
		return
	case unheard:
		s.begin, s.cpu = BeginBlocked, ev.Target
		s.goSleep(r.x.From, event.StateSleeping)
	case unseen:
		s.goSleep(max(s.left, r.x.From), event.StateSleeping)
	case sleeping:
	default:
		return
	}
	r.until(ev.CPU, ev.Time)
	s.servedBy = noIRQ
	if w != nil {
		s.servedBy = irqOf(r.x.Names.String(r.tr.Task(w.id).Comm))
	}
	s.doing = woken
	s.ops[s.sleep].At = ev.Time
	switch {
	case w != nil && r.locks.given(r, w, s, ev.Time):
	case w != nil:
		w.add(Op{Kind: OpWake, At: ev.Time, Ref: s.index, By: FromEvents})
	default:
		r.locks.drop(r, s)
		r.byInterrupt(ev, s)
	}
	r.ownPrio(s, t.Base, ev.Time)
}

// atExit reports whether an interrupt of c ends at t: on its way out, when it is none any more by
// the flags, it wakes the threads for the softirqs that were raised in it.
func (r *reader) atExit(c event.CPU, cur *script, t event.Time) bool {
	hard := r.cpus[c].hard
	return hard >= cur.since && t-hard <= afterHandler
}

// unwake takes back a wake that ended no sleep.
func (r *reader) unwake(s *script) {
	if s.early.at == event.NoTime {
		return
	}
	if s.early.by >= 0 {
		r.tasks[s.early.by].ops[s.early.op] = Op{Kind: OpRun, At: s.early.at}
	}
	s.early.at = event.NoTime
}

// byInterrupt takes in that an interrupt woke s: with its sleep timer, or another way.
func (r *reader) byInterrupt(ev *event.Event, s *script) {
	list := r.x.CPUs[ev.CPU].Expiries
	n := sort.Search(len(list), func(i int) bool { return list[i].At > ev.Time }) - 1
	switch {
	case n >= 0 && list[n].Func == r.sleeper && list[n].Woke == s.id && list[n].WokeAt == ev.Time:
		s.timers = append(s.timers, timerSleep{op: s.sleep, cpu: ev.CPU, expiry: n})
	case !r.x.Occurs(event.HrtimerExpireEntry) && !r.interrupted(ev):
		s.timers = append(s.timers, timerSleep{op: s.sleep, cpu: ev.CPU, expiry: -1})
	default:
		r.posts = append(r.posts, posted{ev.Time, ev.CPU, s.index})
	}
}

// interrupted reports whether the interrupt that recorded ev is one with events: its handler
// may be over just before the wake of its thread.
func (r *reader) interrupted(ev *event.Event) bool {
	list := r.x.CPUs[ev.CPU].IRQs
	n := sort.Search(len(list), func(i int) bool { return list[i].From > ev.Time }) - 1
	if n >= 0 && ev.Time-list[n].To <= afterHandler {
		return true
	}
	// So is a softirq that serves no timers.
	list = r.x.CPUs[ev.CPU].Softirqs
	n = sort.Search(len(list), func(i int) bool { return list[i].From > ev.Time }) - 1
	return n >= 0 && ev.Time < list[n].To && list[n].Vec != event.SoftirqTimer && list[n].Vec != event.SoftirqHrtimer
}

// afterHandler is how long after irq_handler_exit the kernel may wake the handler's thread in
// the same interrupt.
const afterHandler event.Time = 5_000
