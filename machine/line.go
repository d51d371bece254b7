package machine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// Threading says where the main work of a handler is done.
type Threading uint8

// The ways.
const (
	ThreadAsKernel Threading = iota // in a thread where the kernel forces that, else in interrupt context
	ThreadAlways                    // in a thread; request_threaded_irq()
	ThreadNever                     // in interrupt context; IRQF_NO_THREAD
)

// IRQ is an interrupt line of a device and its handler. Times are ns.
type IRQ struct {
	// Number is that of /proc/interrupts; 0: the next free one from 24 on.
	Number int64
	// Name is the handler's. Its thread, if it has one, is irq/NUMBER-NAME.
	Name string
	// CPUs it may be sent to, none: all. It is sent to one of them, which is chosen when the
	// line is set up; its thread stays there too.
	CPUs []event.CPU
	// Hard is the work in interrupt context that is always done there, Work what is done
	// in the thread, or behind Hard where there is none.
	Hard, Work Span
	Threading  Threading
	// Softirq: when its work is done it raises SoftirqVec (event.SoftirqNetRx …), which then
	// has SoftirqWork to do.
	Softirq     bool
	SoftirqVec  int64
	SoftirqWork Span
	// Attr is of the thread; nil: SCHED_FIFO 50.
	Attr *sched.Attr

	// Every is the distance of arrivals that come by themselves, the first one Offset after
	// the line is set up; 0: only devices raise it. Jitter is added to each arrival, evenly
	// between 0 and itself, and moves no other. With Random the distances are exponential
	// with the mean Every. Count ends them; 0: never.
	Every, Offset, Jitter event.Time
	Random                bool
	Count                 int64

	// Done, where set, is called when all parts of the handler are done, by whoever
	// executes the last of them on c.
	Done func(c event.CPU)
}

// Line is an IRQ on a machine.
type Line struct {
	m      *Machine
	irq    IRQ
	id     int
	cpu    event.CPU
	name   event.Name
	random *engine.Stream
	thread *Thread // nil: everything is done in interrupt context

	// The line is level-triggered: what was raised stays so until the handler begins. It is
	// sent to the CPU when it is raised, open, and not on its way or in service.
	raised, sent, serving bool
	masked                bool // IRQF_ONESHOT: until the thread is done

	wanted  bool // IRQTF_RUNTHREAD: the thread should run the handler
	working bool // it does

	softRaised bool // its softirq has work to do that it has not begun

	devices []*Device
	arrival event.Time // of the arrivals that come by themselves: the next on the grid
	arrived int64
	served  int64
	merged  int64
}

// Served returns how many interrupts were served, and how many came while an earlier one
// still waited and so were none of their own.
func (l *Line) Served() (served, merged int64) { return l.served, l.merged }

// CPU is where the line is sent to.
func (l *Line) CPU() event.CPU { return l.cpu }

// Thread is the thread of the handler, nil if it has none.
func (l *Line) Thread() *Thread { return l.thread }

// Number is that of the line.
func (l *Line) Number() int64 { return l.irq.Number }

// IRQ is how the line was set up, with its number.
func (l *Line) IRQ() IRQ { return l.irq }

// Lines are those of the machine, in the order in which they were set up.
func (m *Machine) Lines() []*Line { return slices.Clone(m.lines) }

// firstMSI is where lines without a number begin, above those of the old controllers.
const firstMSI = 24

// maxComm is how much of a name a kernel keeps.
const maxComm = 15

// errSpan is a length that cannot be.
var errSpan = errors.New("a length is negative, or its end lies before its beginning")

// AddIRQ sets a line up; it is open from now on. Errors name what makes no sense, or are
// the kernel's verdict on Attr.
func (m *Machine) AddIRQ(irq IRQ) (*Line, error) {
	if err := m.checkIRQ(&irq); err != nil {
		return nil, fmt.Errorf("interrupt %s: %w", irq.Name, err)
	}
	if irq.Number == 0 {
		irq.Number = m.freeNumber()
	}
	l := &Line{m: m, irq: irq, id: len(m.lines), name: m.Names.Intern(irq.Name), cpu: m.effectiveCPU(irq.CPUs)}
	l.random = engine.NewStream(m.cfg.Seed, "machine/irq/"+strconv.FormatInt(irq.Number, 10)+"-"+irq.Name)
	if irq.Threading == ThreadAlways || irq.Threading == ThreadAsKernel && m.forcesThreads() {
		if err := l.makeThread(); err != nil {
			return nil, fmt.Errorf("interrupt %s: %w", irq.Name, err)
		}
	}
	m.lines = append(m.lines, l)
	if irq.Every > 0 {
		l.arrival = m.now + irq.Offset
		l.arriveAt()
	}
	return l, nil
}

func (m *Machine) checkIRQ(irq *IRQ) error {
	for _, s := range []Span{irq.Hard, irq.Work, irq.SoftirqWork} {
		if s.Min < 0 || s.Max < s.Min {
			return errSpan
		}
	}
	if irq.Every < 0 || irq.Offset < 0 || irq.Jitter < 0 || irq.Number < 0 {
		return errors.New("a time or a number is negative")
	}
	if irq.Softirq && (irq.SoftirqVec < 0 || irq.SoftirqVec >= numVectors) {
		return fmt.Errorf("there is no softirq %d", irq.SoftirqVec)
	}
	for _, c := range irq.CPUs {
		if c < 0 || int(c) >= len(m.cpus) {
			return fmt.Errorf("CPU %d is not one of the %d of this machine", c, len(m.cpus))
		}
	}
	for _, l := range m.lines {
		if irq.Number != 0 && l.irq.Number == irq.Number {
			return fmt.Errorf("number %d is that of %s", irq.Number, l.irq.Name)
		}
	}
	return nil
}

// forcesThreads reports whether handlers run in threads where they do not say no.
func (m *Machine) forcesThreads() bool {
	return m.cfg.ThreadIRQs || m.cfg.Sched.Preempt == sched.PreemptRT
}

// freeNumber is the first number from firstMSI on that no line has.
func (m *Machine) freeNumber() int64 {
	for n := int64(firstMSI); ; n++ {
		if !slices.ContainsFunc(m.lines, func(l *Line) bool { return l.irq.Number == n }) {
			return n
		}
	}
}

// effectiveCPU is where a new line is sent to: the first CPU that it may use among those
// with the fewest lines; so does the kernel's allocator of vectors.
func (m *Machine) effectiveCPU(cpus []event.CPU) event.CPU {
	count := make([]int, len(m.cpus))
	for _, l := range m.lines {
		count[l.cpu]++
	}
	best := event.NoCPU
	for c := range event.CPU(len(m.cpus)) {
		if (len(cpus) == 0 || slices.Contains(cpus, c)) && (best == event.NoCPU || count[c] < count[best]) {
			best = c
		}
	}
	return best
}

// makeThread makes irq/NUMBER-NAME, which sleeps; setup_irq_thread(). It follows the line to
// its CPU.
func (l *Line) makeThread() error {
	attr := sched.Attr{Policy: sched.FIFO, Priority: 50}
	if l.irq.Attr != nil {
		attr = *l.irq.Attr
	}
	comm := "irq/" + strconv.FormatInt(l.irq.Number, 10) + "-" + l.irq.Name
	th, err := l.m.ownThread(ownIRQ, len(l.m.lines), comm[:min(len(comm), maxComm)], attr, l.cpu, l)
	l.thread = th
	return err
}

// raise asserts the line.
func (l *Line) raise() {
	if l.raised {
		l.merged++
		return
	}
	l.raised = true
	l.send()
}

// send sends the interrupt to its CPU, if it is raised and may go.
func (l *Line) send() {
	if !l.raised || l.sent || l.serving || l.masked {
		return
	}
	l.sent = true
	cp := &l.m.cpus[l.cpu]
	cp.irqs = append(cp.irqs, engine.Item{At: l.m.now, What: itemDevice, Arg: int64(l.id)})
	l.m.ask(l.cpu)
}

// arriveAt plans the next arrival that comes by itself.
func (l *Line) arriveAt() {
	at := l.arrival
	if l.irq.Jitter > 0 {
		at += event.Time(l.random.Between(0, int64(l.irq.Jitter)))
	}
	l.m.queue.Push(engine.Item{At: max(at, l.m.now), Rank: rankTimer, What: itemArrival, Arg: int64(l.id)})
}

// arrive is an arrival that comes by itself.
func (l *Line) arrive() {
	if l.arrived++; l.irq.Count == 0 || l.arrived < l.irq.Count {
		distance := l.irq.Every
		if l.irq.Random {
			distance = max(1, event.Time(l.random.Exponential(int64(distance))))
		}
		l.arrival += distance
		l.arriveAt()
	}
	l.raise()
}

// begin enters the handler on c, in interrupt context; handle_irq_event(). Interrupts are
// off until it is done, so nothing nests.
func (l *Line) begin(c event.CPU) {
	m, cp := l.m, &l.m.cpus[c]
	l.raised, l.sent, l.serving = false, false, true
	l.masked = l.thread != nil // mask_ack_irq(), for IRQF_ONESHOT
	l.served++
	m.emitIRQ(c, event.IRQHandlerEntry, l)
	length := l.irq.Hard.draw(l.random)
	if l.thread == nil {
		length += l.irq.Work.draw(l.random)
	}
	cp.hard = l
	if length <= 0 {
		m.endHard(c)
		return
	}
	m.pause(c)
	cp.busy = max(cp.busy, m.now) + length
}

// endHard leaves the handler in service on c. Its thread is woken behind the exit event;
// __handle_irq_event_percpu().
func (m *Machine) endHard(c event.CPU) {
	l := m.cpus[c].hard
	m.cpus[c].hard = nil
	before := m.irq
	m.irq = c
	if l.thread == nil {
		l.finish(c)
	}
	m.emitIRQ(c, event.IRQHandlerExit, l)
	if l.thread != nil {
		l.wanted = true
		if !l.working {
			m.Wake(c, l.thread)
		}
	}
	m.irq = before
	l.serving = false
	l.send()
	m.leaveIRQ(c)
}

// finish says that the work of the handler is done; what is left may be that of its
// softirq. One that is raised again before it has begun has its work to do once.
func (l *Line) finish(c event.CPU) {
	for _, d := range l.devices {
		d.served(c)
	}
	switch {
	case !l.irq.Softirq:
		if l.irq.Done != nil {
			l.irq.Done(c)
		}
	case !l.softRaised:
		l.softRaised = true
		s := l.m.softirqs(c)
		s.work[l.irq.SoftirqVec] = append(s.work[l.irq.SoftirqVec], l)
		l.m.raiseSoftirq(c, l.irq.SoftirqVec)
	}
}

// Next is the program of the thread; irq_thread(). Behind the work the line is opened again
// (irq_finalize_oneshot()): what waits there is served at once, before the thread sleeps.
// Then it does the softirqs that it raised, with local_bh_enable().
func (l *Line) Next(m *Machine, th *Thread) Step {
	c := th.Task.CPU()
	if l.working {
		l.working = false
		m.forbidSoftirqs(c, th)
		l.finish(c)
		l.masked = false
		l.send()
		return Step{Kind: StepRun, Mode: BHOff}
	}
	if !l.wanted {
		return Step{Kind: StepBlock}
	}
	l.wanted, l.working = false, true
	mode := l.mode()
	if mode != Kernel {
		m.forbidSoftirqs(c, th)
	}
	return Step{Kind: StepRun, NS: l.irq.Work.draw(l.random), Mode: mode, Hold: true}
}

// mode is how the thread works. Forced threads have softirqs off, and kernels that are not
// PREEMPT_RT run their handler with interrupts off; irq_forced_thread_fn().
func (l *Line) mode() Mode {
	switch {
	case l.irq.Threading == ThreadAlways:
		return Kernel
	case l.m.rt() || l.m.cfg.Interrupts.HandlersBHOff:
		return BHOff
	}
	return IRQsOff
}

// emitIRQ says that a handler begins or ends.
func (m *Machine) emitIRQ(c event.CPU, kind event.Kind, l *Line) {
	if !m.listens(kind) {
		return
	}
	ev := &m.ev
	ev.Reset()
	ev.Kind, ev.Arg, ev.Text = kind, l.irq.Number, l.name
	m.Emit(c, ev)
}
