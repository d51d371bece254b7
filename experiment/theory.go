package experiment

import (
	"errors"
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// Bound returns the most that what can be of any job of the task, whatever arrives when, by
// response-time analysis for fixed priorities on one CPU (Joseph and Pandya 1986; Lehoczky
// 1990 where a job is released before the last one is done), with blocking by locks that
// inherit priorities (Sha, Rajkumar and Lehoczky 1990). Every period is a least distance of
// releases there, so it holds for all of Vary. The error says why theory has no bound here.
//
// Tasks of the same priority count as higher ones. That is never too little, but may be too
// much: the bound is exact where no two tasks on the CPU have one priority.
func (a *Arrivals) Bound(what What) (event.Time, error) {
	t := &theory{load: a.setup.Load, machine: &a.setup.Machine}
	return t.bound(a.task, what)
}

// theory is a set of periodic tasks on one CPU.
type theory struct {
	load    *workload.Spec
	machine *machine.Config
	cpu     event.CPU
	prio    int         // of the task that is asked about
	higher  []recurring // its own task's other threads too
	own     recurring
	block   event.Time
}

// recurring is a task that works so much at least so far apart.
type recurring struct{ work, period event.Time }

func (t *theory) bound(task int, what What) (event.Time, error) {
	if err := t.plain(); err != nil {
		return 0, err
	}
	if err := t.place(task); err != nil {
		return 0, err
	}
	for i := range t.load.Tasks {
		if err := t.enter(i, task); err != nil {
			return 0, fmt.Errorf("task %s: %w", t.load.Tasks[i].Name, err)
		}
	}
	if err := t.locks(task); err != nil {
		return 0, err
	}
	if err := t.throttling(); err != nil {
		return 0, err
	}
	response, err := t.response()
	if err != nil || what == Response {
		return response, err
	}
	if response > t.own.period {
		return 0, errors.New("jobs may overlap, and who is still running does not wait")
	}
	return t.start()
}

// plain refuses a machine whose own work takes time.
func (t *theory) plain() error {
	m := t.machine
	switch {
	case m.Costs != machine.Costs{} || m.HandOver != 0 || m.IdleHandOver != 0 || t.load.OpCost != 0 || t.load.Costs != workload.Costs{}:
		return errors.New("the machine's own work takes time (--costs zero lets it take none)")
	case len(m.IdleStates) > 0 || len(m.Steals) > 0:
		return errors.New("CPUs have idle states or are stolen")
	case m.LowRes || m.Sched.TimerResolution > 1:
		return errors.New("timers are late without high resolution")
	case len(t.load.IRQs) > 0 || len(t.load.Devices) > 0:
		return errors.New("there are interrupts of devices")
	case len(t.load.Groups) > 0:
		return errors.New("there are control groups")
	}
	return nil
}

// place finds the CPU and the priority of the task.
func (t *theory) place(task int) error {
	x := &t.load.Tasks[task]
	if !realTime(x.Attr) {
		return errors.New("the task has no fixed real-time priority")
	}
	t.prio = x.Attr.Priority
	switch {
	case t.machine.Sched.CPUs == 1:
		t.cpu = 0
	case len(x.CPUs) == 1:
		t.cpu = x.CPUs[0]
	default:
		return errors.New("the task may run on several CPUs")
	}
	return nil
}

func realTime(a *sched.Attr) bool {
	return a != nil && (a.Policy == sched.FIFO || a.Policy == sched.RR)
}

// enter takes in a task by what it can do to the one that is asked about.
func (t *theory) enter(i, task int) error {
	x := &t.load.Tasks[i]
	if x.Instances == 0 {
		return nil // who forks it is refused
	}
	if x.Exit != nil || x.Memory != nil || len(x.Sections) > 0 {
		return errors.New("it has memory, an end or sections in the kernel of its own")
	}
	if x.Attr != nil && x.Attr.Policy == sched.Deadline {
		return errors.New("SCHED_DEADLINE goes before all priorities")
	}
	for _, ph := range x.Phases {
		if ph.Attr != nil || ph.CPUs != nil {
			return errors.New("a phase changes its policy or its CPUs")
		}
		if slices.ContainsFunc(ph.Ops, func(op workload.Op) bool { return op.Kind == workload.OpFork }) {
			return errors.New("it forks")
		}
	}
	if !realTime(x.Attr) || x.Attr.Priority < t.prio {
		return nil // it can only hold locks
	}
	if t.machine.Sched.CPUs > 1 && len(x.CPUs) != 1 {
		return errors.New("it may run on several CPUs")
	}
	if t.machine.Sched.CPUs > 1 && x.CPUs[0] != t.cpu {
		return nil
	}
	r, err := t.recurring(x)
	if err != nil {
		return err
	}
	threads := x.Instances
	if i == task {
		t.own = r
		threads--
	}
	for range threads {
		t.higher = append(t.higher, r)
	}
	return nil
}

// recurring is what a task demands that works and sleeps in turn.
func (t *theory) recurring(x *workload.Task) (recurring, error) {
	r := recurring{}
	if len(x.Phases) != 1 {
		return r, errors.New("it has several phases")
	}
	for _, op := range x.Phases[0].Ops {
		if op.Jitter > 0 || op.Random {
			return r, errors.New("its sleeps are random")
		}
		switch op.Kind {
		case workload.OpRun:
			r.work += op.NS
		case workload.OpLock, workload.OpUnlock:
		case workload.OpSleep, workload.OpUnique, workload.OpTimer:
			if r.period > 0 {
				return r, errors.New("it sleeps more than once in a round")
			}
			if op.Kind == workload.OpTimer && t.users(op.Ref) > 1 {
				return r, errors.New("it shares its timer")
			}
			if r.period = op.NS; r.period <= 0 {
				return r, errors.New("its period is 0")
			}
		default:
			return r, errors.New("it does more than work, sleep and lock")
		}
	}
	if r.period == 0 {
		return r, errors.New("it never sleeps")
	}
	for _, op := range x.Phases[0].Ops {
		if op.Kind == workload.OpSleep {
			r.period += r.work // a sleep begins when the work is done
		}
	}
	return r, nil
}

// users counts the threads that use a shared timer.
func (t *theory) users(timer int) int {
	n := 0
	for i := range t.load.Tasks {
		for _, ph := range t.load.Tasks[i].Phases {
			for _, op := range ph.Ops {
				if op.Kind == workload.OpTimer && op.Ref == timer {
					n += t.load.Tasks[i].Instances
				}
			}
		}
	}
	return n
}

// throttling refuses loads that real-time throttling or the server of fair tasks may stop.
func (t *theory) throttling() error {
	c := &t.machine.Sched
	if c.FairServerPeriod > 0 && c.FairServerRuntime > 0 {
		for i := range t.load.Tasks {
			if x := &t.load.Tasks[i]; x.Instances > 0 && !realTime(x.Attr) {
				return errors.New("the server of fair tasks may take the CPU")
			}
		}
	}
	if c.RTPeriod <= 0 || c.RTRuntime < 0 || c.RTRuntime >= c.RTPeriod {
		return nil
	}
	used := event.Time(0)
	for i := range t.load.Tasks {
		x := &t.load.Tasks[i]
		if x.Instances == 0 || !realTime(x.Attr) {
			continue
		}
		r, err := t.recurring(x)
		if err != nil {
			return errors.New("real-time tasks of lower priority may use up the real-time runtime")
		}
		used += event.Time(x.Instances) * ((c.RTPeriod+r.period-1)/r.period + 1) * r.work
	}
	if used > c.RTRuntime {
		return errors.New("real-time tasks may be throttled (set sched_rt_runtime_us=-1 lets them run)")
	}
	return nil
}

// mostBusy is how long a busy time may be before the CPU counts as overloaded: an hour.
const mostBusy event.Time = 3600 * 1_000_000_000

var errOverload = errors.New("tasks of this priority and higher ask for more than the CPU has")

// settle finds the first w for which next says itself.
func settle(w event.Time, next func(event.Time) event.Time) (event.Time, error) {
	for w <= mostBusy {
		n := next(w)
		if n == w {
			return w, nil
		}
		w = n
	}
	return 0, errOverload
}

// demand is the work of the higher tasks that is released in the first w of a busy time; at
// its end too, where closed.
func (t *theory) demand(w event.Time, closed bool) event.Time {
	sum := event.Time(0)
	for _, h := range t.higher {
		n := (w + h.period - 1) / h.period
		if closed {
			n = w/h.period + 1
		}
		sum += n * h.work
	}
	return sum
}

// response is that of the worst job in the longest busy time.
func (t *theory) response() (event.Time, error) {
	worst := event.Time(0)
	for job := event.Time(1); ; job++ {
		w, err := settle(job*t.own.work+t.block, func(w event.Time) event.Time { return job*t.own.work + t.block + t.demand(w, false) })
		if err != nil {
			return 0, err
		}
		worst = max(worst, w-(job-1)*t.own.period)
		if w <= job*t.own.period {
			return worst, nil
		}
	}
}

// start is how long a job waits at most for its first instant on the CPU. A release at that
// instant still goes before it.
func (t *theory) start() (event.Time, error) {
	return settle(t.block, func(w event.Time) event.Time { return t.block + t.demand(w, true) })
}
