package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// waited is a wait of class rt that was woken at 1 s, of the given length.
func waited(task, cycle int, length event.Time) Wait {
	return Wait{Key: WaitKey{Task: task, Cycle: cycle}, Due: event.NoTime, Woken: 1000 * ms, OnCPU: 1000*ms + length, End: 1000*ms + length, Class: "rt", Prio: 49}
}

func TestMatchPairsByKey(t *testing.T) {
	recorded := []Wait{waited(0, 0, 1), waited(0, 2, 2), waited(1, 0, 3)}
	run := []Wait{waited(0, 0, 10), waited(0, 1, 20), waited(1, 0, 30), waited(1, 1, 40)}
	var got [][2]event.Time
	for _, p := range Match(recorded, run) {
		r, m := p.Times()
		got = append(got, [2]event.Time{r, m})
	}
	want := [][2]event.Time{{1, 10}, {0, 20}, {2, 0}, {3, 30}, {0, 40}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTimesOffTheCPUWithinACycleArePairedByTheirBeginnings(t *testing.T) {
	taken := func(task int, at ...event.Time) []Wait {
		var list []Wait
		for i, t := range at {
			w := waited(task, 0, 10+t)
			w.Key.Kind, w.Key.N, w.Woken = latency.Preempted, i, 1000*ms+t
			w.OnCPU = w.Woken + 10
			w.End = w.OnCPU
			list = append(list, w)
		}
		return list
	}
	const none event.Time = -1
	for _, c := range []struct {
		recorded, run []event.Time
		want          [][2]event.Time
	}{
		{[]event.Time{0, 100, 200}, []event.Time{1, 52, 103, 198}, [][2]event.Time{{0, 1}, {none, 52}, {100, 103}, {200, 198}}},
		{[]event.Time{1, 52, 103, 198}, []event.Time{0, 100, 200}, [][2]event.Time{{1, 0}, {52, none}, {103, 100}, {198, 200}}},
		{[]event.Time{0, 100}, []event.Time{0, 100, 200, 300}, [][2]event.Time{{0, 0}, {100, 100}, {none, 200}, {none, 300}}},
		{[]event.Time{0, 100, 200}, []event.Time{205}, [][2]event.Time{{0, none}, {100, none}, {200, 205}}},
		{nil, []event.Time{7}, [][2]event.Time{{none, 7}}},
	} {
		var got [][2]event.Time
		at := func(w *Wait) event.Time {
			if w == nil {
				return none
			}
			return w.Woken - 1000*ms
		}
		for _, p := range Match(append(taken(0, c.recorded...), waited(1, 0, 1)), append(taken(0, c.run...), waited(1, 0, 1))) {
			if p.Recorded != nil && p.Recorded.Key.Task == 1 {
				if p.Run == nil {
					t.Error("the wait behind them is alone")
				}
				continue
			}
			got = append(got, [2]event.Time{at(p.Recorded), at(p.Run)})
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v and %v: %s", c.recorded, c.run, diff)
		}
	}
}

func TestKeysAreOrderedByTaskCycleKindNumber(t *testing.T) {
	list := []Wait{{Key: WaitKey{1, 0, latency.Wakeup, 0}}, {Key: WaitKey{0, 1, latency.Wakeup, 0}}, {Key: WaitKey{0, 0, latency.Preempted, 1}},
		{Key: WaitKey{0, 0, latency.Preempted, 0}}, {Key: WaitKey{0, 0, latency.Wakeup, 1}}}
	SortWaits(list)
	for i, want := range []WaitKey{{0, 0, latency.Wakeup, 1}, {0, 0, latency.Preempted, 0}, {0, 0, latency.Preempted, 1}, {0, 1, latency.Wakeup, 0}, {1, 0, latency.Wakeup, 0}} {
		if list[i].Key != want {
			t.Errorf("%d: %+v, want %+v", i, list[i].Key, want)
		}
	}
}

func TestAnswerableByTheLargerOfShareAndTime(t *testing.T) {
	for _, c := range []struct {
		recorded, run event.Time
		want          bool
		perMille      int64
	}{
		{1000 * us, 1200 * us, true, 200},
		{1000 * us, 1200*us + 1, false, 200},
		{1000 * us, 800 * us, true, 200},
		{1000 * us, 800*us - 1, false, 200},
		{60 * us, 110 * us, true, 833}, // 20 % of it would be 12 µs
		{60 * us, 110*us + 1, false, 833},
		{60 * us, 10 * us, true, 833},
	} {
		a, b := waited(0, 0, c.recorded), waited(0, 0, c.run)
		p := Pair{&a, &b}
		if p.Answerable() != c.want || p.ErrorPerMille() != c.perMille {
			t.Errorf("%d and %d: answerable %v, %d ‰", c.recorded, c.run, p.Answerable(), p.ErrorPerMille())
		}
	}
	a := waited(0, 0, 60*us)
	if (&Pair{Recorded: &a}).Answerable() {
		t.Error("a wait of 60 µs that the run does not have is answerable")
	}
	a.Untrusted = true
	if (&Pair{Recorded: &a, Run: &a}).Answerable() {
		t.Error("a wait in which events were lost is answerable")
	}
}

func TestTimesAreLatenessWhereBothSidesKnowIt(t *testing.T) {
	a, b := waited(0, 0, 10), waited(0, 0, 20)
	a.Due, b.Due = a.Woken-5, b.Woken-7
	p := Pair{&a, &b}
	if r, m := p.Times(); r != 15 || m != 27 {
		t.Errorf("%d, %d", r, m)
	}
	b.Due = event.NoTime
	if r, m := p.Times(); r != 10 || m != 20 {
		t.Errorf("with one due unknown: %d, %d", r, m)
	}
}

func TestFidelityOfAClass(t *testing.T) {
	var recorded, run []Wait
	for i := range 200 { // 1, 2, … 200 µs; the run has 3 µs more
		recorded = append(recorded, waited(0, i, event.Time(i+1)*us))
		run = append(run, waited(0, i, event.Time(i+4)*us))
	}
	recorded = append(recorded, waited(1, 0, 1000*us), waited(1, 1, 2000*us), waited(1, 2, 600*us), waited(1, 4, 600*us))
	run = append(run, waited(1, 0, 1050*us), waited(1, 1, 1899*us), waited(1, 3, 700*us), waited(1, 4, 600*us))
	recorded[len(recorded)-1].Untrusted = true
	f := Compare(Match(recorded, run))
	if len(f.Classes) != 1 {
		t.Fatalf("%+v", f)
	}
	c := f.Classes[0]
	if c.Class != "rt" || c.Waits != 203 || c.Matched != 202 || c.Untrusted != 1 || c.OnlyRun != 1 {
		t.Errorf("counts %+v", c)
	}
	if len(c.Long) != 4 || c.Within != 1 || c.Long[0].Recorded.Key.Cycle != 1 {
		t.Errorf("long: %d, within %d", len(c.Long), c.Within)
	}
	want := Distribution{N: 200, RunN: 200, P50: 100 * us, RunP50: 103 * us, P99: 198 * us, RunP99: 201 * us, Distance: 3 * us,
		Max: 200 * us, RunMax: 203 * us, WorstMiss: 3 * us, MissAtP99: 3 * us}
	if diff := cmp.Diff(want, c.Rest); diff != "" {
		t.Error(diff)
	}
	// Late are 50 … 200 µs and three long ones, of which the run misses one.
	if c.Late != 151+3 || c.Answerable != 151+2 {
		t.Errorf("late %d, answerable %d", c.Late, c.Answerable)
	}
}
