package cause_test

import (
	"cmp"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// schedule is a tiny scheduler that makes random choices, but only legal ones, and writes
// down both the events that a kernel would record and what really happened. It shares
// nothing with the code under test.
type schedule struct {
	t      *rapid.T
	names  *event.Names
	cpus   []refCPU
	first  event.CPU // number of cpus[0]
	tasks  []*refTask
	now    event.Time
	ties   bool // events may have equal stamps
	strict bool // the more important task always has the CPU after a switch
	real   bool // a wake is through within a µs, other steps take 0.1 ms and more
	quick  bool // such a wake is under way
	events []event.Event
	waits  []refWait
	pids   []event.PID // free to be used again
	next   event.PID
}

// refCPU is one CPU: who runs, and since when.
type refCPU struct {
	current *refTask // nil: idle
	since   event.Time
	runs    []refRun
	last    event.Time // of its last event
}

// refRun is a stay of a task on a CPU; pid 0 is idle.
type refRun struct {
	pid      event.PID
	from, to event.Time
}

type refState int

const (
	sleeping refState = iota
	waking            // woken, not yet queued
	queued
	running
	dead
)

type refTask struct {
	pid   event.PID
	prio  event.Prio
	state refState
	cpu   int // index in cpus: where it runs, is queued or last ran
	early bool
	wait  *refWait
}

// refWait is a wait as it really was.
type refWait struct {
	pid      event.PID
	kind     latency.Kind
	from, to event.Time
	open     bool
	early    bool      // woken before it left, so that the wait began at the switch-out
	queue    []refStay // where it was queued
}

// refStay is a part of a wait on one CPU.
type refStay struct {
	cpu      event.CPU
	from, to event.Time
}

func (w refWait) String() string {
	open := ""
	if w.open {
		open = " open"
	}
	return fmt.Sprintf("%d %s %d-%d%s", w.pid, w.kind, w.from, w.to, open)
}

// drawSchedule runs up to steps random steps on 1 to 4 CPUs numbered from s.first, with
// pids from s.next on.
func drawSchedule(t *rapid.T, s *schedule, steps int) *schedule {
	s.t, s.now = t, 1000
	s.cpus = make([]refCPU, rapid.IntRange(1, 4).Draw(t, "cpus"))
	for i := range s.cpus {
		s.cpus[i].since = s.now
	}
	for range rapid.IntRange(1, 8).Draw(t, "tasks") {
		s.tasks = append(s.tasks, s.newTask())
	}
	// The trace begins with a switch on each CPU, so that it is known who runs.
	for c := range s.cpus {
		if i := s.pick(s.inState(sleeping)); i != nil {
			i.state, i.cpu = queued, c
			s.switchTo(c, i, event.StateRunnable)
		}
	}
	for range rapid.IntRange(1, steps).Draw(t, "steps") {
		s.step()
	}
	s.end()
	return s
}

func (s *schedule) newTask() *refTask {
	pid := s.next
	if n := len(s.pids); n > 0 && rapid.Bool().Draw(s.t, "reuse pid") {
		pid, s.pids = s.pids[n-1], s.pids[:n-1]
	} else {
		s.next++
	}
	prio := rapid.SampledFrom([]event.Prio{0, 9, 19, 19, 89, 100, 120, 120, 139}).Draw(s.t, "prio")
	return &refTask{pid: pid, prio: prio}
}

func (s *schedule) inState(states ...refState) []*refTask {
	var list []*refTask
	for _, t := range s.tasks {
		if slices.Contains(states, t.state) {
			list = append(list, t)
		}
	}
	return list
}

func (s *schedule) pick(list []*refTask) *refTask {
	if len(list) == 0 {
		return nil
	}
	return rapid.SampledFrom(list).Draw(s.t, "task")
}

// tick lets time pass and returns an event on CPU index c in the context of its current.
func (s *schedule) tick(k event.Kind, c int) *event.Event {
	least := 1
	if s.ties {
		least = 0
	}
	ns := event.Time(rapid.IntRange(least, 200).Draw(s.t, "ns"))
	if s.real && !s.quick {
		ns *= 100_000
	}
	s.now += ns
	var e event.Event
	e.Reset()
	e.Kind, e.CPU, e.Time, e.Flags = k, s.first+event.CPU(c), s.now, event.FlagsKnown
	if t := s.cpus[c].current; t != nil {
		e.PID = t.pid
	}
	s.events = append(s.events, e)
	s.cpus[c].last = s.now
	return &s.events[len(s.events)-1]
}

func (s *schedule) about(e *event.Event, t *refTask) *event.Event {
	e.Task, e.TaskPrio, e.TaskComm, e.Arg = t.pid, t.prio, s.names.Intern(fmt.Sprint("task", t.pid)), 1
	return e
}

func (s *schedule) step() {
	c := rapid.IntRange(0, len(s.cpus)-1).Draw(s.t, "cpu")
	switch rapid.SampledFrom([]string{"switch", "switch", "wake", "wake", "queue", "early", "migrate", "fork", "exit", "tick"}).Draw(s.t, "step") {
	case "switch":
		s.reschedule(c)
	case "wake":
		if t := s.pick(s.inState(sleeping)); t != nil {
			s.wake(c, t)
			if s.real || rapid.Bool().Draw(s.t, "at once") {
				s.quick = true
				s.enqueue(c, t)
				s.quick = false
			}
		}
	case "queue":
		if t := s.pick(s.inState(waking)); t != nil {
			s.enqueue(c, t)
		}
	case "early":
		s.wakeEarly(c)
	case "migrate":
		if t := s.pick(s.inState(queued)); t != nil && t.cpu != c {
			s.migrate(c, t, c)
			t.moved(s.first+event.CPU(c), s.now)
		}
	case "fork":
		s.fork(c)
	case "exit":
		s.exit(c)
	case "tick":
		if cur := s.cpus[c].current; cur != nil {
			s.about(s.tick(event.SchedStatRuntime, c), cur)
		}
	}
}

// begin opens a wait of t, queued on CPU index c.
func (s *schedule) begin(t *refTask, k latency.Kind, c int) {
	t.wait = &refWait{pid: t.pid, kind: k, from: s.now, queue: []refStay{{s.first + event.CPU(c), s.now, 0}}}
}

func (t *refTask) moved(to event.CPU, at event.Time) {
	last := &t.wait.queue[len(t.wait.queue)-1]
	last.to = at
	t.wait.queue = append(t.wait.queue, refStay{to, at, 0})
}

func (s *schedule) wake(c int, t *refTask) {
	s.about(s.tick(event.SchedWaking, c), t).Target = s.first + event.CPU(t.cpu)
	t.state = waking
	s.begin(t, latency.Wakeup, t.cpu)
}

// enqueue puts a task that is being woken on a random CPU's queue. The event is recorded
// on the CPU c of the waker or, as by an IPI, on the target.
func (s *schedule) enqueue(c int, t *refTask) {
	to := rapid.IntRange(0, len(s.cpus)-1).Draw(s.t, "target")
	if to != t.cpu {
		s.migrate(c, t, to)
	}
	if rapid.Bool().Draw(s.t, "remote") {
		c = to
	}
	s.about(s.tick(event.SchedWakeup, c), t).Target = s.first + event.CPU(to)
	t.state, t.cpu = queued, to
	// Till here it was on its way: the CPU that counts is the target.
	t.wait.queue = []refStay{{s.first + event.CPU(to), t.wait.from, 0}}
}

// migrate moves t to CPU index to; the event is recorded on c.
func (s *schedule) migrate(c int, t *refTask, to int) {
	e := s.about(s.tick(event.SchedMigrateTask, c), t)
	e.Orig, e.Target = s.first+event.CPU(t.cpu), s.first+event.CPU(to)
	t.cpu = to
}

// wakeEarly wakes a task that is about to sleep but still current: either the wake is used
// up before it leaves, or it leaves and is queued after that.
func (s *schedule) wakeEarly(c int) {
	t := s.pick(s.inState(running))
	if t == nil || t.early || t.cpu == c {
		return
	}
	s.about(s.tick(event.SchedWaking, c), t).Target = s.first + event.CPU(t.cpu)
	if rapid.Bool().Draw(s.t, "used up") {
		s.about(s.tick(event.SchedWakeup, c), t).Target = s.first + event.CPU(t.cpu)
		return
	}
	t.early = true // it must leave with S now
	s.quick = true
	s.leave(t.cpu, event.StateSleeping)
	if s.real {
		s.enqueue(c, t)
	}
	s.quick = false
}

// reschedule takes the current task of c off, for a random reason.
func (s *schedule) reschedule(c int) {
	state := rapid.SampledFrom([]event.State{event.StateRunnable, event.StatePreempted, event.StateSleeping, event.StateSleeping,
		event.StateDisk, event.StateIdle}).Draw(s.t, "state")
	s.leave(c, state)
}

// leave switches c to a random task of its queue, or to idle.
func (s *schedule) leave(c int, state event.State) {
	var next *refTask
	if here := slices.DeleteFunc(s.inState(queued), func(t *refTask) bool { return t.cpu != c }); len(here) > 0 {
		if rapid.IntRange(0, 9).Draw(s.t, "idle anyway") > 0 {
			next = s.pick(here)
		}
	}
	if s.strict {
		next = s.foremost(c)
		if cur := s.cpus[c].current; state.Runnable() && cur != nil && (next == nil || next.prio >= min(cur.prio, 100)) {
			return // it is not the turn of anybody else
		}
	}
	if next == nil && s.cpus[c].current == nil {
		return
	}
	s.switchTo(c, next, state)
}

// foremost returns the most important task in the queue of c, nil if it is empty.
func (s *schedule) foremost(c int) *refTask {
	var best *refTask
	for _, t := range s.inState(queued) {
		if t.cpu == c && (best == nil || t.prio < best.prio) {
			best = t
		}
	}
	return best
}

func (s *schedule) switchTo(c int, next *refTask, state event.State) {
	prev := s.cpus[c].current
	e := s.tick(event.SchedSwitch, c)
	e.Task, e.TaskPrio, e.State = 0, 120, event.StateRunnable
	e.Next, e.NextPrio = 0, 120
	if prev != nil {
		s.about(e, prev)
		e.State = state
	}
	if next != nil {
		e.Next, e.NextPrio, e.NextComm = next.pid, next.prio, s.names.Intern(fmt.Sprint("task", next.pid))
	}
	s.ran(c)
	s.cpus[c].current = next
	if next != nil {
		next.state, next.cpu = running, c
		s.finish(next, false)
	}
	if prev != nil {
		s.left(prev, c, state)
	}
}

// ran notes the run that ends on c now.
func (s *schedule) ran(c int) {
	r := refRun{from: s.cpus[c].since, to: s.now}
	if t := s.cpus[c].current; t != nil {
		r.pid = t.pid
	}
	s.cpus[c].runs = append(s.cpus[c].runs, r)
	s.cpus[c].since = s.now
}

func (s *schedule) left(t *refTask, c int, state event.State) {
	switch {
	case state.Runnable():
		t.state = queued
		s.begin(t, latency.Preempted, c)
	case state.Dead():
		t.state = dead
	case t.early:
		t.state = waking
		s.begin(t, latency.Wakeup, c)
		t.wait.early = true
	default:
		t.state = sleeping
	}
	t.early = false
}

func (s *schedule) finish(t *refTask, open bool) {
	if t.wait == nil {
		return
	}
	t.wait.to, t.wait.open = s.now, open
	t.wait.queue[len(t.wait.queue)-1].to = s.now
	s.waits = append(s.waits, *t.wait)
	t.wait = nil
}

func (s *schedule) fork(c int) {
	parent := s.cpus[c].current
	if parent == nil {
		return
	}
	child := s.newTask()
	e := s.about(s.tick(event.SchedProcessFork, c), parent)
	e.Next = child.pid
	to := rapid.IntRange(0, len(s.cpus)-1).Draw(s.t, "target")
	e = s.about(s.tick(event.SchedWakeupNew, c), child)
	e.Target = s.first + event.CPU(to)
	child.state, child.cpu = queued, to
	s.begin(child, latency.Wakeup, to)
	s.tasks = append(s.tasks, child)
}

// exit lets the current task of c die. Its pid is free for others once it is freed, or at
// once where nobody waits for it.
func (s *schedule) exit(c int) {
	t := s.cpus[c].current
	if t == nil || t.early {
		return
	}
	s.about(s.tick(event.SchedProcessExit, c), t)
	if rapid.Bool().Draw(s.t, "reaps itself") {
		s.leave(c, event.StateDead)
	} else {
		s.leave(c, event.StateZombie)
		s.about(s.tick(event.SchedProcessFree, rapid.IntRange(0, len(s.cpus)-1).Draw(s.t, "cpu")), t)
	}
	s.pids = append(s.pids, t.pid)
}

// end closes the trace: what still waits is open, up to the last event.
func (s *schedule) end() {
	for c := range s.cpus {
		s.ran(c)
	}
	for _, t := range s.tasks {
		s.finish(t, true)
	}
	slices.SortFunc(s.waits, compareWaits)
}

func compareWaits(a, b refWait) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.pid, b.pid), cmp.Compare(a.to, b.to), cmp.Compare(a.kind, b.kind))
}
