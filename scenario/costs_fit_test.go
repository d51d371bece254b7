package scenario_test

import (
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/trace"
	"github.com/whylate/whylate/workload"
)

// The recordings that the table "qemu" is fitted on; testdata/learned/README.md says what
// ran in them. Nothing of them is scored.
var fittedOn = []struct{ profile, file string }{
	{"6.1", "base-v61"}, {"6.1-rt", "base-v61rt"}, {"6.12", "base-v612"}, {"6.12-rt", "base-v612rt"},
}

const learned = "testdata/learned/"

// wake is one wake of a task by its timer, by the stamps of its events; the trace clock is
// the clock of the timer.
type wake struct {
	due, expiry, waking, on, off event.Time
	idle                         bool // the CPU was
	restarted                    bool // and began to tick again on the way
	timers                       int  // that expired while it was on the CPU
	preempted                    bool
}

// wakesOf reads the wakes of the tasks called comm, in order.
func wakesOf(t *testing.T, src explain.Source, comm string) []wake {
	t.Helper()
	st, err := src.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	name := src.Names().String
	expires := map[int64]event.Time{}
	var list []wake
	var w wake
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		switch ev.Kind {
		case event.HrtimerStart:
			expires[ev.Arg] = event.Time(ev.Arg3)
		case event.HrtimerCancel:
			w.restarted = w.restarted || w.on == 0
		case event.HrtimerExpireEntry:
			if w.waking != 0 && w.on != 0 {
				w.timers++
			} else if name(ev.Func) == "hrtimer_wakeup" {
				w = wake{due: expires[ev.Arg], expiry: ev.Time, idle: ev.PID == 0}
			} else if w.waking != 0 {
				w = wake{} // the tick in the same interrupt: another path
			}
		case event.SchedWaking:
			if name(ev.TaskComm) == comm && w.due != 0 && w.on == 0 {
				w.waking = ev.Time
			}
		case event.SchedSwitch:
			switch {
			case name(ev.NextComm) == comm && w.waking != 0:
				w.on = ev.Time
			case name(ev.TaskComm) == comm && w.on != 0:
				w.off, w.preempted = ev.Time, ev.State.Runnable()
				list = append(list, w)
				w = wake{}
			}
		}
	}
}

// least is the smallest value of f: of a path that now and then is kept waiting by what has
// nothing to do with it, the exit of a task on a kernel that is not preemptible there.
func least(wakes []wake, f func(wake) (event.Time, bool)) event.Time {
	best := event.NoTime
	for _, w := range wakes {
		if x, ok := f(w); ok && (best == event.NoTime || x < best) {
			best = x
		}
	}
	return best
}

// median is that of f over those wakes for which it has a value.
func median(wakes []wake, f func(wake) (event.Time, bool)) event.Time {
	var list []event.Time
	for _, w := range wakes {
		if x, ok := f(w); ok {
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		return -1
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

// printedLateness is the mean of what a task measured itself, from its due time to its
// first instruction, in ns, and in how many rounds.
func printedLateness(t *testing.T, file, task string) (mean event.Time, n int) {
	t.Helper()
	text, err := os.ReadFile(learned + file + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + task + ` .* n (\d+) late us avg (\d+)\.(\d) `).FindStringSubmatch(string(text))
	if m == nil {
		t.Fatalf("%s printed nothing", task)
	}
	n, _ = strconv.Atoi(m[1])
	us, _ := strconv.Atoi(m[2] + m[3])
	return event.Time(us) * 100, n
}

// fit gets the costs of a kernel from its recording.
func fit(t *testing.T, file string) (k machine.Costs, op event.Time) {
	t.Helper()
	src, err := trace.Open(learned + file + ".dat")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	null, w2, w5 := wakesOf(t, src, "null"), wakesOf(t, src, "w2"), wakesOf(t, src, "w5")
	entry := func(idle bool) func(wake) (event.Time, bool) {
		return func(w wake) (event.Time, bool) { return w.expiry - w.due, w.idle == idle }
	}
	toSwitch := func(idle bool) func(wake) (event.Time, bool) {
		return func(w wake) (event.Time, bool) { return w.on - w.waking, w.idle == idle && !w.restarted }
	}
	alone := func(timers int) func(wake) (event.Time, bool) {
		return func(w wake) (event.Time, bool) { return w.off - w.on, w.timers == timers && !w.preempted }
	}
	k.IRQ = least(null, entry(false))
	k.IdleExit = median(null, entry(true)) - k.IRQ
	k.Wake = median(null, func(w wake) (event.Time, bool) { return w.waking - w.expiry, true })
	k.Enqueue = (median(null, toSwitch(true)) + least(null, toSwitch(false))) / 2
	// From the stamp of the switch to user code: what the task printed, minus what the
	// events tell of the same wakes.
	printed, n := printedLateness(t, file, "w2")
	if len(w2) < n {
		t.Fatalf("%d wakes of w2 in the trace, %d printed", len(w2), n)
	}
	sum := event.Time(0)
	for _, w := range w2[len(w2)-n:] {
		sum += w.on - w.due
	}
	in := printed - sum/event.Time(n)
	k.Pick = 200 // only the sum of both is seen
	k.Switch = in - k.Pick
	round := median(w2, alone(0)) - 2*ms - in
	op = round / 2 // of the timer and of the work
	k.Tick = median(w5, alone(1)) - 5*ms - in - round - k.IRQ
	return k, op
}

// death is what the CPU did for a dying task, from the switch-in that ends its sleep.
type death struct {
	own, after       event.Time // all, and the part after sched_process_exit
	preempted, ticks int
}

// deathOf reads the last run of the task called comm.
func deathOf(t *testing.T, src explain.Source, comm string) death {
	t.Helper()
	st, err := src.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	name := src.Names().String
	var d death
	on, told := event.NoTime, event.NoTime
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case ev.Kind == event.SchedWaking && name(ev.TaskComm) == comm && on == event.NoTime:
			d = death{}
		case ev.Kind == event.HrtimerExpireEntry && on != event.NoTime && name(ev.Func) != "hrtimer_wakeup":
			d.ticks++
		case ev.Kind == event.SchedProcessExit && name(ev.TaskComm) == comm:
			told = ev.Time
		case ev.Kind != event.SchedSwitch:
		case name(ev.NextComm) == comm:
			on = ev.Time
		case name(ev.TaskComm) == comm && on != event.NoTime:
			d.own += ev.Time - on
			if ev.State.Dead() {
				d.after = ev.Time - told
			} else if ev.State.Runnable() {
				d.preempted++
			}
			on = event.NoTime
		}
	}
}

// fitExitCosts gets the costs of an exit from the deaths of h0 and h64, which had worked for
// 100 µs and died; what came between is taken off.
func fitExitCosts(t *testing.T, profile, file string, k machine.Costs, op event.Time) workload.Costs {
	t.Helper()
	src, err := trace.Open(learned + file + ".dat")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	in := k.Pick + k.Switch
	net := func(d death) event.Time {
		return d.own - 100*us - in - op - event.Time(d.preempted)*(k.IRQ+k.Wake+k.Enqueue+in) - event.Time(d.ticks)*(k.IRQ+k.Tick)
	}
	none, some := deathOf(t, src, "h0"), deathOf(t, src, "h64")
	if none.preempted+none.ticks > 0 {
		t.Fatalf("%s: h0 was interrupted: %+v", file, none)
	}
	page := (net(some) - net(none)) / (64 * 256)
	// Without PREEMPT_RT a wake of null waits at most until 512 pages are given back; the
	// longest of its waits is nearly that. With it nothing shows this: the share is that of
	// tlb_finish_mmu in exitfn-256 on 6.1-rt, 7,364.7 of 143,432 µs.
	free := page * 7365 / 143_432
	if !strings.HasSuffix(profile, "-rt") {
		most := event.Time(0)
		for _, w := range wakesOf(t, src, "null") {
			most = max(most, w.on-w.waking)
		}
		free = (most - k.Enqueue) / 512
	}
	return workload.Costs{Exit: none.after, ExitMM: net(none) - none.after, ExitPage: page - free, ExitFree: free}
}

// near rounds to 10 ns: what is finer is the phase of the emulated processor.
func near(x event.Time) event.Time { return (x + 5) / 10 * 10 }

// TestQEMUCostsAreThoseOfTheRecordings: the table is what the fit says, to the digit.
func TestQEMUCostsAreThoseOfTheRecordings(t *testing.T) {
	for _, c := range fittedOn {
		plan := &scenario.Plan{Kernel: c.profile, CPUs: 1}
		plan.Load.Duration = 1
		if err := plan.UseCosts("qemu"); err != nil {
			t.Fatal(err)
		}
		setup, err := plan.Setup()
		if err != nil {
			t.Fatal(err)
		}
		want, op := fit(t, c.file)
		have, exit, wantExit := setup.Machine.Costs, setup.Load.Costs, fitExitCosts(t, c.profile, c.file, want, op)
		for _, x := range []struct {
			name       string
			have, want event.Time
		}{
			{"irq", have.IRQ, want.IRQ}, {"idle_exit", have.IdleExit, want.IdleExit}, {"wake", have.Wake, want.Wake},
			{"enqueue", have.Enqueue, want.Enqueue}, {"pick", have.Pick, want.Pick}, {"switch", have.Switch, want.Switch},
			{"tick", have.Tick, want.Tick}, {"op", setup.Load.OpCost, op},
			{"exit", exit.Exit, wantExit.Exit}, {"exit_mm", exit.ExitMM, wantExit.ExitMM},
		} {
			if x.have != near(x.want) {
				t.Errorf("%s: %s is %d in the table, the recording says %d", c.profile, x.name, x.have, near(x.want))
			}
		}
		if exit.ExitPage != wantExit.ExitPage || exit.ExitFree != wantExit.ExitFree { // of each page: to the ns
			t.Errorf("%s: exit_page and exit_free are %d and %d in the table, the recording says %d and %d", c.profile, exit.ExitPage, exit.ExitFree, wantExit.ExitPage, wantExit.ExitFree)
		}
	}
}
