package replay

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// mostForcedCPUs bounds the machine that is followed: each CPU costs memory.
const mostForcedCPUs = 1024

// beginning is what the whole trace tells of a task before its first event is followed.
type beginning struct {
	pid    event.PID
	comm   event.Name
	status timeline.Status // as it was when the trace began
	woken  bool            // since it last came to a CPU
	cpu    event.CPU       // where
	prio   event.Prio      // the first one shown
	cpus   []event.CPU     // nil: all, as far as the trace shows
	seen   []event.CPU     // where it was queued
	told   bool            // somebody told which CPUs it may use
	wakes  []event.Time    // of a deadline task: its first ones
	fair   fairSight
	parent timeline.TaskID // who forked it in the trace; −1: nobody
	waking int             // of wakeSights, from 1: its last sched_waking; 0: it has ended
}

// firstSight is what a first look at the trace finds.
type firstSight struct {
	known    knownTasks
	from, to event.Time
	state    *timeline.Tracker
	tasks    []beginning  // by timeline.TaskID
	running  []bool       // by CPU: its first task is known
	runs     []currentRun // by CPU
	changes  []unseenChange
	// Of all switches, those to a task that slept, as far as the trace shows.
	switches, unwoken int64
	dlTasks           int // tasks with the priority of a deadline task

	// The last expiry of sched_rt_period_timer, and the shortest distance of two.
	rtExpired, rtApart event.Time
	cpus               int // one more than the highest number
	kinds              event.KindSet
	names              *event.Names
	machine            string

	wakeSights []wakeSight // of all sched_waking, in their order

	balances bool // the softirq SCHED is shown

	sleepingLocks bool // PREEMPT_RT: locks lend priorities everywhere
	snap          *sysinfo.Snapshot
	budgetTold    bool // the snapshot has sched_rt_runtime_us
	kernelUnknown bool
}

// lookAhead reads src for the first time.
func lookAhead(src Input, o Options) (*firstSight, error) {
	s := &firstSight{from: event.NoTime, rtExpired: event.NoTime, names: src.Names(), machine: src.Info().Machine, state: timeline.NewTracker(src.Info().Machine, src.Names())}
	if err := eachEvent(src, forceNeeds, o.Progress, s.push); err != nil {
		return nil, err
	}
	if len(s.tasks) > mostForcedTasks {
		return nil, fmt.Errorf("%w: it has %d tasks", ErrTooLong, len(s.tasks))
	}
	for i := range s.tasks {
		if b := &s.tasks[i]; len(b.seen) < 2 {
			b.cpus = b.seen
		}
	}
	s.sortChanges()
	return s, nil
}

// of returns the beginning of a task; one that the first look did not find is a blocked one.
func (s *firstSight) of(id timeline.TaskID) *beginning {
	for int(id) >= len(s.tasks) {
		s.tasks = append(s.tasks, beginning{pid: event.NoPID, cpu: event.NoCPU, prio: event.NoPrio, parent: -1})
	}
	return &s.tasks[id]
}

// mostWakes bounds the wakes of a deadline task that its period is inferred from.
const mostWakes = 512

func (s *firstSight) push(ev *event.Event) {
	if ev.CPU < 0 || ev.CPU >= mostForcedCPUs || !plausible(ev.Time) {
		return
	}
	if s.from == event.NoTime {
		s.from = ev.Time
	}
	s.to = max(s.to, ev.Time)
	s.kinds |= 1 << ev.Kind
	step := s.state.Push(ev)
	s.cpus = max(s.cpus, int(ev.CPU)+1)
	for len(s.running) < s.cpus {
		s.running = append(s.running, false)
	}
	s.ran(ev, step.Task)
	switch ev.Kind {
	case event.Gap:
		return
	case event.HrtimerExpireEntry:
		s.periodBegins(ev)
	case event.SoftirqEntry:
		s.balances = s.balances || ev.Arg == event.SoftirqSched
	case event.SchedStatRuntime:
		if step.Task != nil {
			s.of(step.Task.ID).fair.charge(ev)
		}
	case event.SchedSwitch:
		s.see(step.Task, timeline.StatusRunning, ev.CPU, ev.TaskPrio)
		s.see(step.Next, timeline.StatusReady, ev.CPU, ev.NextPrio)
		s.switches++
		if n := s.of(step.Next.ID); step.NextWas == timeline.StatusBlocked && !n.woken {
			s.unwoken++
		}
		s.of(step.Next.ID).woken = false
		s.running[ev.CPU] = true
		return
	case event.SchedWaking:
		s.see(step.Task, timeline.StatusBlocked, event.NoCPU, ev.TaskPrio)
		s.wake(step.Task, ev)
		s.sightWake(ev, step.Task)
	case event.SchedWakeup:
		s.sightWake(ev, step.Task)
		s.see(step.Task, timeline.StatusBlocked, ev.Target, ev.TaskPrio)
		if step.Task != nil {
			s.of(step.Task.ID).woken = true
		}
	case event.SchedWakeupNew:
		s.see(step.Task, timeline.StatusNew, ev.Target, ev.TaskPrio)
	case event.SchedMigrateTask:
		s.see(step.Task, timeline.StatusReady, ev.Orig, ev.TaskPrio)
		s.see(step.Task, timeline.StatusReady, ev.Target, ev.TaskPrio)
	case event.SchedPISetprio:
		s.see(step.Task, timeline.StatusBlocked, event.NoCPU, ev.TaskPrio)
	case event.SchedProcessFork, event.TaskNewtask:
		s.see(step.Next, timeline.StatusNew, event.NoCPU, event.NoPrio)
		if step.Next != nil && step.Next.Parent != nil && step.Next.Parent.ID < step.Next.ID {
			s.of(step.Next.ID).parent = step.Next.Parent.ID
		}
	}
	if c := s.state.CPU(ev.CPU); c != nil && c.Current != nil {
		s.see(c.Current, timeline.StatusRunning, ev.CPU, event.NoPrio)
		s.running[ev.CPU] = true
	}
}

// see notes a task at its first event, and later where it was.
func (s *firstSight) see(t *timeline.Task, as timeline.Status, c event.CPU, prio event.Prio) {
	if t == nil {
		return
	}
	fresh := int(t.ID) >= len(s.tasks)
	b := s.of(t.ID)
	if fresh || b.pid == event.NoPID {
		b.pid, b.comm, b.status = t.PID, t.Comm, as
		if as == timeline.StatusRunning && s.running[c] {
			b.status = timeline.StatusReady // it came there unseen
		}
	}
	if b.prio == event.NoPrio && known(prio) {
		b.prio = prio
	}
	if prio == event.PrioDeadline {
		s.dlTasks++
	}
	if c == event.NoCPU {
		return
	}
	if b.cpu == event.NoCPU {
		b.cpu = c
	}
	s.cpus = max(s.cpus, min(int(c)+1, mostForcedCPUs))
	if len(b.seen) < 2 && !slices.Contains(b.seen, c) {
		b.seen = append(b.seen, c)
	}
}

// wake notes that a task was woken, and when a deadline task was.
func (s *firstSight) wake(t *timeline.Task, ev *event.Event) {
	if t == nil {
		return
	}
	s.of(t.ID).woken = true
	if ev.TaskPrio >= 0 || ev.TaskPrio == event.NoPrio {
		return
	}
	if b := s.of(t.ID); len(b.wakes) < mostWakes {
		b.wakes = append(b.wakes, ev.Time)
	}
}

// deadline is what a deadline task is taken for of which nobody told the parameters: its
// period is the usual distance of its wakes, its deadline the end of that; its runtime, which
// no event tells before it is used up, all of it.
func (s *firstSight) deadline(id timeline.TaskID) sched.Attr {
	wakes := s.of(id).wakes
	if len(wakes) < 3 {
		return someDeadline
	}
	apart := make([]event.Time, 0, len(wakes)-1)
	for i := 1; i < len(wakes); i++ {
		apart = append(apart, wakes[i]-wakes[i-1])
	}
	slices.Sort(apart)
	period := min(max((apart[len(apart)/2]+50_000)/100_000*100_000, 100_000), 4_000_000_000)
	return sched.Attr{Policy: sched.Deadline, Runtime: period, Deadline: period, Period: period}
}

// periodBegins takes in the expiry of a timer, if it is that of the real-time tasks' budget.
func (s *firstSight) periodBegins(ev *event.Event) {
	if s.names.String(ev.Func) != "sched_rt_period_timer" {
		return
	}
	if s.rtExpired != event.NoTime && ev.Time > s.rtExpired {
		if apart := ev.Time - s.rtExpired; s.rtApart == 0 || apart < s.rtApart {
			s.rtApart = apart
		}
	}
	s.rtExpired = ev.Time
}

// rtPeriod is the period of the budget of real-time tasks, to the ms, as its timer shows it; 0: it
// does not.
func (s *firstSight) rtPeriod() event.Time { return (s.rtApart + 500_000) / 1_000_000 * 1_000_000 }

// reliable reports whether wakes are recorded: hardly any task comes to a CPU without one. Else one
// that is first seen when it comes need not have waited since the trace began.
func (s *firstSight) reliable() bool {
	return (s.shows(event.SchedWaking) || s.shows(event.SchedWakeup)) && s.unwoken*100 <= s.switches
}

// mostForcedTasks bounds the tasks that are followed; each takes a kilobyte.
const mostForcedTasks = 1 << 19

// shows reports whether the trace has events of a kind.
func (s *firstSight) shows(k event.Kind) bool { return s.kinds&(1<<k) != 0 }
