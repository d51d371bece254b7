package whatif

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/sched"
)

const (
	us event.Time = 1_000
	ms event.Time = 1_000_000
)

func after(ns event.Time) event.Time { return 100_000*ms + ns }

func fifo(prio int) sched.Attr { return sched.Attr{Policy: sched.FIFO, Priority: prio} }

// dying is a load in which ctl, which works 1 ms every 10 ms, waits 19 ms for logger, which
// dies; audio, which is less important than both, works 2 ms of every 20 ms. Worked out by
// hand; what the model makes of it is its recording.
func dying(t *testing.T) *replay.Load {
	t.Helper()
	l := &replay.Load{Names: event.NewNames(), Kernel: "6.1-rt", Preempt: kernel.PreemptRT, CPUs: 1, Tick: 4 * ms,
		Zero: 99_997 * ms, From: 100_000 * ms, To: 100_100 * ms, RTPeriod: event.NoTime}
	add := func(name string, prio int, ops ...replay.Op) {
		l.Tasks = append(l.Tasks, replay.Task{PID: event.PID(100 + len(l.Tasks)), TGID: event.PID(100 + len(l.Tasks)), Comm: l.Names.Intern(name),
			Attr: fifo(prio), Begin: replay.BeginBlocked, Ops: ops})
	}
	periodic := func(every, work event.Time, times int) (ops []replay.Op) {
		for i := range times {
			ops = append(ops, replay.Op{Kind: replay.OpSleep, At: after(event.Time(i+1) * every), Every: every}, replay.Op{Kind: replay.OpRun, NS: work})
		}
		return ops
	}
	add("ctl", 50, periodic(10*ms, ms, 9)...)
	add("logger", 60, replay.Op{Kind: replay.OpSleep, At: after(29 * ms)}, replay.Op{Kind: replay.OpRun, NS: 20 * ms, Mode: machine.Kernel, Dying: true}, replay.Op{Kind: replay.OpExit})
	add("audio", 40, periodic(20*ms, 2*ms, 4)...)
	record(t, l)
	return l
}

// record makes what the model says of l its recording.
func record(t *testing.T, l *replay.Load) {
	t.Helper()
	run, err := l.Run(replay.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.Recorded = run.Waits
	for i := range l.Recorded {
		w := &l.Recorded[i]
		w.ID = fmt.Sprintf("%s@%d", l.Names.String(l.Tasks[w.Key.Task].Comm), (w.Woken-l.From)/us)
	}
}

// late is the wait of ctl as explain tells it.
func late(l *replay.Load, id string, causes ...result.Cause) *result.Late {
	for i := range l.Recorded {
		if w := &l.Recorded[i]; w.ID == id {
			t := &l.Tasks[w.Key.Task]
			return &result.Late{ID: id, Comm: l.Names.String(t.Comm), PID: int32(t.PID), Class: "rt", Prio: result.Prio(99 - t.Attr.Priority), WaitKind: w.Key.Kind.String(),
				WaitNS: int64(w.Length()), LatenessNS: int64(w.Lateness()), Causes: causes}
		}
	}
	return nil
}

// study is a study of l and an explanation with some late waits.
func study(t *testing.T, l *replay.Load, late ...*result.Late) (*Study, *result.Explain) {
	t.Helper()
	s, err := NewStudy(l)
	if err != nil {
		t.Fatal(err)
	}
	r := &result.Explain{}
	for _, w := range late {
		r.Late = append(r.Late, *w)
	}
	return s, r
}

// exit is the cause of the waits of dying.
func exit(ns event.Time) result.Cause {
	return result.Cause{Kind: "exit_teardown", NS: int64(ns), Comm: "logger", PID: 101, Prio: 39, Verdict: "proven"}
}

func changesOf(list []result.Advice) (changes []string) {
	for _, a := range list {
		changes = append(changes, a.Change)
	}
	return changes
}

// TestAdviceForWhoWaitsForADyingTask: three ways out, each of which takes all of the wait
// away and harms nobody; the smallest is told first, and each as a prediction with its error.
func TestAdviceForWhoWaitsForADyingTask(t *testing.T) {
	l := dying(t)
	s, r := study(t, l, late(l, "ctl@30000", exit(19*ms)))
	if err := Advise(t.Context(), r, s, AdviceOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []result.Advice{
		{Text: "logger drops to SCHED_OTHER before it exits", Change: "task=logger exit_normalize=rt", Command: "chrt -o -p 0 101   # before it exits"},
		{Text: "ctl at RT 61", Change: "task=ctl policy=fifo prio=61", Command: "chrt -f -p 61 100"},
		{Text: "a patched kernel: dying real-time tasks drop to SCHED_OTHER", Change: "set exit_normalize=rt"},
	}
	for i := range want {
		want[i].Kind, want[i].BeforeNS, want[i].Harm, want[i].Confirmed = "exit_teardown", int64(19*ms), []result.Harm{}, confirmed([]string{"exit", "priority", "exit"}[i])
	}
	if diff := cmp.Diff(want, r.Late[0].Advice); diff != "" {
		t.Errorf("advice (-want +got):\n%s", diff)
	}
}

// TestNothingIsPredictedWhereTheReplayMisses: a recording that says something else than the
// replay does.
func TestNothingIsPredictedWhereTheReplayMisses(t *testing.T) {
	l := dying(t)
	for i := range l.Recorded {
		if w := &l.Recorded[i]; w.ID == "ctl@30000" {
			w.OnCPU += 6 * ms // 25 ms, of which 20 % are less than 6
			w.End = w.OnCPU
		}
	}
	s, r := study(t, l, late(l, "ctl@30000", exit(25*ms)))
	if err := Advise(t.Context(), r, s, AdviceOptions{}); err != nil {
		t.Fatal(err)
	}
	if w := &r.Late[0]; w.Withheld == "" || len(w.Advice) > 0 {
		t.Errorf("withheld %q, advice %v", w.Withheld, w.Advice)
	}
	a, err := s.Ask([]string{"set exit_normalize=rt"}, []string{"ctl@30000", "audio@40000", "nobody@1"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Late[0].Withheld == "" || a.Late[1].Withheld != "" || a.Late[2].Withheld == "" {
		t.Errorf("predictions %+v", a.Late)
	}
}

// TestNoAdviceWithoutGain: a cause that is wrong suggests changes, and none of them helps; one
// that helps by less than the error of the replay is not told either.
func TestNoAdviceWithoutGain(t *testing.T) {
	l := dying(t)
	wrong := result.Cause{Kind: "higher_prio", NS: int64(19 * ms), Comm: "audio", PID: 102, Prio: 59, Verdict: "proven"}
	if n := len(Candidates(late(l, "ctl@30000", wrong), KnownOf(l))); n == 0 {
		t.Error("the wrong cause suggests nothing, so this shows nothing")
	}
	s, r := study(t, l, late(l, "ctl@30000", wrong))
	if err := Advise(t.Context(), r, s, AdviceOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(r.Late[0].Advice) > 0 {
		t.Errorf("advice %v", changesOf(r.Late[0].Advice))
	}
	for _, c := range []struct {
		before, after, miss, worse int64
		told                       bool
	}{
		{1000, 100, 0, 0, true}, {1000, 100, 899, 0, true}, {1000, 100, 900, 0, false}, {1000, 950, 10, 0, false}, {1000, 100, 0, 950, false}, {1000, 100, 0, 500, true},
	} {
		p := result.Prediction{BeforeNS: c.before, AfterNS: c.after, ErrorNS: c.miss, WorseNS: c.worse}
		if _, told := advice(&result.Late{}, &Candidate{}, &result.Changed{}, &p); told != c.told {
			t.Errorf("%+v: told %v", c, told)
		}
	}
}

// TestAdviceIsRanked by gain, then by harm, then by size, and leaves out what another one beats.
func TestAdviceIsRanked(t *testing.T) {
	advice := func(change string, after int64, harm ...result.Harm) result.Advice {
		return result.Advice{Change: change, BeforeNS: 1000, AfterNS: after, Harm: harm}
	}
	longer := result.Harm{Class: "rt", Percentile: 99, BeforeNS: 1, AfterNS: 100_000}
	misses := result.Harm{Class: "dl", MissesAfter: 1}
	ofFair := result.Harm{Class: "fair", MissesAfter: 5}
	ofKernel := result.Harm{Class: "rt", Kernel: true, MissesAfter: 5}
	list := []weighed{
		{advice("task=a prio=1", 20, misses), 0},
		{advice("task=b prio=1", 30, longer), 1},
		{advice("task=c prio=1", 90), 2},
		{advice("task=d prio=1", 10, ofKernel, ofFair), 3},
		{advice("task=d prio=2", 5), 4},          // as much as a smaller step
		{advice("task=e prio=1", 400), 5},        // less, but more than half
		{advice("task=f prio=1", 800), 6},        // little, and harms as much as others do
		{advice("task=g cpus=1", 15, longer), 7}, // after b, which is smaller
	}
	want := []string{"task=c prio=1", "task=d prio=1", "task=b prio=1", "task=g cpus=1", "task=a prio=1", "task=e prio=1"}
	if diff := cmp.Diff(want, changesOf(ranked(list))); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestHarmIsCounted by hand: audio comes first and works for 10 of every 20 ms, so that ctl
// comes to its job of 20 ms at 70 ms and then does all until 70 ms one after the other. Those
// of 20 to 60 ms are late, that of 70 is not, that of 80 ms waits for audio and is, that of 90
// is not. Before, those of 30 and 40 ms were.
func TestHarmIsCounted(t *testing.T) {
	l := dying(t)
	s, _ := study(t, l)
	a, err := s.Ask([]string{"task=audio policy=fifo prio=61 work=×5"}, []string{})
	if err != nil {
		t.Fatal(err)
	}
	want := []result.Harm{{Comm: "ctl", PID: 100, Class: "rt", Prio: 49, Percentile: 99, BeforeNS: int64(19 * ms), AfterNS: int64(50 * ms), MissesBefore: 2, MissesAfter: 6, Jobs: 9}}
	if diff := cmp.Diff(want, a.Harm); diff != "" {
		t.Errorf("harm (-want +got):\n%s", diff)
	}
}

// TestOneLongDelayHidesNoHarm: p99 of nine jobs is the longest, which is that behind the dying logger with
// the change and without it. That audio comes in front of every second job as well is harm all the same.
func TestOneLongDelayHidesNoHarm(t *testing.T) {
	s, _ := study(t, dying(t))
	a, err := s.Ask([]string{"task=audio policy=fifo prio=61"}, []string{})
	if err != nil {
		t.Fatal(err)
	}
	want := []result.Harm{{Comm: "ctl", PID: 100, Class: "rt", Prio: 49, Percentile: 50, BeforeNS: 0, AfterNS: int64(2 * ms), MissesBefore: 2, MissesAfter: 2, Jobs: 9}}
	if diff := cmp.Diff(want, a.Harm); diff != "" {
		t.Errorf("harm (-want +got):\n%s", diff)
	}
}

// TestDeadlinesStayWhatTheyWere: servo needs its 3 ms within 5 ms of every 20. Behind ctl and audio it is done
// after 6 ms at least: that is late, though within its period and though it has no deadline any more.
func TestDeadlinesStayWhatTheyWere(t *testing.T) {
	l := dying(t)
	servo := replay.Task{PID: 109, TGID: 109, Comm: l.Names.Intern("servo"), Begin: replay.BeginBlocked,
		Attr: sched.Attr{Policy: sched.Deadline, Runtime: 4 * ms, Deadline: 5 * ms, Period: 20 * ms}}
	for i := range event.Time(4) {
		servo.Ops = append(servo.Ops, replay.Op{Kind: replay.OpSleep, At: after((i + 1) * 20 * ms), Every: 20 * ms}, replay.Op{Kind: replay.OpRun, NS: 3 * ms})
	}
	l.Tasks = append(l.Tasks, servo)
	record(t, l)
	s, _ := study(t, l)
	a, err := s.Ask([]string{"task=servo policy=fifo prio=1"}, []string{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(a.Harm, func(h result.Harm) bool { return h.Comm == "servo" })
	if i < 0 || a.Harm[i].MissesBefore != 0 || a.Harm[i].MissesAfter != 4 || a.Harm[i].Jobs != 4 {
		t.Errorf("harm %+v, want 4 of 4 jobs of servo late, none before", a.Harm)
	}
}

// TestWhatTheKernelRefuses is an answer: 6.12 does not let its servers become smaller.
func TestWhatTheKernelRefuses(t *testing.T) {
	l := dying(t)
	l.Kernel = "6.12-rt"
	served := result.Cause{Kind: "fair_server", NS: int64(19 * ms), Comm: "burn", PID: 7, Prio: 120}
	s, r := study(t, l, late(l, "ctl@30000", served))
	if err := Advise(t.Context(), r, s, AdviceOptions{}); err != nil {
		t.Fatal(err)
	}
	if w := r.Late[0]; len(w.Refused) != 1 || w.Refused[0].Change != "set fair_server_runtime_ns=0" {
		t.Errorf("refused %+v", w.Refused)
	}
	if _, err := s.Ask([]string{"task=nobody nice=1"}, nil); err == nil {
		t.Error("a task that is not there was changed")
	}
}

// TestAnswersDoNotDependOnWhoWorks: all answers, asked at once and one by one.
func TestAnswersDoNotDependOnWhoWorks(t *testing.T) {
	l := dying(t)
	s, _ := study(t, l)
	lists := [][]string{{"set exit_normalize=rt"}, {"task=ctl policy=fifo prio=61"}, {"no change"}, {"exit_teardown ×0.5"}, {"remove task=audio", "exit_teardown ×2"}}
	answers, errs := s.AskAll(t.Context(), lists, nil)
	for i := range lists {
		one, err := s.Ask(lists[i], nil)
		if (err == nil) != (errs[i] == nil) || err == nil && !cmp.Equal(one, answers[i]) {
			t.Errorf("%v: %v, %v:\n%s", lists[i], err, errs[i], cmp.Diff(one, answers[i]))
		}
	}
	if errs[2] == nil {
		t.Error("a change that is none was made")
	}
}

// TestPredictionsOfWhatIsNotThere, worked out by hand in the load of dying: a task that its change
// keeps from coming so far, one that still waits, one whose timer was due before it came, and
// preemptions.
func TestPredictionsOfWhatIsNotThere(t *testing.T) {
	l := dying(t)
	// low has 14 ms to work from 51 ms on, and ctl and audio come in front of it.
	l.Tasks = append(l.Tasks, replay.Task{PID: 104, TGID: 104, Comm: l.Names.Intern("low"), Attr: fifo(5), Begin: replay.BeginBlocked,
		Ops: []replay.Op{{Kind: replay.OpSleep, At: after(51 * ms)}, {Kind: replay.OpRun, NS: 14 * ms}}})
	record(t, l)
	s, _ := study(t, l)
	for _, c := range []struct {
		changes  []string
		id       string
		before   event.Time
		after    event.Time
		withheld bool
	}{
		{nil, "low@60000", 3 * ms, 3 * ms, false}, // ctl's 1 ms and audio's 2
		{[]string{"remove task=ctl"}, "low@60000", 3 * ms, 2 * ms, false},
		{[]string{"remove task=audio"}, "low@60000", 3 * ms, 1 * ms, false},
		{[]string{"task=low policy=fifo prio=99"}, "low@60000", 3 * ms, 0, false},
		{[]string{"task=audio policy=fifo prio=61 work=×20"}, "ctl@90000", 0, 0, true}, // 40 ms of every 20
		{[]string{"task=ctl work=×15"}, "ctl@30000", 19 * ms, 30 * ms, false},          // its second job lasts from 25 to 60 ms, logger's 20 included
		{[]string{"remove task=ctl"}, "ctl@30000", 19 * ms, 0, true},
	} {
		a, err := s.Ask(c.changes, []string{c.id})
		if err != nil {
			t.Fatal(err)
		}
		p := a.Late[0]
		if p.BeforeNS != int64(c.before) || (p.Withheld != "") != c.withheld || !c.withheld && p.AfterNS != int64(c.after) {
			t.Errorf("%v: %+v, want %d, withheld %v", c.changes, p, c.after, c.withheld)
		}
	}
}
