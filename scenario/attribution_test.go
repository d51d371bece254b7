package scenario_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
)

var (
	long = flag.Bool("long", false, "score the attribution over 2,000 random scenarios, each also with two classes of events switched off")
	from = flag.Uint64("seed", 0, "the first seed of the attribution")
)

// classes are events that somebody may not have recorded.
var classes = []struct {
	name string
	off  event.KindSet
	// blind: without these events some changes leave no trace at all. How much is proven and
	// wrong then is printed, and bounded.
	blind bool
}{
	{"hrtimer", event.Kinds(event.HrtimerStart, event.HrtimerExpireEntry, event.HrtimerExpireExit, event.HrtimerCancel), true},
	{"hrtimer_start", event.Kinds(event.HrtimerStart, event.HrtimerCancel), false},
	{"sched_waking", event.Kinds(event.SchedWaking), false},
	{"sched_wakeup", event.Kinds(event.SchedWakeup), false},
	{"sched_migrate_task", event.Kinds(event.SchedMigrateTask), true},
	{"sched_stat_runtime", event.Kinds(event.SchedStatRuntime), false},
	{"sched_pi_setprio", event.Kinds(event.SchedPISetprio), true},
	{"irq, softirq", event.Kinds(event.IRQHandlerEntry, event.IRQHandlerExit, event.SoftirqEntry, event.SoftirqExit, event.SoftirqRaise), false},
	{"softirq", event.Kinds(event.SoftirqEntry, event.SoftirqExit, event.SoftirqRaise), true},
	{"sys_enter", event.Kinds(event.SysEnter, event.SysExit), true},
	{"sys_enter, signal", event.Kinds(event.SysEnter, event.SysExit, event.SignalDeliver, event.SignalGenerate), true},
	{"sched_process_exit", event.Kinds(event.SchedProcessExit), false},
	{"all but sched", ^event.Kinds(event.SchedSwitch, event.SchedWaking, event.SchedWakeup, event.SchedWakeupNew, event.SchedMigrateTask,
		event.SchedProcessFork, event.SchedProcessExit, event.SchedPISetprio, event.TaskRename, event.TaskNewtask), true},
}

// TestAttribution scores the analysis, which sees the events of the model only, against what
// the model knows: each moment of each wait, by kind and by whose fault it is. Nothing that is
// called proven may be wrong; with classes of events switched off less is proven, and then the
// snapshot of the machine may only add to what is right.
func TestAttribution(t *testing.T) {
	n := uint64(200)
	if *long {
		n = 2000
	}
	all, machine, off, known := newScore(), newScore(), make([]*score, len(classes)), make([]*score, len(classes))
	for i := range off {
		off[i], known[i] = newScore(), newScore()
	}
	for seed := *from; seed < *from+n; seed++ {
		src, err := sourceOf(mixedPlan(seed))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		l, err := src.Truth()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r, err := record(src)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		o, name := newOracle(l), fmt.Sprintf("seed %d on %s", seed, src.Info().Kernel)
		all.run(name, src, o, r.analyse(0, nil))
		if seed%4 == 0 || *long {
			machine.run(name+" with its snapshot", src, o, r.analyse(0, src.Snapshot()))
		}
		for i := range classes {
			// Two of them, each in turn.
			if turn := (seed + uint64(i)) % uint64(len(classes)); turn == 0 || *long && turn == 1 {
				o.off = classes[i].off
				off[i].run(name+" without "+classes[i].name, src, o, r.analyse(classes[i].off, nil))
				known[i].run(name+" with its snapshot without "+classes[i].name, src, o, r.analyse(classes[i].off, src.Snapshot()))
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d scenarios\n%s%s%s", n, all.table("all events"), all.byKind(), all.mistakes())
	b.WriteString(machine.table("with the snapshot"))
	for i := range off {
		b.WriteString(off[i].table("no " + classes[i].name))
		b.WriteString(off[i].mistakes())
		b.WriteString(known[i].table("… but the snapshot"))
	}
	t.Log(b.String())
	all.judge(t)
	for _, w := range machine.wrong {
		t.Error(w)
	}
	for i := range off {
		a := &off[i].all
		if wrong := a.proven - a.right; wrong > 0 && !classes[i].blind || wrong*1000 > a.proven {
			t.Errorf("without %s %s of what is proven is wrong", classes[i].name, percent(wrong, a.proven))
			for _, w := range off[i].wrong {
				t.Error(w)
			}
		}
		known[i].judgeKnown(t, off[i], classes[i].name, classes[i].blind)
	}
}

// judgeKnown holds the answers that know the machine to those that do not: no more may be wrong.
// Where much of what happened leaves no trace, what does not fit the snapshot is less sure, too.
func (s *score) judgeKnown(t *testing.T, without *score, class string, blind bool) {
	if wrong, before := s.all.proven-s.all.right, without.all.proven-without.all.right; wrong > before {
		t.Errorf("without %s the snapshot makes %d ns more proven that is wrong", class, wrong-before)
		for _, w := range s.wrong {
			t.Error(w)
		}
	}
	if s.all.right < without.all.right && !blind {
		t.Errorf("without %s the snapshot makes %d ns less proven that is right", class, without.all.right-s.all.right)
	}
}

// judge fails t where the answers with all events are not good enough.
func (s *score) judge(t *testing.T) {
	for _, w := range s.wrong {
		t.Error(w)
	}
	a := &s.all
	if a.proven*10 < a.total*9 {
		t.Errorf("only %s of the waiting time is proven", percent(a.proven, a.total))
	}
	if s.missed > 0 {
		t.Errorf("%d ns of waiting are in no answer", s.missed)
	}
	if a.total < 50_000*ms {
		t.Errorf("only %d ms of waiting were scored", a.total/ms)
	}
}
