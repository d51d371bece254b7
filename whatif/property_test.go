package whatif

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/sched"
)

// anyLoad is some periodic tasks on one or two CPUs, of which some die or share a lock.
func anyLoad(t *rapid.T) *replay.Load {
	l := &replay.Load{Names: event.NewNames(), Kernel: rapid.SampledFrom([]string{"6.1-rt", "6.1", "6.12-rt", "6.12"}).Draw(t, "kernel"), CPUs: rapid.IntRange(1, 2).Draw(t, "cpus"), Tick: 4 * ms,
		Zero: 99_997 * ms, From: 100_000 * ms, To: 100_060 * ms, RTPeriod: event.NoTime, Mutexes: []replay.Mutex{{PI: true, Held: -1}}}
	for _, p := range kernel.Profiles {
		if p.Name == l.Kernel {
			l.Preempt = p.Traits().Preempt
		}
	}
	for i := range rapid.IntRange(2, 5).Draw(t, "tasks") {
		every := event.Time(rapid.IntRange(3, 20).Draw(t, "every")) * ms
		work := event.Time(rapid.IntRange(1, 4000).Draw(t, "work")) * us
		task := replay.Task{PID: event.PID(100 + i), TGID: event.PID(100 + i), Comm: l.Names.Intern(rapid.SampledFrom([]string{"a", "b", "irq/5-eth", "ktimers/0", "x y"}).Draw(t, "name")),
			Attr: fifo(rapid.IntRange(1, 99).Draw(t, "prio")), CPU: event.CPU(i % l.CPUs), CPUs: []event.CPU{event.CPU(i % l.CPUs)}, Begin: replay.BeginBlocked}
		if rapid.IntRange(0, 3).Draw(t, "fair") == 0 {
			task.Attr = sched.Attr{}
		}
		locks := rapid.Bool().Draw(t, "locks")
		for at := every; at < 60*ms; at += every {
			task.Ops = append(task.Ops, replay.Op{Kind: replay.OpSleep, At: after(at), Every: every})
			if locks {
				task.Ops = append(task.Ops, replay.Op{Kind: replay.OpLock}, replay.Op{Kind: replay.OpRun, NS: work / 2}, replay.Op{Kind: replay.OpUnlock})
			}
			task.Ops = append(task.Ops, replay.Op{Kind: replay.OpRun, NS: work})
		}
		if rapid.Bool().Draw(t, "dies") {
			task.Ops = append(task.Ops, replay.Op{Kind: replay.OpRun, NS: 5 * work, Mode: machine.Kernel, Dying: true}, replay.Op{Kind: replay.OpExit})
		}
		l.Tasks = append(l.Tasks, task)
	}
	return l
}

// TestWhateverCausesSay: whatever is believed to have caused whatever wait, advice gains more than
// the error, is of what was recorded, and comes out the same again.
func TestWhateverCausesSay(t *testing.T) {
	kinds := make([]string, 0, len(rules))
	for kind := range rules {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	advised := 0
	one := func(rt *rapid.T) {
		l := anyLoad(rt)
		record(t, l)
		for i := range l.Recorded {
			l.Recorded[i].ID += fmt.Sprintf("/%d", i) // some have the name of another task
		}
		r := &result.Explain{}
		for i := range l.Recorded {
			w := &l.Recorded[i]
			if w.Length() < 100*us || len(r.Late) == 5 {
				continue
			}
			if rapid.IntRange(0, 9).Draw(rt, "missed") == 0 {
				w.OnCPU += 5 * ms
				w.End += 5 * ms
			}
			who := &l.Tasks[rapid.IntRange(0, len(l.Tasks)-1).Draw(rt, "culprit")]
			prio := result.Prio(99 - who.Attr.Priority)
			if who.Attr.Policy != sched.FIFO {
				prio = 120
			}
			late := late(l, w.ID, result.Cause{Kind: rapid.SampledFrom(kinds).Draw(rt, "kind"), NS: int64(w.Length()), Comm: l.Names.String(who.Comm), PID: int32(who.PID), Prio: prio, Detail: "kept x"})
			if late.Class = w.Class; w.Class == "rt" {
				r.Late = append(r.Late, *late)
			}
		}
		again := *r
		again.Late = slices.Clone(r.Late)
		for _, e := range []*result.Explain{r, &again} {
			s, err := NewStudy(l)
			if err != nil {
				t.Fatal(err)
			}
			if err := Advise(t.Context(), e, s, AdviceOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(r, &again); diff != "" {
			t.Fatalf("asked again (-first +again):\n%s", diff)
		}
		for i := range r.Late {
			w := &r.Late[i]
			if w.Withheld != "" && len(w.Advice) > 0 {
				t.Fatalf("withheld (%s) and advised", w.Withheld)
			}
			for _, a := range w.Advice {
				advised++
				if a.BeforeNS-max(a.AfterNS, a.WorseNS) <= a.ErrorNS || a.BeforeNS != w.LatenessNS || a.AfterNS < 0 || a.Change == "" || a.Text == "" {
					t.Fatalf("advice %+v for a wait of %d ns", a, w.LatenessNS)
				}
			}
		}
	}
	fixed := rapid.Custom(func(rt *rapid.T) bool { one(rt); return true })
	for seed := range 20 {
		fixed.Example(seed)
	}
	if advised == 0 {
		t.Error("nobody was advised, so this shows nothing")
	}
	rapid.Check(t, one)
	t.Logf("%d times advised", advised)
}
