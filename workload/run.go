package workload

import (
	"fmt"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// Run is a Spec on a machine. The machine calls it while it runs; nothing in it is safe for
// other goroutines.
type Run struct {
	groups []*sched.Group // by index of Spec.Groups

	// OnLoop, where set, is told every finished round of a phase.
	OnLoop func(Loop)
	// OnJob, where set, is told every finished job.
	OnJob func(Job)
	// OnExit, where set, is told when a task begins its exit, which has an event only where
	// it does so by itself.
	OnExit func(*sched.Task)
	// OnVerdict, where set, is told what the kernel refused. As rt-app does, the process
	// then exits.
	OnVerdict func(error)

	m       *machine.Machine
	spec    *Spec // shared between runs: never changed
	main    *process
	threads []*thread // in the order of their creation

	mutexes  []*mutex
	conds    []cond
	sems     []semaphore
	timers   []timer
	queues   []queue
	barriers []barrier
	lines    []*machine.Line
	devices  []*machine.Device
	forks    []int // how many threads each fork operation has created

	cpusets *Cpusets

	shared *group // the main thread and all threads that are no processes

	start       gate // the barrier at which all threads meet before they begin
	begun       int  // how many of them have come to their first sleep
	allBegun    event.Time
	zero        event.Time
	stopping    bool // continue_running is 0
	failed      bool
	ownerDeaths int
	arrivals    uint64 // counts entries into queues of waiters, for their order
}

// Load puts the process of spec on m; its main thread begins at once. Errors are a Spec
// that names what is not there.
func Load(m *machine.Machine, spec *Spec) (*Run, error) {
	if err := spec.check(m.CPUs()); err != nil {
		return nil, err
	}
	r := &Run{m: m, spec: spec, zero: event.NoTime, allBegun: event.NoTime, conds: make([]cond, spec.Conds), sems: make([]semaphore, spec.Sems),
		timers: make([]timer, spec.Timers), queues: make([]queue, spec.Queues), forks: make([]int, spec.Forks)}
	for _, mu := range spec.Mutexes {
		r.mutexes = append(r.mutexes, newMutex(mu, m.Preempt()))
	}
	for _, b := range spec.Barriers {
		r.barriers = append(r.barriers, barrier{waiting: b.Parties - 1, mutex: &mutex{pi: b.PI}})
	}
	if err := r.equip(); err != nil {
		return nil, err
	}
	var err error
	if r.cpusets, err = CpusetsOf(spec.Groups, m.CPUs()); err != nil {
		return nil, err
	}
	if err := r.makeGroups(); err != nil {
		return nil, err
	}
	// Threads that are forked later do not meet the others.
	for i := range spec.Tasks {
		r.start.parties += spec.Tasks[i].Instances
	}
	r.main = &process{run: r}
	r.shared = &group{users: 1, left: 1, loaded: true}
	th, err := m.Spawn(spec.PID, spec.Comm, sched.Attr{Policy: sched.Normal}, r.cpusets.Allowed(0, nil, spec.CPUs), r.main)
	if err != nil {
		return nil, err
	}
	r.main.th = th
	m.Start(0, th)
	return r, nil
}

// Zero is when the first thread was ready: rt-app's t_zero; NoTime before.
func (r *Run) Zero() event.Time { return r.zero }

// Tasks appends the tasks of all threads there are, the main one first.
func (r *Run) Tasks(list []*sched.Task) []*sched.Task {
	list = append(list, r.main.th.Task)
	for _, p := range r.threads {
		list = append(list, p.th.Task)
	}
	return list
}

// Done reports whether the process has ended.
func (r *Run) Done() bool { return r.main.th.Dead() }

// Process returns the pid of the main thread.
func (r *Run) Process() event.PID { return r.main.th.Task.PID }

// check finds references to what is not there, so that a run never meets one.
func (s *Spec) check(cpus int) error {
	for i, mu := range s.Mutexes {
		if mu.Ceiling < 0 || mu.Ceiling > 99 || mu.Ceiling > 0 && mu.PI {
			return fmt.Errorf("mutex %d: a ceiling of %d, priority inheritance: %v", i, mu.Ceiling, mu.PI)
		}
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if err := within(t.CPUs, cpus); err != nil {
			return fmt.Errorf("task %s: %w", t.Name, err)
		}
		if err := s.checkExit(t); err != nil {
			return fmt.Errorf("task %s: %w", t.Name, err)
		}
		for j := range t.Phases {
			p := &t.Phases[j]
			if err := within(p.CPUs, cpus); err != nil {
				return fmt.Errorf("task %s, phase %d: %w", t.Name, j, err)
			}
			for k := range p.Ops {
				if err := s.checkOp(t, &p.Ops[k]); err != nil {
					return fmt.Errorf("task %s, phase %d, operation %d: %w", t.Name, j, k, err)
				}
			}
		}
	}
	return nil
}

// within says which CPU is beyond the machine.
func within(list []event.CPU, cpus int) error {
	for _, c := range list {
		if c < 0 || int(c) >= cpus {
			return fmt.Errorf("CPU %d is not one of the %d of this machine", c, cpus)
		}
	}
	return nil
}

// mostPages bounds an address space: 16 TiB.
const mostPages = 1 << 32

// checkExit looks at the memory and the end of a task.
func (s *Spec) checkExit(t *Task) error {
	for _, c := range t.Sections {
		if c.Every.Min <= 0 || c.Length.Min < 0 {
			return fmt.Errorf("a section of %d ns every %d ns", c.Length.Min, c.Every.Min)
		}
	}
	if m := t.Memory; m != nil && (m.Pages < 0 || m.VMAs < 0) {
		return fmt.Errorf("memory of %d pages in %d pieces is less than nothing", m.Pages, m.VMAs)
	}
	if m := t.Memory; m != nil && m.Pages > mostPages {
		return fmt.Errorf("memory of %d pages is more than %d", m.Pages, int64(mostPages))
	}
	if e := t.Exit; e != nil && (e.Post >= s.Sems || e.Core < 0 || e.Signal < 0 || e.Signal > 64) {
		return fmt.Errorf("exit: semaphore %d, core of %d bytes or signal %d does not exist", e.Post, e.Core, e.Signal)
	}
	return nil
}

func (s *Spec) checkOp(t *Task, op *Op) error {
	if op.NS < 0 || op.Jitter < 0 {
		return fmt.Errorf("a time of %d ns is negative", min(op.NS, op.Jitter))
	}
	n := -1
	switch op.Kind {
	case OpTimer:
		n = s.Timers
	case OpUnique:
		n = t.Timers
	case OpLock, OpUnlock:
		n = len(s.Mutexes)
	case OpWait, OpSync, OpSuspend, OpResume:
		if op.Mutex < 0 || op.Mutex >= len(s.Mutexes) {
			return fmt.Errorf("mutex %d does not exist", op.Mutex)
		}
		n = s.Conds
	case OpSignal, OpBroadcast:
		n = s.Conds
	case OpBarrier:
		n = len(s.Barriers)
	case OpSemPost, OpSemWait:
		n = s.Sems
	case OpFork:
		if op.Site < 0 || op.Site >= s.Forks {
			return fmt.Errorf("fork %d is more than the %d of the load", op.Site, s.Forks)
		}
		n = len(s.Tasks)
	case OpEnqueue, OpRelease, OpAwait:
		n = s.Queues
	case OpIO:
		if op.Bytes <= 0 {
			return fmt.Errorf("a request of %d bytes", op.Bytes)
		}
		n = len(s.Devices)
	default:
		return nil
	}
	if op.Ref < 0 || op.Ref >= n {
		return fmt.Errorf("resource %d does not exist", op.Ref)
	}
	return nil
}

// stream returns the random numbers of the thread with the given index. Each has its own,
// so that what one draws does not change what others get.
func (r *Run) stream(index int) *engine.Stream {
	return engine.NewStream(r.spec.Seed, fmt.Sprintf("workload/%d", index))
}

// refuse ends the process because the kernel said no: rt-app prints the error and exits.
func (r *Run) refuse(err error) {
	if r.failed {
		return
	}
	r.failed = true
	if r.OnVerdict != nil {
		r.OnVerdict(err)
	}
}
