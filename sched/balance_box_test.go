package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// lbHost is a machine that only ticks and balances: softirqs and interrupts come when the test says so.
type lbHost struct {
	quietHost
	t      *testing.T
	s      *Sched
	raised []bool
	kicked []event.CPU // interrupts that are on their way
	kicks  int
	perCPU event.Time // what looking at a CPU or a task costs
}

func (h *lbHost) RaiseBalance(c event.CPU)     { h.raised[c] = true }
func (h *lbHost) KickBalance(_, c event.CPU)   { h.kicked, h.kicks = append(h.kicked, c), h.kicks+1 }
func (h *lbHost) Price(w *Work) event.Time     { return h.perCPU * event.Time(w.Searched) }
func (h *lbHost) Stopper(c event.CPU) *Task    { return h.s.NewStopper(c, 1<<20+event.PID(c), 0) }
func (h *lbHost) KickWakeList(_, c event.CPU)  { h.s.WakeList(c) }
func (h *lbHost) Emit(event.CPU, *event.Event) {}

// lbBox is a scheduler on such a machine. Its tasks never sleep by themselves.
type lbBox struct {
	*Sched
	t     *testing.T
	host  *lbHost
	tasks []*Task
	told  []BalancePass
}

func newLBBox(t *testing.T, top Topology, cfg func(*Config)) *lbBox {
	c := DefaultConfig(max(len(top.Core), 1))
	c.Topology, c.Quiet = top, true
	c.Fair.Features = c.Fair.Features.With(NIRandom, false)
	if cfg != nil {
		cfg(&c)
	}
	h := &lbHost{quietHost: quietHost{now: 1_000_000_000}, t: t, raised: make([]bool, c.CPUs)}
	b := &lbBox{Sched: New(c, h, event.NewNames()), t: t, host: h}
	h.s = b.Sched
	for _, rq := range b.rqs {
		b.EnterIdle(rq.cpu, true)
	}
	b.OnBalance(func(p *BalancePass) {
		q := *p
		q.Moved = append([]*Task(nil), p.Moved...)
		b.told = append(b.told, q)
	})
	return b
}

// hog starts a task on c that may use the CPUs of mask, none: all.
func (b *lbBox) hog(c event.CPU, mask ...event.CPU) *Task {
	b.t.Helper()
	p, err := b.NewTask(event.PID(len(b.tasks)+1), 0, Attr{}, []event.CPU{c})
	if err != nil {
		b.t.Fatal(err)
	}
	b.WakeUpNewTask(c, p)
	if _, _, err := b.SetAffinity(c, p, mask); err != nil {
		b.t.Fatal(err)
	}
	b.tasks = append(b.tasks, p)
	b.settle()
	return p
}

// settle lets CPUs schedule that were asked to, stoppers do their work, and idle CPUs stop their ticks.
func (b *lbBox) settle() {
	for again := true; again; {
		again = false
		for _, rq := range b.rqs {
			if rq.needResched || rq.needReschedLazy || rq.curr == rq.idle && rq.nrRunning > 0 {
				b.Schedule(rq.cpu, true)
				again = true
			}
			if rq.curr == rq.stop && rq.stop != nil {
				for more := true; more; {
					more, _ = b.RunStopWork(rq.cpu)
				}
				b.Block(rq.cpu, event.StateSleeping)
				b.Schedule(rq.cpu, false)
				again = true
			}
			if rq.curr == rq.idle && rq.nrRunning == 0 {
				b.EnterIdle(rq.cpu, true)
			}
		}
	}
	if err := b.Check(b.tasks); err != nil {
		b.t.Fatal(err)
	}
}

// tick lets the next tick come on all CPUs that tick, and what follows from it.
func (b *lbBox) tick() {
	b.host.now = (b.host.now/b.cfg.Tick + 1) * b.cfg.Tick
	for _, rq := range b.rqs {
		if !rq.inIdle {
			b.SchedulerTick(rq.cpu)
		}
	}
	for len(b.host.kicked) > 0 {
		c := b.host.kicked[0]
		b.host.kicked = b.host.kicked[1:]
		b.KickedBalance(c)
	}
	for c, raised := range b.host.raised {
		if b.host.raised[c] = false; raised {
			b.Rebalance(event.CPU(c))
		}
	}
	b.settle()
}

// ticks lets n come.
func (b *lbBox) ticks(n int) {
	for range n {
		b.tick()
	}
}

// where is how many tasks are on each CPU.
func (b *lbBox) where() []int {
	n := make([]int, len(b.rqs))
	for _, p := range b.tasks {
		n[p.cpu]++
	}
	return n
}

// domain is the domain of c at a level.
func (b *lbBox) domain(c event.CPU, l domainLevel) *schedDomain {
	for sd := b.rqs[c].sd; sd != nil; sd = sd.parent {
		if sd.level == l {
			return sd
		}
	}
	b.t.Fatalf("CPU %d has no domain at level %d", c, l)
	return nil
}

// pass lets c balance over sd now.
func (b *lbBox) pass(c event.CPU, sd *schedDomain, idle cpuIdleType) (moved int, goOn bool) {
	b.begin(c)
	b.updateRQClock(b.rqs[c])
	goOn = true
	moved = b.loadBalance(b.rqs[c], sd, idle, BalancePeriodic, &goOn)
	return moved, goOn
}

// last is the pass that was told last.
func (b *lbBox) last() *BalancePass { return &b.told[len(b.told)-1] }

// lastOf is the last pass for c of a kind.
func (b *lbBox) lastOf(c event.CPU, k BalanceKind) *BalancePass {
	for i := len(b.told) - 1; i >= 0; i-- {
		if p := &b.told[i]; p.CPU == c && p.Kind == k {
			return p
		}
	}
	b.t.Helper()
	b.t.Fatalf("no pass of kind %d for CPU %d", k, c)
	return nil
}
