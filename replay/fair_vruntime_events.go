package replay

import (
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sched"
)

// push takes in the next event.
func (f *vruntimeFollower) push(ev *event.Event) {
	if !f.started {
		f.started, f.clock, f.index, f.waking, f.tick = true, ev.Time, 0, event.NoTime, false
	}
	f.index++
	if f.sched.IsIdle(0) {
		f.clock = max(f.clock, ev.Time)
	}
	f.settle(ev.Time)
	if len(f.expired) > 0 && ev.Kind != event.SchedStatRuntime && ev.Kind != event.HrtimerExpireEntry {
		f.serve(true)
	}
	shows := ev.Flags&event.FlagsKnown != 0 && ev.Kind != event.Gap && ev.Kind != event.SchedSwitch
	// The charge of a tick may start the timer of a quota before the tick decides.
	if f.ticked && shows && ev.Kind != event.HrtimerStart {
		f.ticked = false
		f.out.Ticks.count(f.sched.NeedResched(0) == ev.Flags.Has(event.NeedResched))
	}
	f.follow(ev)
	// A wake asks for a new choice before its event, a tick after the event of its charge: that is the
	// model's own first.
	if shows && !f.ticked {
		f.sched.ForceNeedResched(0, ev.Flags.Has(event.NeedResched))
	}
}

// follow does what an event shows.
func (f *vruntimeFollower) follow(ev *event.Event) {
	switch ev.Kind {
	case event.SchedStatRuntime:
		f.charged(ev)
	case event.SchedSwitch:
		f.switched(ev)
	case event.SchedWaking:
		f.waking = ev.Time
	case event.SoftirqEntry:
		f.stamps.softirq = 1 + int(ev.Arg)%softirqContexts
	case event.SoftirqExit:
		f.stamps.softirq = 0
	case event.SchedWakeup, event.SchedWakeupNew:
		f.woken(ev)
	case event.TaskNewtask:
		f.forked(ev, ev.Task, ev.TaskComm)
	case event.SchedProcessFork:
		f.forked(ev, ev.Next, ev.NextComm)
	case event.SchedProcessExit:
		f.of(ev.Task, ev.TaskComm).exits = true
	case event.HrtimerExpireEntry:
		f.tick = f.tick || f.isTick(ev)
		f.expire(ev)
	case event.HrtimerStart:
		f.own(ev, event.Time(ev.Arg3))
	case event.SysEnter:
		f.entered(ev)
	case event.Other:
		f.attached(ev)
	}
}

// of returns what is known of a task, a sleeping one if it is seen for the first time.
func (f *vruntimeFollower) of(pid event.PID, comm event.Name) *vruntimeTask {
	if t := f.tasks[pid]; t != nil {
		return t
	}
	t := f.make(pid, comm, f.attrAt(pid, f.index), f.queueOf(pid))
	f.tasks[pid] = t
	if pid != 0 {
		t.task.State = event.StateSleeping
	}
	return t
}

func (f *vruntimeFollower) make(pid event.PID, comm event.Name, a sched.Attr, q *vruntimeQueue) *vruntimeTask {
	t := &vruntimeTask{queue: q, cause: VruntimePlaced}
	switch {
	case pid == 0:
		t.task = f.sched.Idle(0)
	case kernel.IsStopper(f.names.String(comm)):
		t.task = f.sched.NewStopper(0, pid, comm)
	default:
		var err error
		if t.task, err = f.sched.NewTask(pid, comm, a, nil); err != nil {
			panic("replay: a task was refused: " + err.Error())
		}
		if q.group != nil {
			f.attach(t, q)
		}
	}
	t.task.Data = t
	return t
}

// attrAt is what a task is by the priority that the events from index on show; the snapshot tells
// the policies that share one.
func (f *vruntimeFollower) attrAt(pid event.PID, index int64) sched.Attr {
	prio := f.prioFrom(pid, index)
	switch {
	case prio == event.NoPrio:
		return sched.Attr{}
	case prio < 0:
		return someDeadline
	case prio < event.MaxRTPrio:
		return sched.Attr{Policy: sched.FIFO, Priority: max(1, int(event.MaxRTPrio-1-prio))}
	}
	a := sched.Attr{Nice: int(min(max(prio-event.DefaultPrio, -20), 19))}
	if k, told := f.known[pid]; told && (k.attr.Policy == sched.Batch || k.attr.Policy == sched.Idle) {
		a.Policy = k.attr.Policy
	}
	return a
}

// charged is a charge: the model's own brings the clock to where the kernel's was.
func (f *vruntimeFollower) charged(ev *event.Event) {
	t := f.of(ev.Task, ev.TaskComm)
	p, ran := t.task, event.Time(ev.Arg)
	if f.sched.Curr(0) != p {
		f.clock = max(f.clock, ev.Time-ran)
		f.makeCurrent(t)
	}
	if t.guess && t.known && ev.Arg2 > 0 {
		f.guess(ev, t)
	}
	f.clock = p.ExecStart() + ran
	if f.waking != event.NoTime {
		f.stamps.woke(f.waking, f.clock)
		f.waking = event.NoTime
	}
	f.sched.ChargeCurrent(0)
	if p.Rank() == sched.RankFair && ev.Arg2 != event.NoArg {
		f.compare(ev, t)
	}
	f.serve(false)
	if t.changing {
		f.change(t)
	}
	if b, ok := f.forks[f.index]; ok {
		f.forked(ev, b.pid, b.comm)
	}
	if t.exits {
		// It leaves its session's group, if it has one; before 6.4 its queue in any case.
		t.exits, t.untold = false, t.untold || t.queue.vague
		f.sched.AutogroupExit(0, p)
	}
	if f.tick {
		f.tick = false
		f.ticked = p.Rank() == sched.RankFair && !f.sched.NeedResched(0)
		f.sched.SchedulerTick(0)
	}
}

// compare looks at the vruntime after an update.
func (f *vruntimeFollower) compare(ev *event.Event, t *vruntimeTask) {
	f.out.Updates++
	p := t.task
	model, cause, untold := p.VirtualTime().VRuntime, t.cause, t.untold
	t.cause, t.untold = VruntimeRan, false
	switch {
	case !t.known:
		t.known = true
		f.learn(t, ev.Arg2)
		return
	case t.told:
		t.told = false
		f.out.Learned++
		return
	case untold:
		f.out.Untold++
		f.out.UntoldMost = max(f.out.UntoldMost, model-ev.Arg2, ev.Arg2-model)
		if model == ev.Arg2 {
			f.out.UntoldEqual++
		}
		f.sched.ForceVruntime(p, ev.Arg2)
		return
	case model == ev.Arg2:
		f.out.Equal++
		return
	}
	f.out.Differ[cause]++
	if len(f.out.First) < mostVruntimeDiffs {
		f.out.First = append(f.out.First, VruntimeDiff{ev.Time, ev.Task, p.Comm, event.Time(ev.Arg), ev.Arg2, model, cause})
	}
	f.sched.ForceVruntime(p, ev.Arg2)
}

// guess looks which attributes a task got that no event shows before its next charge: one that
// goes on with the same weight is a normal task, else the weight tells its nice value or SCHED_IDLE.
func (f *vruntimeFollower) guess(ev *event.Event, t *vruntimeTask) {
	t.guess = false
	p := t.task
	virtual := ev.Arg2 - p.VirtualTime().VRuntime
	fits := func(a sched.Attr) bool { return sched.VirtualRun(event.Time(ev.Arg), a) == virtual }
	if p.Rank() != sched.RankFair || fits(p.Attr) {
		return
	}
	a := sched.Attr{Policy: sched.Idle, Nice: p.Attr.Nice}
	for nice := -20; nice < 20 && !fits(a); nice++ {
		a = sched.Attr{Nice: nice}
	}
	if fits(a) {
		f.sched.ForceAttr(p, a)
		t.told = true
	}
}

// learn takes over where a task stands, and its queue with it if nothing is known of that.
func (f *vruntimeFollower) learn(t *vruntimeTask, vruntime int64) {
	f.out.Learned++
	if !t.queue.known {
		t.queue.known = true
		f.sched.ForceMinVruntime(0, t.queue.group, vruntime)
	}
	f.sched.ForceVruntime(t.task, vruntime)
}

// makeCurrent gives t the CPU, which the trace did not show.
func (f *vruntimeFollower) makeCurrent(t *vruntimeTask) {
	p := t.task
	if f.sched.Curr(0) == p {
		return
	}
	if !p.OnRQ() && p != f.sched.Idle(0) {
		f.sched.ForceReady(p, 0)
	}
	f.want = p
	f.sched.Schedule(0, true)
}

// switched follows a switch.
func (f *vruntimeFollower) switched(ev *event.Event) {
	prev, next := f.of(ev.Task, ev.TaskComm), f.of(ev.Next, ev.NextComm)
	if !f.fairNow() {
		f.clock = max(f.clock, ev.Time)
	}
	f.makeCurrent(prev)
	f.sync(prev, ev.TaskPrio)
	f.sync(next, ev.NextPrio)
	if !next.task.OnRQ() && next.task != f.sched.Idle(0) {
		f.sched.ForceReady(next.task, 0)
		next.cause = VruntimePlaced
	}
	preempt := false
	switch p := prev.task; {
	case p == f.sched.Idle(0):
	case ev.State&event.StateUnknown != 0:
		f.sched.Block(0, event.StateSleeping)
	case ev.State.Dead():
		f.sched.Exit(0, ev.State)
	case !ev.State.Runnable():
		f.sched.Block(0, ev.State)
	case ev.State&event.StatePreempted != 0:
		preempt = true
	case prev.yields:
		f.sched.Yield(0)
	}
	prev.yields, f.tick, f.ticked, f.waking = false, false, false, event.NoTime
	if prev.cause == VruntimeRan {
		prev.cause = VruntimeSwitched
	}
	f.want, f.choice = next.task, true
	f.sched.Schedule(0, preempt)
	f.choice = false
	if ev.State.Dead() {
		delete(f.tasks, ev.Task)
	}
}

// fairNow reports whether a task runs whose charges tell the clock.
func (f *vruntimeFollower) fairNow() bool {
	r := f.sched.Curr(0).Rank()
	return r == sched.RankFair || r == sched.RankRT || r == sched.RankDL
}

// sync is a change of attributes that no event told in time.
func (f *vruntimeFollower) sync(t *vruntimeTask, prio event.Prio) {
	if p := t.task; known(prio) && p.Prio() != prio && p != f.sched.Idle(0) && p.Rank() != sched.RankStop {
		f.setAttr(t, f.attrAt(p.PID, f.index))
	}
}

func (f *vruntimeFollower) setAttr(t *vruntimeTask, a sched.Attr) {
	// What no kernel accepts changes nothing; the next event shows the priority again.
	_, _ = f.sched.SetAttr(0, t.task, a)
	t.cause, t.untold = VruntimeChanged, t.untold || t.queue.vague
}

// entered notes system calls after which a task charges itself for another reason than time.
func (f *vruntimeFollower) entered(ev *event.Event) {
	t := f.tasks[ev.PID]
	if t == nil {
		return
	}
	switch name := f.names.String(ev.Name); {
	case kernel.IsClassSyscall("x86_64", ev.Arg, name):
		t.changing = true
	case kernel.IsYieldSyscall("x86_64", ev.Arg, name):
		t.yields = true
	}
}

// change is the sched_setattr(2) of the current task: the charge before it is over.
func (f *vruntimeFollower) change(t *vruntimeTask) {
	t.changing = false
	f.setAttr(t, f.attrAt(t.task.PID, f.index+1))
	t.guess = true
}

// woken puts a task into its queue. If that is not the one whose current entity was just
// charged, then a group was, at a moment that only the stamp of sched_waking tells.
func (f *vruntimeFollower) woken(ev *event.Event) {
	t := f.of(ev.Task, ev.TaskComm)
	p := t.task
	f.sync(t, ev.TaskPrio)
	if p.OnRQ() {
		return
	}
	cur := f.sched.Curr(0)
	if f.waking != event.NoTime && !f.sched.IsIdle(0) {
		f.clock = max(f.clock, f.stamps.clockOf(f.waking))
		if c, ok := cur.Data.(*vruntimeTask); ok && cur.Rank() == sched.RankFair && p.Rank() == sched.RankFair && !sched.SharesQueue(cur, p) {
			f.blur(t, c)
		}
	}
	f.waking = event.NoTime
	if p.State == event.StateNew {
		f.sched.WakeUpNewTask(0, p)
		return
	}
	t.cause, t.untold = VruntimePlaced, t.untold || t.queue.vague
	asks := cur.Rank() == sched.RankFair && p.Rank() == sched.RankFair && !f.sched.NeedResched(0) && ev.Flags&event.FlagsKnown != 0
	f.sched.TryToWakeUp(0, p)
	if asks {
		f.out.Wakes.count(f.sched.NeedResched(0) == ev.Flags.Has(event.NeedResched))
	}
}

// blur notes that the wake of t charges a group, that of the current task c, in the queue where
// both meet.
func (f *vruntimeFollower) blur(t, c *vruntimeTask) {
	for q := c.queue; q != nil; q = q.up {
		for mine := t.queue; mine != nil; mine = mine.up {
			if mine == q {
				q.vague = true
				return
			}
		}
	}
}

// forked makes a new task, which has all of its parent.
func (f *vruntimeFollower) forked(ev *event.Event, pid event.PID, comm event.Name) {
	if t := f.tasks[pid]; pid <= 0 || t != nil && t.task.State == event.StateNew {
		return
	}
	parent := f.of(ev.PID, ev.Comm)
	a := parent.task.Attr
	if a.Policy == sched.Deadline || parent.task == f.sched.Idle(0) {
		a = sched.Attr{}
	}
	t := f.make(pid, comm, a, parent.queue)
	t.cause, t.known, t.untold = VruntimeForked, parent.known, parent.queue.vague
	f.tasks[pid] = t
	f.sched.ForceFork(0, t.task)
}

// attached is cgroup_attach_task, which comes when the task is in its new group.
func (f *vruntimeFollower) attached(ev *event.Event) {
	if f.names.String(ev.Name) != "cgroup_attach_task" {
		return
	}
	text := f.names.String(ev.Text)
	pid, err := strconv.ParseInt(field(text, "pid="), 10, 32)
	path := field(text, "dst_path=")
	if err != nil || !strings.HasPrefix(path, "/") {
		return
	}
	if t := f.tasks[event.PID(pid)]; t != nil {
		q := f.queueAt(path)
		t.cause, t.untold = VruntimeMoved, t.untold || t.queue.vague || q.vague
		f.attach(t, q)
	}
}

// field returns the word behind name in the fields of an event.
func field(text, name string) string {
	_, rest, _ := strings.Cut(" "+text, " "+name)
	word, _, _ := strings.Cut(rest, " ")
	return word
}

func (f *vruntimeFollower) attach(t *vruntimeTask, q *vruntimeQueue) {
	t.queue = q
	if _, err := f.sched.Attach(0, t.task, q.group); err != nil {
		panic("replay: a group was refused: " + err.Error())
	}
}
