package machine

import (
	"errors"
	"fmt"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// ErrStuck says that a program went on and on without taking any time.
var ErrStuck = errors.New("a task takes no time and never sleeps")

// Costs says how long the machine's own work takes, in ns. The zero Costs is free.
type Costs struct {
	Switch event.Time // a context switch
	IPI    event.Time // from sending an interrupt to its arrival
	Wake   event.Time // from a timer's expiry to the wake
}

// Config is a machine.
type Config struct {
	Sched sched.Config
	Costs Costs
	// NoTick leaves the scheduler tick out: nothing happens but what tasks and timers do.
	NoTick bool
}

// What an item of the queue is.
const (
	itemWork  uint32 = iota // Arg: CPU. The current stretch of work is over.
	itemSleep               // Arg: thread. Its sleep is over.
	itemTimer               // Arg: index in timers
	itemIPI                 // Arg: CPU
	itemKick                // Arg: CPU
	itemTick                // Arg: CPU
	itemCall                // Arg: index in calls
)

// The order at one nanosecond: work that ends is over before anything else looks at it.
const (
	rankWork engine.Rank = iota
	rankTimer
	rankIPI
	rankTick
)

// Machine is a machine that runs.
type Machine struct {
	Sched *sched.Sched
	Names *event.Names

	cfg     Config
	queue   engine.Queue
	now     event.Time
	cpus    []cpu
	threads []*Thread
	timers  map[sched.Timer]pending
	timerOf []sched.Timer
	freeT   []int
	calls   []func()
	sink    func(*event.Event)
	asked   []event.CPU // CPUs that should look whether to schedule
	irq     event.CPU   // the CPU in interrupt context, NoCPU: none
	err     error
	nextPID event.PID
}

// pending is a timer of the scheduler that runs.
type pending struct {
	handle engine.Handle
	n      int // index in timerOf
}

type cpu struct {
	work    engine.Handle
	tick    engine.Handle
	running *Thread // whose work is going on, nil: idle
	asked   bool
}

// New returns a machine whose CPUs are idle at time 0. sink gets every event; it is valid
// during the call. A nil sink is allowed.
func New(cfg Config, names *event.Names, sink func(*event.Event)) *Machine {
	m := &Machine{cfg: cfg, Names: names, sink: sink, cpus: make([]cpu, cfg.Sched.CPUs),
		timers: make(map[sched.Timer]pending), irq: event.NoCPU, nextPID: 1}
	m.Sched = sched.New(cfg.Sched, m, names)
	return m
}

// Now is the machine's time in ns.
func (m *Machine) Now() event.Time { return m.now }

// CPUs returns the number of CPUs.
func (m *Machine) CPUs() int { return len(m.cpus) }

// Fail ends the run with an error: a program could not go on.
func (m *Machine) Fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// RunUntil lets things happen up to and including the time until. Its error is that of a
// program, or ErrStuck.
func (m *Machine) RunUntil(until event.Time) error {
	m.settle() // what was started since
	for m.err == nil {
		at, ok := m.queue.Next()
		if !ok || at > until {
			break
		}
		it, _ := m.queue.Pop()
		m.now = it.At
		m.handle(it)
		m.settle()
	}
	m.now = max(m.now, until)
	return m.err
}

func (m *Machine) handle(it engine.Item) {
	switch it.What {
	case itemWork:
		m.workDone(event.CPU(it.Arg))
	case itemSleep:
		m.sleepOver(m.threads[it.Arg])
	case itemTimer:
		t := m.timerOf[it.Arg]
		m.forget(t)
		m.inIRQ(t.CPU, func() { m.Sched.TimerExpired(t.CPU, t) })
		m.ask(t.CPU)
	case itemIPI:
		m.ask(event.CPU(it.Arg))
	case itemKick:
		c := event.CPU(it.Arg)
		m.inIRQ(c, func() { m.Sched.PushCPU(c) })
		m.ask(c)
	case itemTick:
		m.tick(event.CPU(it.Arg))
	case itemCall:
		call := m.calls[it.Arg]
		m.calls[it.Arg] = nil
		call()
	}
}

// inIRQ runs f as a hard interrupt on c.
func (m *Machine) inIRQ(c event.CPU, f func()) {
	before := m.irq
	m.irq = c
	f()
	m.irq = before
}

// ask notes that c should look whether to schedule.
func (m *Machine) ask(c event.CPU) {
	if !m.cpus[c].asked {
		m.cpus[c].asked = true
		m.asked = append(m.asked, c)
	}
}

// mostRounds bounds how often CPUs may schedule without time passing.
const mostRounds = 1 << 20

// settle lets every CPU schedule that was asked to, until nothing changes any more.
func (m *Machine) settle() {
	for round := 0; len(m.asked) > 0 && m.err == nil; round++ {
		c := m.asked[0]
		m.asked = m.asked[1:]
		m.cpus[c].asked = false
		m.look(c)
		if round > mostRounds {
			m.Fail(fmt.Errorf("at %d ns: %w", m.now, ErrStuck))
		}
	}
	if len(m.asked) == 0 {
		m.asked = nil
	}
}

// look schedules on c if it should and may.
func (m *Machine) look(c event.CPU) {
	if m.Sched.NeedResched(c) && m.mayPreempt(c) {
		m.schedule(c, true)
	}
	m.goOn(c)
}

// mayPreempt reports whether the current task of c can be made to leave now.
func (m *Machine) mayPreempt(c event.CPU) bool {
	th := m.cpus[c].running
	return th == nil || th.remaining <= 0 && th.mode != PreemptOff || th.mode.preemptible(m.cfg.Sched.Preempt)
}

// schedule stops the current work of c, lets the scheduler choose, and emits.
func (m *Machine) schedule(c event.CPU, preempt bool) {
	m.pause(c)
	m.Sched.Schedule(c, preempt)
	m.startTick(c)
}
