package machine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// ErrStuck says that something went on and on without taking any time.
var ErrStuck = errors.New("time stands still: a task takes no time and never sleeps, or a timer is always due")

// Config is a machine.
type Config struct {
	Sched sched.Config
	Costs Costs
	// NoTick leaves the scheduler tick out: nothing happens but what tasks and timers do.
	NoTick bool
	// NoHZ says when a CPU does without its tick.
	NoHZ NoHZ
	// NoHZFullCPUs are those of nohz_full=, with NoHZFull; nil: all.
	NoHZFullCPUs []event.CPU
	// LowRes: the kernel has no high-resolution timers (highres=off); every timer expires
	// at the first tick after its time, and there is no hrtick.
	LowRes bool
	// ThreadIRQs: handlers of devices run in threads where they do not say no (the boot
	// parameter threadirqs); PREEMPT_RT always does so.
	ThreadIRQs bool
	// Interrupts says how the kernel deals with interrupts.
	Interrupts Interrupts
	// Without are kinds of events that are not made, as if nobody had recorded them.
	Without event.KindSet
	// HandOver is what it takes, beside Costs, from a wake to the switch to the woken task
	// where that goes first. The work of the current task does not go on meanwhile, interrupts
	// are served. It is not taken where who runs leaves by itself. An idle CPU takes
	// IdleHandOver instead.
	HandOver, IdleHandOver event.Time
	// Seed is of all random lengths and distances of interrupts and devices.
	Seed uint64
	// IdleStates are what an idle CPU may enter, from the lightest to the deepest; none: idle
	// is one state, and leaving it costs Costs.IdleExit.
	IdleStates []IdleState
	// CoKernel: real-time tasks are run by a kernel of their own, and Linux only while they do
	// not want the CPU. No Linux has it.
	CoKernel bool
	// Steals are times in which a hypervisor runs something else.
	Steals []Steal
	// TickEvents: the timers of the tick and of hrtick leave hrtimer events, as in a kernel.
	TickEvents bool
	// DLTimerEvents: the timers of the scheduler leave hrtimer events, as in a kernel.
	DLTimerEvents bool
}

// Interrupts says how a kernel deals with interrupts, beside its preemption model.
type Interrupts struct {
	// KTimers: the softirqs of timers run in threads ktimers/N of SCHED_FIFO 1 where handlers
	// do. They are woken when the interrupt ends that raised something for them.
	KTimers bool
	// SleepersInSoftirq: on PREEMPT_RT the sleep timers of fair tasks expire in the softirq
	// HRTIMER; those of others always do so in the interrupt.
	SleepersInSoftirq bool
	// DaemonPriority is that of ksoftirqd/N, which is SCHED_FIFO then; 0: SCHED_OTHER.
	DaemonPriority int
	// DaemonFirst: while ksoftirqd/N is runnable, softirqs wait for it.
	DaemonFirst bool
	// BalanceInIRQ: on PREEMPT_RT the softirq SCHED is handled at the end of the interrupt that raised it, in no
	// thread. It is for loads that have the threads of the machine among their tasks.
	BalanceInIRQ bool
	// TickTimer is the function of the tick's timer; "": tick_sched_timer.
	TickTimer string
	// HandlersBHOff: handlers that are forced into threads have interrupts on, where the
	// kernel is not PREEMPT_RT.
	HandlersBHOff bool
}

// NoHZ says when a CPU does without its tick, by the kernel's configuration.
type NoHZ uint8

// The modes of the tick.
const (
	NoHZIdle   NoHZ = iota // NO_HZ_IDLE: not while it is idle
	HZPeriodic             // HZ_PERIODIC: it always ticks
	NoHZFull               // NO_HZ_FULL: on CPUs of Config.NoHZFullCPUs also not for a task that the tick does not help
)

// What an item of the queue is. All from itemIRQ on are interrupts of a CPU.
const (
	itemWork        uint32 = iota // Arg: CPU. The current stretch of work is over.
	itemReady                     // Arg: CPU. It is done with its own work.
	itemCall                      // Arg: index in calls
	itemSoftirq                   // Arg: CPU. The softirq in interrupt context is done.
	itemScript                    // Arg: CPU. A piece of a scripted softirq is done.
	itemCo                        // Arg: thread and turn. The co-kernel's timer, its interrupt entered.
	itemSteal                     // Arg: steal and CPU. The hypervisor takes it away.
	itemArrival                   // Arg: line. An interrupt that comes by itself.
	itemRaise                     // Arg: device. It raises its interrupt.
	itemIRQ                       // Arg: index in calls
	itemDevice                    // Arg: line. The interrupt of a device.
	itemSleep                     // Arg: thread and turn. Its sleep is over.
	itemDL                        // Arg: thread and turn. dl_task_timer
	itemInactive                  // Arg: thread and turn. inactive_task_timer
	itemHRTick                    // Arg: CPU and turn
	itemRTPeriod                  // Arg: CPU and group. sched_rt_period_timer
	itemCFSPeriod                 // likewise, sched_cfs_period_timer
	itemCFSSlack                  // sched_cfs_slack_timer
	itemIPI                       // Arg: CPU. It should schedule.
	itemKick                      // Arg: CPU. RT_PUSH_IPI
	itemWakeList                  // Arg: CPU. TTWU_QUEUE
	itemKickBalance               // Arg: CPU. nohz_csd_func()
	itemTick                      // Arg: CPU
)

// The order at one nanosecond: work that ends is over before anything else looks at it.
const (
	rankWork         engine.Rank = iota
	rankSoftirqTimer             // an interrupt looks first whether it has to raise HRTIMER
	rankTimer
	rankIPI
	rankTick
)

// Machine is a machine that runs.
type Machine struct {
	Sched *sched.Sched
	Names *event.Names

	cfg       Config
	free      bool // the machine's own work takes no time
	queue     engine.Queue
	now       event.Time
	still     int // things that have happened since the clock last moved
	cpus      []cpu
	threads   []*Thread // by id; nil once they are gone
	freeIDs   []int
	lines     []*Line
	steals    []*engine.Stream // of each steal and CPU
	devices   []*Device
	calls     []call
	freeC     []int
	sink      func(*event.Event)
	asked     []event.CPU // CPUs that should look what to do, from next on
	next      int
	irq       event.CPU // the CPU in interrupt context, NoCPU: none
	err       error
	countFrom event.Time // of PutPrevs
	nextPID   event.PID
	words     words
	turn      uint32      // of the newest start of a timer
	ev        event.Event // that the machine's own tracepoints fill in turn

	groups   [][3]engine.Handle // timers of groups, by their number and kind
	expires  bool               // the function of a timer of a group runs
	expiring sched.Timer        // which one
	restart  event.Time         // when it asked to expire next, NoTime: it did not

	probe func(probe, event.CPU) // tells tests what has no event
	watch func()                 // looks after everything that happens
}

// call is a function to be called; cpu is where it is an interrupt, else NoCPU.
type call struct {
	f   func()
	cpu event.CPU
}

// New returns a machine whose CPUs are idle at time 0. sink gets every event; it is valid
// during the call. A nil sink is allowed.
func New(cfg Config, names *event.Names, sink func(*event.Event)) *Machine {
	if cfg.LowRes {
		cfg.Sched.HRTick, cfg.Sched.HRTickDL = false, false
		cfg.Sched.TimerResolution = cfg.Sched.Tick
	}
	cfg.Sched.Quiet = sink == nil
	cfg.Sched.CoKernel = cfg.CoKernel
	for c := range event.CPU(cfg.Sched.CPUs) {
		// The CPU that boots keeps doing the work of the others.
		if cfg.fullNoHZ(c) && (c > 0 || cfg.NoHZFullCPUs != nil) {
			cfg.Sched.NoHZFull = append(cfg.Sched.NoHZFull, c)
		}
	}
	m := &Machine{cfg: cfg, free: cfg.Costs == Costs{}, Names: names, sink: sink, cpus: make([]cpu, cfg.Sched.CPUs),
		irq: event.NoCPU, nextPID: 1, words: newWords(names, &cfg)}
	m.Sched = sched.New(cfg.Sched, m, names)
	for c := range event.CPU(cfg.Sched.CPUs) {
		if server := m.Sched.FairServer(c); server != nil {
			m.adopt(server, nil) // a thread that never runs keeps its timers
		}
	}
	m.planSteals()
	for c := range event.CPU(len(m.cpus)) {
		m.cpus[c].noHZFull = cfg.fullNoHZ(c)
		if cfg.NoHZ == HZPeriodic {
			m.startTick(c)
		}
		m.Sched.EnterIdle(c, !m.cpus[c].ticks)
	}
	return m
}

// fullNoHZ reports whether c is one of nohz_full=.
func (c *Config) fullNoHZ(cpu event.CPU) bool {
	return c.NoHZ == NoHZFull && (c.NoHZFullCPUs == nil || slices.Contains(c.NoHZFullCPUs, cpu))
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
	m.watched()
	for m.err == nil && m.step(until) {
	}
	m.now = max(m.now, until)
	return m.err
}

// step lets the next thing happen that is due at until or before. All work that is over at
// one moment is over before any CPU looks what follows from that. Likewise all timers and
// ticks of one moment: a CPU serves them in one interrupt and schedules at its end.
func (m *Machine) step(until event.Time) bool {
	it, ok := m.queue.PopUntil(until)
	if !ok {
		return false
	}
	if it.At > m.now {
		m.now, m.still = it.At, 0
	}
	last := rankTick
	if it.Rank == rankWork {
		last = rankWork
	}
	for ok && m.err == nil {
		m.handle(it)
		if m.still++; m.still > mostRounds {
			m.Fail(fmt.Errorf("at %d ns: %w", m.now, ErrStuck))
		}
		it, ok = m.queue.PopAt(m.now, last)
	}
	m.settle()
	m.watched()
	return true
}

// At calls f at the given time, in no task's name.
func (m *Machine) At(t event.Time, f func()) { m.push(t, itemCall, call{f, event.NoCPU}) }

// Interrupt calls f at the given time as a hard interrupt of c, or as soon as c has its
// interrupts on.
func (m *Machine) Interrupt(t event.Time, c event.CPU, f func()) { m.push(t, itemIRQ, call{f, c}) }

func (m *Machine) push(t event.Time, what uint32, f call) {
	n := len(m.calls)
	if free := len(m.freeC); free > 0 {
		n = m.freeC[free-1]
		m.freeC = m.freeC[:free-1]
		m.calls[n] = f
	} else {
		m.calls = append(m.calls, f)
	}
	m.queue.Push(engine.Item{At: max(t, m.now), Rank: rankTimer, What: what, Arg: int64(n)})
}

// call calls the function n, for the only time.
func (m *Machine) call(n int64) {
	f := m.calls[n].f
	m.calls[n] = call{}
	m.freeC = append(m.freeC, int(n))
	f()
}

func (m *Machine) handle(it engine.Item) {
	switch it.What {
	case itemWork:
		m.workDone(event.CPU(it.Arg))
	case itemReady:
		m.ask(event.CPU(it.Arg))
	case itemCall:
		m.call(it.Arg)
	case itemSoftirq:
		m.softirqDone(event.CPU(it.Arg))
	case itemScript:
		m.scriptedDone(event.CPU(it.Arg))
	case itemCo:
		m.coTimer(it)
	case itemSteal:
		m.steal(event.CPU(it.Arg&(1<<32-1)), int(it.Arg>>32))
	case itemArrival:
		m.lines[it.Arg].arrive()
	case itemRaise:
		m.devices[it.Arg].fire()
	default:
		m.interrupt(it)
	}
}

// ask notes that c should look what to do.
func (m *Machine) ask(c event.CPU) {
	if !m.cpus[c].asked {
		m.cpus[c].asked = true
		m.asked = append(m.asked, c)
	}
}

// mostRounds bounds how often CPUs may look without time passing.
const mostRounds = 1 << 20

// settle lets every CPU look that was asked to, until nothing changes any more.
func (m *Machine) settle() {
	for ; m.next < len(m.asked) && m.err == nil; m.next++ {
		c := m.asked[m.next]
		m.cpus[c].asked = false
		m.advance(c)
		if m.next > mostRounds {
			m.Fail(fmt.Errorf("at %d ns: %w", m.now, ErrStuck))
		}
	}
	if m.next >= len(m.asked) {
		m.asked, m.next = m.asked[:0], 0
	}
}
