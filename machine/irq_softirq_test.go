package machine_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// net is a line whose handler raises NET_RX.
func net(softirq event.Time) machine.IRQ {
	return machine.IRQ{Number: 30, Name: "eth0", Hard: exactly(10 * us), Every: 100 * us, Offset: 50 * us, Count: 1,
		Softirq: true, SoftirqVec: event.SoftirqNetRx, SoftirqWork: exactly(softirq)}
}

// TestSoftirqsInInterruptContext go in front of every task, with interrupts on: one that
// comes meanwhile is served first, and the task that it wakes waits for their end.
func TestSoftirqsInInterruptContext(t *testing.T) {
	st := newStage(t, kernelWith(1, sched.PreemptFull))
	st.irq(net(40 * us))
	st.irq(machine.IRQ{Number: 8, Name: "fast", Hard: exactly(5 * us), Every: s, Offset: 80 * us})
	st.add("lo", fifo(1), nil, work(100*us))
	st.add("hi", fifo(2), nil, nap(70*us), work(10*us))
	st.play(ms)
	compare(t, "events", st.irqEvents(), `0 0 sched_switch swapper/0 > hi
		0 0 sched_switch hi > lo
		50 0 irq_handler_entry 30 eth0 hard
		60 0 softirq_raise 3 hard
		60 0 irq_handler_exit 30 eth0 hard
		60 0 softirq_entry 3
		70 0 sched_waking hi hard
		80 0 irq_handler_entry 8 fast hard
		85 0 irq_handler_exit 8 fast hard
		105 0 softirq_exit 3
		105 0 sched_switch lo > hi
		115 0 sched_switch hi > lo
		165 0 sched_switch lo > swapper/0`)
}

// TestSoftirqsOnPreemptRT run in ksoftirqd where they were raised in interrupt context, which
// is an ordinary task, and in the thread of the handler where that raised them.
func TestSoftirqsOnPreemptRT(t *testing.T) {
	st := newStage(t, kernelWith(1, sched.PreemptRT))
	irq := net(40 * us)
	irq.Threading = machine.ThreadNever
	st.irq(irq)
	st.add("lo", fifo(1), nil, work(100*us))
	st.play(ms)
	compare(t, "raised in interrupt context", st.irqEvents(), `0 0 sched_switch swapper/0 > lo
		50 0 irq_handler_entry 30 eth0 hard
		60 0 softirq_raise 3 hard
		60 0 irq_handler_exit 30 eth0 hard
		60 0 sched_waking ksoftirqd/0
		110 0 sched_switch lo > ksoftirqd/0
		110 0 softirq_entry 3
		150 0 softirq_exit 3
		150 0 sched_switch ksoftirqd/0 > swapper/0`)

	st = newStage(t, kernelWith(1, sched.PreemptRT))
	irq = net(40 * us)
	irq.Work = exactly(20 * us)
	st.irq(irq)
	st.add("lo", fifo(1), nil, work(100*us))
	st.add("hi", fifo(60), nil, nap(90*us), work(10*us))
	st.play(ms)
	compare(t, "raised in a thread", st.irqEvents(), `0 0 sched_switch swapper/0 > hi
		0 0 sched_switch hi > lo
		50 0 irq_handler_entry 30 eth0 hard
		60 0 irq_handler_exit 30 eth0 hard
		60 0 sched_waking irq/30-eth0 hard
		60 0 sched_switch lo > irq/30-eth0
		80 0 softirq_raise 3
		80 0 softirq_entry 3
		90 0 sched_waking hi hard
		90 0 sched_switch irq/30-eth0 > hi
		100 0 sched_switch hi > irq/30-eth0
		130 0 softirq_exit 3
		130 0 sched_switch irq/30-eth0 > lo
		180 0 sched_switch lo > swapper/0`)
}

// TestSoftirqsOff: they wait for the end of a section that has them off, and run there in
// front of what the task does next; without PREEMPT_RT it is not preempted meanwhile.
func TestSoftirqsOff(t *testing.T) {
	st := newStage(t, kernelWith(1, sched.PreemptFull))
	st.irq(net(40 * us))
	st.add("lo", fifo(1), nil, in(machine.BHOff, 100*us), work(20*us))
	st.add("hi", fifo(2), nil, nap(70*us), work(10*us))
	st.play(ms)
	compare(t, "events", st.irqEvents(), `0 0 sched_switch swapper/0 > hi
		0 0 sched_switch hi > lo
		50 0 irq_handler_entry 30 eth0 hard
		60 0 softirq_raise 3 hard
		60 0 irq_handler_exit 30 eth0 hard
		70 0 sched_waking hi hard
		110 0 softirq_entry 3
		150 0 softirq_exit 3
		150 0 sched_switch lo > hi
		160 0 sched_switch hi > lo
		180 0 sched_switch lo > swapper/0`)
}

// TestSoftirqsThatNeverEndGoToTheDaemon: after ten rounds, or 2 ms in ticks, ksoftirqd goes
// on, which shares the CPU with the other fair tasks.
func TestSoftirqsThatNeverEndGoToTheDaemon(t *testing.T) {
	for _, c := range []struct {
		name  string
		work  event.Time
		every event.Time
		want  int // rounds in front of the task
	}{{"ten rounds", 20 * us, 15 * us, 10}, {"two milliseconds", 900 * us, 500 * us, 2}} {
		cfg := kernelWith(1, sched.PreemptFull)
		cfg.Sched.Tick = ms
		st := newStage(t, cfg)
		irq := net(c.work)
		irq.Hard, irq.Every, irq.Offset, irq.Count = machine.Span{}, c.every, c.every, int64(4000*us/c.every)
		st.irq(irq)
		st.add("lo", sched.Attr{}, nil, work(ms))
		st.play(20 * ms)
		rounds := 0
		for i := range st.events {
			ev := &st.events[i]
			if ev.Kind == event.SoftirqEntry {
				rounds++
			}
			if ev.Kind == event.SchedWaking && st.names.String(ev.TaskComm) == "ksoftirqd/0" {
				break
			}
		}
		if rounds != c.want {
			t.Errorf("%s: %d rounds before ksoftirqd was woken, want %d", c.name, rounds, c.want)
		}
		raised, served := 0, 0
		for i := range st.events {
			switch st.events[i].Kind {
			case event.SoftirqRaise:
				raised++
			case event.SoftirqExit:
				served++
			}
		}
		if raised == 0 || served == 0 || served > raised {
			t.Errorf("%s: %d raised, %d served", c.name, raised, served)
		}
	}
}

// TestForcedThreadsWithoutPreemptRT keep interrupts off in their handler, and softirqs that
// an interrupt raises are ksoftirqd's.
func TestForcedThreadsWithoutPreemptRT(t *testing.T) {
	cfg := kernelWith(1, sched.PreemptFull)
	cfg.ThreadIRQs = true
	st := newStage(t, cfg)
	st.irq(machine.IRQ{Number: 14, Name: "pata", Hard: exactly(5 * us), Work: exactly(50 * us), Every: s, Offset: 20 * us})
	st.add("hi", fifo(60), nil, nap(40*us), work(10*us))
	st.play(ms)
	compare(t, "events", st.irqEvents(), `0 0 sched_switch swapper/0 > hi
		0 0 sched_switch hi > swapper/0
		20 0 irq_handler_entry 14 pata hard
		25 0 irq_handler_exit 14 pata hard
		25 0 sched_waking irq/14-pata hard
		25 0 sched_switch swapper/0 > irq/14-pata
		75 0 sched_waking hi hard
		75 0 sched_switch irq/14-pata > hi
		85 0 sched_switch hi > irq/14-pata
		85 0 sched_switch irq/14-pata > swapper/0`)
}

// TestSleepersInKTimers: on PREEMPT_RT a fair task's sleep ends in ktimers/N, behind every
// real-time task of more than priority 1; that of a real-time task in the interrupt.
func TestSleepersInKTimers(t *testing.T) {
	cfg := kernelWith(1, sched.PreemptRT)
	cfg.Interrupts = machine.Interrupts{KTimers: true, SleepersInSoftirq: true}
	st := newStage(t, cfg)
	st.add("fair", sched.Attr{}, nil, nap(50*us), work(10*us))
	st.add("rt", fifo(10), nil, nap(60*us), work(5*us), nap(10*us), work(15*us))
	st.add("hog", fifo(5), nil, nap(20*us), work(100*us))
	st.play(ms)
	compare(t, "events", st.irqEvents(), `0 0 sched_switch swapper/0 > rt
		0 0 sched_switch rt > hog
		0 0 sched_switch hog > fair
		0 0 sched_switch fair > swapper/0
		20 0 sched_waking hog hard
		20 0 sched_switch swapper/0 > hog
		50 0 softirq_raise 8 hard
		50 0 sched_waking ktimers/0
		60 0 sched_waking rt hard
		60 0 sched_switch hog > rt
		65 0 sched_switch rt > hog
		75 0 sched_waking rt hard
		75 0 sched_switch hog > rt
		90 0 sched_switch rt > hog
		140 0 sched_switch hog > ktimers/0
		140 0 softirq_entry 8
		140 0 sched_waking fair
		140 0 softirq_exit 8
		140 0 sched_switch ktimers/0 > fair
		150 0 sched_switch fair > swapper/0`)
}
