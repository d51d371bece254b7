package machine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// ledger adds up what every CPU does, by what lies over it.
type ledger struct {
	m     *machine.Machine
	at    event.Time
	last  []entryOf
	irq   map[int64]event.Time // by line
	soft  map[int64]event.Time // by vector
	task  map[event.PID]event.Time
	other map[machine.LayerKind]event.Time
}

type entryOf struct {
	layer machine.Layer
	pid   event.PID
}

func newLedger(m *machine.Machine) *ledger {
	l := &ledger{m: m, last: make([]entryOf, m.CPUs()), irq: map[int64]event.Time{}, soft: map[int64]event.Time{},
		task: map[event.PID]event.Time{}, other: map[machine.LayerKind]event.Time{}}
	m.Watch(l.look)
	return l
}

func (l *ledger) look() {
	d := l.m.Now() - l.at
	l.at = l.m.Now()
	for c := range l.last {
		e := &l.last[c]
		switch e.layer.Kind {
		case machine.LayerTask:
			l.task[e.pid] += d
		case machine.LayerIRQ:
			l.irq[e.layer.IRQ] += d
		case machine.LayerSoftirq:
			l.soft[e.layer.Vec] += d
		default:
			l.other[e.layer.Kind] += d
		}
		*e = entryOf{l.m.Layer(event.CPU(c)), l.m.Sched.Curr(event.CPU(c)).PID}
	}
}

// interrupted is a machine with random tasks and interrupts of fixed lengths.
type interrupted struct {
	m       *machine.Machine
	lines   []*machine.Line
	cfgs    []machine.IRQ
	done    []int64 // handlers that are done, by line
	entries []int64
	wrong   string
	asked   map[event.PID]event.Time // work of each task
	// By CPU and vector: how often raised and begun, when last.
	open, begun  map[[2]int64]int
	last, served map[[2]int64]event.Time
}

func newInterrupted(seed uint64) *interrupted {
	r := rand.New(rand.NewPCG(seed, 7))
	cpus := 1 + r.IntN(3)
	cfg := machine.Config{Sched: sched.DefaultConfig(cpus), Seed: seed, ThreadIRQs: r.IntN(3) == 0, TickEvents: true}
	cfg.Sched.Preempt = sched.PreemptModel(r.IntN(5))
	cfg.Sched.Tick = ms
	cfg.LowRes = r.IntN(4) == 0
	cfg.Interrupts = machine.Interrupts{KTimers: r.IntN(2) == 0, SleepersInSoftirq: r.IntN(2) == 0,
		DaemonPriority: r.IntN(2), DaemonFirst: r.IntN(2) == 0, HandlersBHOff: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		cfg.IdleStates = []machine.IdleState{{Name: "POLL", Poll: true}, {Latency: 2 * us, Residency: 2 * us}, {Latency: 100 * us, Residency: 300 * us}}
	}
	if r.IntN(2) == 0 {
		cfg.Steals = []machine.Steal{{Every: machine.Span{Min: ms, Max: 5 * ms}, Length: machine.Span{Min: 0, Max: 500 * us}}}
	}
	w := &interrupted{asked: map[event.PID]event.Time{}, open: map[[2]int64]int{}, begun: map[[2]int64]int{},
		last: map[[2]int64]event.Time{}, served: map[[2]int64]event.Time{}}
	w.m = machine.New(cfg, event.NewNames(), w.see)
	for i := range 1 + r.IntN(4) {
		irq := machine.IRQ{Name: "dev", Hard: exactly(event.Time(r.IntN(30)) * us), Work: exactly(event.Time(r.IntN(60)) * us),
			Threading: machine.Threading(r.IntN(3)), Every: event.Time(100+r.IntN(900)) * us, Jitter: 50 * us,
			Softirq: r.IntN(2) == 0, SoftirqVec: int64(2 + r.IntN(3)), SoftirqWork: exactly(event.Time(r.IntN(80)) * us)}
		if i == 0 {
			irq.Every, irq.Jitter = 0, 0 // a device's
		}
		irq.Count = int64(100 * ms / max(irq.Every, 1))
		n := len(w.done)
		w.done, w.entries, w.cfgs = append(w.done, 0), append(w.entries, 0), append(w.cfgs, irq)
		irq.Done = func(event.CPU) { w.done[n]++ }
		l, err := w.m.AddIRQ(irq)
		if err != nil {
			panic(err)
		}
		w.lines = append(w.lines, l)
	}
	d, err := w.m.AddDevice(machine.DeviceConfig{Name: "d", Line: w.lines[0], BytesPerIRQ: 512, Gap: machine.Span{Min: us, Max: 20 * us}})
	if err != nil {
		panic(err)
	}
	w.m.At(event.Time(r.IntN(5))*ms, func() {
		if err := d.Submit(int64(512*(1+r.IntN(100))), nil); err != nil {
			panic(err)
		}
	})
	for range 1 + r.IntN(5) {
		w.spawn(r)
	}
	return w
}

// spawn makes a task that works and sleeps in turns and then exits.
func (w *interrupted) spawn(r *rand.Rand) {
	a := sched.Attr{}
	if r.IntN(2) == 0 {
		a = fifo(1 + r.IntN(98))
	}
	steps, left := r.IntN(20), event.Time(0)
	th, err := w.m.Spawn(0, "t", a, nil, machine.ProgramFunc(func(m *machine.Machine, th *machine.Thread) machine.Step {
		if steps--; steps < 0 {
			return machine.Step{Kind: machine.StepExit}
		}
		if r.IntN(3) == 0 {
			return machine.Step{Kind: machine.StepSleep, NS: m.Now() + event.Time(r.IntN(2000))*us, Slack: event.Time(r.IntN(2)) * 50 * us}
		}
		left = event.Time(r.IntN(500)) * us
		w.asked[th.Task.PID] += left
		return machine.Step{Kind: machine.StepRun, NS: left, Mode: machine.Mode(r.IntN(5))}
	}))
	if err != nil {
		panic(err)
	}
	w.m.Start(0, th)
}

// see looks at the rules of interrupts as their events come.
func (w *interrupted) see(ev *event.Event) {
	key := [2]int64{int64(ev.CPU), ev.Arg}
	switch ev.Kind {
	case event.IRQHandlerEntry:
		for i, l := range w.lines {
			if l.Number() != ev.Arg {
				continue
			}
			// A line is masked until its thread is done: no second handler of it begins before.
			// What is left to softirqs does not keep it.
			if w.entries[i] > w.done[i] && !w.cfgs[i].Softirq {
				w.wrong = fmt.Sprintf("line %d fires at %d, masked", ev.Arg, ev.Time)
			}
			w.entries[i]++
		}
	case event.SoftirqRaise:
		w.last[key] = ev.Time
		w.open[key]++
	case event.SoftirqEntry:
		// It is taken once for what was raised before, and once more for what was raised
		// before it began.
		if w.begun[key]++; w.begun[key] > w.open[key] {
			w.wrong = fmt.Sprintf("softirq %d at %d was not raised", ev.Arg, ev.Time)
		}
		w.served[key] = ev.Time
	}
}

// TestEveryNanosecondIsAccountedFor: interrupts, softirqs, tasks, stolen time and idleness
// together are the time that has passed, and each is what was asked for: handlers their
// length as often as they were entered, tasks the work of their steps.
func TestEveryNanosecondIsAccountedFor(t *testing.T) {
	const until = 300 * ms // everything has ended by then
	softirqs, stolen, served := event.Time(0), event.Time(0), int64(0)
	for seed := range uint64(1500) {
		w := newInterrupted(seed)
		book := newLedger(w.m)
		if err := w.m.RunUntil(until); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		book.look()
		if w.wrong != "" {
			t.Fatalf("seed %d: %s", seed, w.wrong)
		}
		sum := event.Time(0)
		soft := slices.ContainsFunc(w.cfgs, func(c machine.IRQ) bool { return c.Softirq }) // threads may do them for others
		for i, l := range w.lines {
			n, _ := l.Served()
			served += n
			length := w.cfgs[i].Hard.Min
			if l.Thread() == nil {
				length += w.cfgs[i].Work.Min
			} else if got, want := book.task[l.Thread().Task.PID], event.Time(n)*w.cfgs[i].Work.Min; !soft && (got > want || got < want-w.cfgs[i].Work.Min) {
				t.Errorf("seed %d: thread of line %d worked %d ns, %d interrupts want %d", seed, l.Number(), got, n, want)
			}
			if got, want := book.irq[l.Number()], event.Time(n)*length; got > want || got < want-length {
				t.Errorf("seed %d: line %d was in interrupt context for %d ns, %d interrupts want %d", seed, l.Number(), got, n, want)
			}
			sum += book.irq[l.Number()]
		}
		for pid, ns := range book.task {
			sum += ns
			if want, ok := w.asked[pid]; ok && ns != want && !(soft && w.m.Preempt() == sched.PreemptRT) {
				t.Errorf("seed %d: task %d worked %d ns, its steps are %d", seed, pid, ns, want)
			}
		}
		for _, ns := range book.soft {
			sum += ns
			softirqs += ns
		}
		for _, ns := range book.other {
			sum += ns
		}
		stolen += book.other[machine.LayerStolen]
		if want := until * event.Time(w.m.CPUs()); sum != want {
			t.Errorf("seed %d: %d ns are accounted for, %d have passed", seed, sum, want)
		}
		for key, raised := range w.last {
			if w.served[key] < raised {
				t.Errorf("seed %d: softirq %d was raised on CPU %d at %d and never served", seed, key[1], key[0], raised)
			}
		}
		if t.Failed() {
			return
		}
	}
	if softirqs == 0 || stolen == 0 || served < 10_000 {
		t.Errorf("%d ns in softirqs, %d stolen, %d interrupts: too little happens", softirqs, stolen, served)
	}
}
