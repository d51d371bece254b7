package machine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// throttled is a machine whose real-time tasks may use runtime of every period.
func throttled(cpus int, runtime, period event.Time) machine.Config {
	cfg := machine.Config{Sched: sched.DefaultConfig(cpus), DLTimerEvents: true}
	cfg.Sched.RTRuntime, cfg.Sched.RTPeriod = runtime, period
	return cfg
}

// expiries lists when a timer of the scheduler expired, as "µs cpu".
func (st *stage) expiries(function string) []string {
	var list []string
	for i := range st.events {
		if ev := &st.events[i]; ev.Kind == event.HrtimerExpireEntry && st.names.String(ev.Func) == function {
			list = append(list, fmt.Sprint(ev.Time/1000, " ", ev.CPU))
		}
	}
	return list
}

// TestThrottledQueueLeavesTheCPUIdle: enforced at the tick, after 52 of 50 ms; the 2 ms are a
// debt, so that the third period has 48 only.
func TestThrottledQueueLeavesTheCPUIdle(t *testing.T) {
	st := newStage(t, throttled(1, 50*ms, 100*ms))
	st.add("rt", fifo(10), nil, work(300*ms))
	st.play(s).want(`0 0 rt
		52000 0 idle
		100000 0 rt
		152000 0 idle
		200000 0 rt
		248000 0 idle
		300000 0 rt
		352000 0 idle
		400000 0 rt
		448000 0 idle
		500000 0 rt
		548000 0 idle`)
}

// TestWhoRunsInsideAThrottledWindow: fair tasks, deadline tasks (what they use is a debt of the
// real-time ones) and the stopper; a fair task that becomes real-time keeps the CPU until
// its run time is charged.
func TestWhoRunsInsideAThrottledWindow(t *testing.T) {
	st := newStage(t, throttled(2, 50*ms, 100*ms))
	st.add("rt", fifo(10), []event.CPU{0}, work(300*ms))
	st.add("dl", sched.Attr{Policy: sched.Deadline, Runtime: 20 * ms, Deadline: 100 * ms, Period: 100 * ms}, nil, work(ms), nap(60*ms), work(10*ms))
	st.add("fair", sched.Attr{}, []event.CPU{0}, work(20*ms), setAttr("fair", fifo(20)), work(5*ms))
	st.add("mover", fifo(10), []event.CPU{1}, nap(75*ms), setAffinity("fair", 1))
	st.play(160 * ms).want(`0 0 dl
		1000 0 rt
		52000 0 fair
		61000 0 dl
		71000 0 fair
		75000 0 idle
		75000 1 fair
		87000 1 idle
		100000 0 rt
		140000 0 idle`)
}

// TestBecomingRealTimeInsideAThrottledWindow.
func TestBecomingRealTimeInsideAThrottledWindow(t *testing.T) {
	st := newStage(t, throttled(1, 50*ms, 100*ms))
	st.add("rt", fifo(10), nil, work(300*ms))
	st.add("fair", sched.Attr{}, nil, work(ms), setAttr("fair", fifo(5)), work(10*ms))
	st.play(90 * ms).want(`0 0 rt
		52000 0 fair
		56000 0 idle`)
}

// TestThrottledTasksStayWhereTheyAre: other CPUs believe that the queue runs its best task, so
// nothing is pushed or pulled, and a wake goes where the task was: idle CPUs do not help.
func TestThrottledTasksStayWhereTheyAre(t *testing.T) {
	for _, ipi := range []bool{false, true} {
		cfg := throttled(2, 50*ms, 100*ms)
		cfg.Sched.RTPushIPI = ipi
		st := newStage(t, cfg)
		st.add("rt", fifo(10), []event.CPU{0, 1}, nap(2*ms), work(300*ms))
		st.add("low", fifo(5), []event.CPU{0}, work(ms), setAffinity("low", 0, 1), nap(60*ms), work(5*ms))
		st.add("else", fifo(1), []event.CPU{1}, nap(70*ms), work(ms))
		st.play(110 * ms).want(`0 0 low
			1000 0 idle
			2000 0 rt
			52000 0 idle
			70000 1 else
			71000 1 idle
			100000 0 rt
			100000 1 low
			105000 1 idle`)
	}
}

// TestPeriodTimerStopsAndStarts: it expires at once for the first real-time task, a period
// later, and not again when nothing is left to repay. Started again before it would have
// expired it keeps its time, later it begins anew; up to 4.5 it always keeps to multiples of
// the period. It belongs to the CPU that started it.
func TestPeriodTimerStopsAndStarts(t *testing.T) {
	for _, c := range []struct {
		grid bool
		want string
	}{{false, "0 1\n 100000 1\n 200000 1\n 500000 0\n 600000 0"}, {true, "100000 1\n 200000 1\n 600000 0"}} {
		cfg := throttled(2, 50*ms, 100*ms)
		cfg.Sched.RTTimerKeepsGrid = c.grid
		st := newStage(t, cfg)
		st.add("a", fifo(10), []event.CPU{1}, work(ms), nap(149*ms), work(ms))
		st.add("b", sched.Attr{}, []event.CPU{0}, nap(500*ms), setAttr("b", fifo(5)), work(ms))
		st.play(s)
		compare(t, fmt.Sprintf("expiries, grid %v", c.grid), st.expiries("sched_rt_period_timer"), c.want)
	}
}

// TestNoThrottling with a runtime of −1, where the timer does not run either, and with one
// of the whole period, where it does.
func TestNoThrottling(t *testing.T) {
	for _, c := range []struct {
		runtime event.Time
		timer   int
	}{{-1, 0}, {100 * ms, 3}} {
		st := newStage(t, throttled(1, c.runtime, 100*ms))
		st.add("rt", fifo(10), nil, work(300*ms))
		st.play(290 * ms).want("0 0 rt")
		if n := len(st.expiries("sched_rt_period_timer")); n != c.timer {
			t.Errorf("runtime %d: the timer expired %d times, want %d", c.runtime, n, c.timer)
		}
	}
}

// TestRuntimeIsBorrowed: with RT_RUNTIME_SHARE a CPU takes from one that does without, up to
// the whole period; where both want all, one of them has what the other lacks.
func TestRuntimeIsBorrowed(t *testing.T) {
	cfg := throttled(2, 95*ms, 100*ms)
	cfg.Sched.RTRuntimeShare = true
	st := newStage(t, cfg)
	st.add("rt", fifo(10), []event.CPU{0}, work(300*ms))
	st.play(290 * ms).want("0 0 rt")
}

// TestThrottlingAtLowResolution: everything happens at ticks, the first expiry of the period
// timer, which is due at once, too.
func TestThrottlingAtLowResolution(t *testing.T) {
	cfg := throttled(1, 50*ms, 100*ms)
	cfg.LowRes = true
	st := newStage(t, cfg)
	st.add("rt", fifo(10), nil, nap(3*ms), work(200*ms))
	for _, line := range st.play(250 * ms).turns() {
		var at int
		if _, err := fmt.Sscan(line, &at); err != nil || at%4000 != 0 {
			t.Errorf("%s: not at a tick", line)
		}
	}
	compare(t, "expiries", st.expiries("sched_rt_period_timer"), "4000 0\n 104000 0\n 204000 0")
}

// served is a machine whose fair tasks are served runtime of every period.
func served(cpus int, runtime, period event.Time) machine.Config {
	cfg := machine.Config{Sched: sched.DefaultConfig(cpus), DLTimerEvents: true}
	cfg.Sched.FairServerRuntime, cfg.Sched.FairServerPeriod = runtime, period
	return cfg
}

// TestFairServer: it serves at the last moment, until a tick finds its runtime used up, and
// counts its next period from there.
func TestFairServer(t *testing.T) {
	st := newStage(t, served(1, 5*ms, 100*ms))
	st.add("rt", fifo(10), nil, work(s))
	st.add("fair", sched.Attr{}, nil, work(s))
	st.play(320 * ms).want(`0 0 rt
		95000 0 fair
		100000 0 rt
		195000 0 fair
		200000 0 rt
		295000 0 fair
		300000 0 rt`)
}

// TestFairServerCountsWhatFairTasksGetAnyhow: 2 of 5 ms, so the last moment is 2 ms later.
func TestFairServerCountsWhatFairTasksGetAnyhow(t *testing.T) {
	st := newStage(t, served(1, 5*ms, 100*ms))
	st.add("rt", fifo(10), nil, nap(2*ms), work(s))
	st.add("fair", sched.Attr{}, nil, work(s))
	st.play(110 * ms).want(`0 0 fair
		2000 0 rt
		97000 0 fair
		104000 0 rt`)
	compare(t, "expiries", st.expiries("dl_task_timer"), "95000 0\n 97000 0")
}

// TestFairServerServesNobody: without a fair task at its moment it stops and disturbs nobody,
// and real-time tasks that leave the CPU idle have starved nobody.
func TestFairServerServesNobody(t *testing.T) {
	st := newStage(t, served(1, 5*ms, 100*ms))
	st.add("fair", sched.Attr{}, nil, nap(200*ms), work(ms))
	st.add("rt", fifo(10), nil, nap(20*ms), work(400*ms))
	st.play(190 * ms).want("20000 0 rt")
}

// TestStoppedServerServesOn: one that stopped for want of fair tasks when its moment had come
// serves the next at once, in a share of its runtime that fits what is left of its period:
// 2.5 ms of 5 here, which end at a tick. A kernel's state machine has that way, from A to D.
func TestStoppedServerServesOn(t *testing.T) {
	st := newStage(t, served(1, 5*ms, 100*ms))
	st.add("fair", sched.Attr{}, nil, nap(150*ms), work(10*ms))
	st.add("rt", fifo(10), nil, nap(20*ms), work(400*ms))
	st.play(190 * ms).want(`20000 0 rt
		150000 0 fair
		156000 0 rt`)
}

// TestDeadlineTasksBeforeTheServer: it is one of them, and goes by its deadline.
func TestDeadlineTasksBeforeTheServer(t *testing.T) {
	st := newStage(t, served(1, 5*ms, 100*ms))
	st.add("rt", fifo(10), nil, work(s))
	st.add("fair", sched.Attr{}, nil, work(s))
	st.add("dl", sched.Attr{Policy: sched.Deadline, Runtime: 10 * ms, Deadline: 50 * ms, Period: 50 * ms}, nil, nap(96*ms), work(2*ms))
	st.play(110 * ms).want(`0 0 rt
		95000 0 fair
		96000 0 dl
		98000 0 fair
		104000 0 rt`)
}

// TestServersVerdicts: what a machine that runs answers to writes into the server's files.
func TestServersVerdicts(t *testing.T) {
	st := newStage(t, served(1, 50*ms, s))
	st.add("rt", fifo(10), nil, work(3*s))
	st.add("fair", sched.Attr{}, nil, work(3*s))
	st.play(10 * ms)
	for _, c := range []struct {
		runtime, period event.Time
		want            error
	}{
		{20 * ms, s, sched.ErrBusy}, {0, s, sched.ErrBusy}, {100 * ms, s, nil}, {50 * ms, s, nil}, {49 * ms, s, sched.ErrBusy},
		{100 * ms, 50 * ms, sched.ErrInval}, {10 * us, 99 * us, sched.ErrInval}, {50 * ms, 5 * s, sched.ErrInval}, {1000 * ms, s, sched.ErrBusy},
	} {
		if _, err := st.m.Sched.SetFairServer(0, 0, c.runtime, c.period); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%d of %d: %v, want %v", c.runtime, c.period, err, c.want)
		}
	}
	st.play(2100 * ms)
	if ran := st.threads["fair"].Task.SumExecRuntime(); ran < 100*ms || ran > 108*ms {
		t.Errorf("the fair task ran %d ns in two periods", ran)
	}
}
