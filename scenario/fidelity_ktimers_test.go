package scenario_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/trace"
)

// sleeperWake is a wake of the task `other` of the recording: when its timer was due, when it was
// woken and by whom, when it ran.
type sleeperWake struct {
	due, woken, ran event.Time
	byThread        bool // ktimers/0
}

// wakesOfOther reads the wakes by timers of a task, by the raise of HRTIMER or the expiry
// before them. Its timer is due at multiples of 20 ms from zero on.
func wakesOfOther(t *testing.T, src explain.Source, name string, zero, from, to event.Time) []sleeperWake {
	t.Helper()
	st, err := src.Events(event.Options{Want: event.Kinds(event.SchedSwitch, event.SchedWaking, event.HrtimerExpireEntry)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var list []sleeperWake
	var expiry event.Event
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Time < from || ev.Time > to {
			continue
		}
		names := src.Names()
		switch ev.Kind {
		case event.HrtimerExpireEntry:
			expiry = *ev
		case event.SchedWaking:
			byTimer := names.String(expiry.Func) == "hrtimer_wakeup" && ev.Time-expiry.Time < 20*us
			if plain, _, _ := strings.Cut(names.String(ev.TaskComm), "-"); plain == name && byTimer {
				due := zero + (ev.Time-zero)/(20*ms)*(20*ms)
				if due < from {
					continue // its start
				}
				list = append(list, sleeperWake{due, ev.Time, event.NoTime, strings.HasPrefix(names.String(ev.Comm), "ktimers/") || currIs(names, ev)})
			}
			expiry.Func = 0
		case event.SchedSwitch:
			if plain, _, _ := strings.Cut(names.String(ev.NextComm), "-"); plain == name && len(list) > 0 && list[len(list)-1].ran == event.NoTime {
				list[len(list)-1].ran = ev.Time
			}
		}
	}
}

// currIs reports whether ktimers/0 is the author of ev, where the trace has only its pid.
func currIs(names *event.Names, ev *event.Event) bool { return ev.Flags.Has(event.SoftIRQ) }

// TestSleepersOfFairTasksWaitForKTimers: on a recorded 6.1-rt kernel the timers of the fair
// task expire in ktimers/0, which real-time tasks keep from running, so its wakes are late
// and its waits are short. The model's run of the same load has the same numbers, by wakes
// of its own.
func TestSleepersOfFairTasksWaitForKTimers(t *testing.T) {
	file, err := trace.Open(shared.Path(t, "traces/rtapp-v61rt-smp1/rtapp.dat"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	from := recordedStart["other"] * us
	real := wakesOfOther(t, file, "other", timersZero-monoAhead, from-monoAhead, cancelled-monoAhead)
	plan := recorded(t, true)
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	setup.Start = timersZero - base
	src, err := scenario.NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	model := wakesOfOther(t, src, "other", timersZero-base, from-base, cancelled-base)
	describe := func(what string, list []sleeperWake) (avg, most, wait event.Time, threads int) {
		for _, w := range list {
			late := w.woken - w.due
			avg, most = avg+late, max(most, late)
			if w.ran != event.NoTime {
				wait += w.ran - w.woken
			}
			if w.byThread {
				threads++
			}
		}
		n := event.Time(max(len(list), 1))
		t.Logf("%s: %d wakes by timers, %d in ktimers/0; due to waking avg %d max %d µs, waking to running avg %d µs", what, len(list), threads, avg/n/us, most/us, wait/n/us)
		return avg / n, most, wait / n, threads
	}
	realAvg, realMost, realWait, realThreads := describe("recorded", real)
	avg, most, wait, threads := describe("model", model)
	if len(real) < 80 || realThreads < len(real)*9/10 {
		t.Fatal("the recording is not what it is taken for")
	}
	if len(model) != len(real) || threads != len(model) {
		t.Errorf("the model has %d wakes, %d of them in ktimers", len(model), threads)
	}
	within := func(what string, got, want, by event.Time) {
		if d := got - want; d > by || d < -by {
			t.Errorf("%s: %d µs, recorded %d µs", what, got/us, want/us)
		}
	}
	within("average of due to waking", avg, realAvg, realAvg/100)
	within("worst of due to waking", most, realMost, realMost/100)
	within("average of waking to running", wait, realWait, 50*us)
	// Wake by wake, those of the same expiry of the grid.
	var diffs []event.Time
	for _, r := range real {
		for _, w := range model {
			if r.due+monoAhead == w.due+base {
				d := (r.woken - r.due) - (w.woken - w.due)
				diffs = append(diffs, max(d, -d))
			}
		}
	}
	slices.Sort(diffs)
	n := len(diffs)
	t.Logf("%d wakes are of the same expiry; their lateness differs by %d µs in the median, %d µs at the 95th percentile, %d µs at most", n, diffs[n/2]/us, diffs[n*95/100]/us, diffs[n-1]/us)
	if n < len(real) || diffs[n-1] > 100*us {
		t.Errorf("%d of %d wakes are in both, within %d µs", n, len(real), diffs[n-1]/us)
	}
}

// TestWhenKTimersAreWoken: at the end of the interrupt that raised HRTIMER for them, no more
// in hard-interrupt context, on recorded kernels as in the model.
func TestWhenKTimersAreWoken(t *testing.T) {
	// contexts counts the wakings of ktimers directly behind a raise of HRTIMER, and those of
	// them in hard-interrupt context.
	contexts := func(src explain.Source) (n, hard int) {
		st, err := src.Events(event.Options{Want: event.Kinds(event.SchedWaking, event.SoftirqRaise)})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		raised := false
		for {
			ev, err := st.Next()
			if err != nil {
				return n, hard
			}
			if raised && ev.Kind == event.SchedWaking && strings.HasPrefix(src.Names().String(ev.TaskComm), "ktimers/") {
				n++
				if ev.Flags.Has(event.HardIRQ) {
					hard++
				}
			}
			raised = ev.Kind == event.SoftirqRaise && ev.Arg == event.SoftirqHrtimer
		}
	}
	for _, c := range []struct{ kernel, trace string }{{"6.1-rt", "rtapp-v61rt-smp1/rtapp.dat"}, {"6.12-rt", "exit-storm-v612rt-smp1/exit-256.dat"}} {
		file, err := trace.Open(shared.Path(t, "traces/"+c.trace))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		plan := recorded(t, true)
		plan.Kernel = c.kernel
		src := mustSource(t, plan)
		for what, s := range map[string]explain.Source{"recorded": file, "model": src} {
			if n, hard := contexts(s); n < 50 || hard > 0 {
				t.Errorf("%s %s: %d of %d wakings of ktimers come in hard-interrupt context", c.kernel, what, hard, n)
			}
		}
	}
}
