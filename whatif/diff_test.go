package whatif

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/result"
)

// noisy is ctl/pid with prio, woken every 10 ms, that waits for at least least µs and some more
// behind hog: exponential, with a mean of 20 µs. With a zero seed it waits as long every time.
func noisy(seed uint64, rounds, least, pid, prio int) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	ctl := fmt.Sprintf("ctl/%d/%d", pid, prio)
	list := []string{fromIdle(999_000, "hog/400/9")}
	for n := range rounds {
		at, wait := int64(1_000_000)+int64(n)*10_000, int64(least)
		if seed != 0 {
			wait += int64(r.ExpFloat64() * 20)
		}
		list = append(list, waking(at, "ctl", pid, prio), runs(at+wait, "hog/400/9", "S", ctl), toIdle(at+wait+50, ctl, "S"))
		if n < rounds-1 {
			list = append(list, waking(at+9000, "hog", 400, 9), fromIdle(at+9001, "hog/400/9"))
		}
	}
	return list
}

func diff(t *testing.T, o DiffOptions, sides ...string) *result.Diff {
	t.Helper()
	var list [2][]Recording
	for i, s := range sides {
		for _, file := range strings.Split(s, ",") {
			list[i] = append(list[i], Recording{file, open(t, file)})
		}
	}
	o.Options.From, o.Options.To = everything("").From, everything("").To
	d, err := Diff(list[0], list[1], o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestEqualRecordingsSeldomDiffer: among all tests of an answer a difference is shown where
// there is none in at most 5 % of answers; of 60, three standard errors above that are 8.
func TestEqualRecordingsSeldomDiffer(t *testing.T) {
	wrong := 0
	for n := range uint64(60) {
		d := diff(t, DiffOptions{}, written(t, noisy(2*n+1, 100, 5, 311, 19)), written(t, noisy(2*n+2, 100, 5, 311, 19)))
		if d.Test.Tests < 6 || d.A.Parts != 10 {
			t.Fatalf("%+v", d.Test)
		}
		if d.Test.Shown > 0 {
			wrong++
		}
	}
	if wrong > 8 {
		t.Errorf("%d of 60 pairs of equal recordings differ", wrong)
	}
}

// TestAChangeIsShown: 130 µs more of the same kind in every wait, in the tests of the waits and
// of the cause, and in both directions.
func TestAChangeIsShown(t *testing.T) {
	a, b := written(t, noisy(1, 200, 5, 311, 19)), written(t, noisy(2, 200, 135, 311, 19))
	for _, c := range []struct{ a, b, verdict string }{{a, b, "higher"}, {b, a, "lower"}} {
		d := diff(t, DiffOptions{}, c.a, c.b)
		ctl := taskNamed(t, d, "ctl")
		if ctl.Wakeup.P50.Verdict != c.verdict || ctl.Wakeup.Max.Verdict != c.verdict {
			t.Errorf("p50 %+v, longest %+v; want %s", ctl.Wakeup.P50, ctl.Wakeup.Max, c.verdict)
		}
		if k := ctl.Causes[0]; k.Kind != "higher_prio" || k.Test.Verdict != c.verdict || k.A.Comm != "hog" {
			t.Errorf("%+v", k)
		}
		if d.Answer.Comm != "ctl" || d.Answer.Kind != "higher_prio" || d.Answer.By != "hog" {
			t.Errorf("%+v", d.Answer)
		}
	}
}

func taskNamed(t *testing.T, d *result.Diff, name string) *result.DiffTask {
	t.Helper()
	for i := range d.Tasks {
		if d.Tasks[i].Comm == name {
			return &d.Tasks[i]
		}
	}
	t.Fatalf("no %s in %+v", name, d.Tasks)
	return nil
}

// TestDriftIsTold: waits that grow in the course of each recording, by other amounts, are shown
// to differ, and that stretches depend on each other there is said; --shown does not count it.
func TestDriftIsTold(t *testing.T) {
	rising := func(seed uint64, step int) []string {
		var list []string
		for n := range 10 {
			list = append(list, shifted(noisy(seed+uint64(n), 40, 100+step*n, 311, 19), n)...)
		}
		return list
	}
	d := diff(t, DiffOptions{Shown: true, FailOn: parsed(t, []string{"p50>+10%"})}, written(t, rising(1, 10)), written(t, rising(50, 80)))
	p := taskNamed(t, d, "ctl").Wakeup.P50
	if p.Verdict != "higher" || p.Note != "drifts" || d.Test.Drifting == 0 || d.Status != StatusUnreliable {
		t.Errorf("%+v %+v %s", p, d.Test, d.Status)
	}
}

// TestRecordingsAreTheParts: with six recordings on each side the tests compare these.
func TestRecordingsAreTheParts(t *testing.T) {
	var a, b []string
	for n := range uint64(6) {
		a = append(a, written(t, noisy(n+1, 50, 5, int(300+n), 19)))
		b = append(b, written(t, noisy(n+7, 50, 105, int(310+n), 19)))
	}
	d := diff(t, DiffOptions{}, strings.Join(a, ","), strings.Join(b, ","))
	ctl := taskNamed(t, d, "ctl")
	if d.Test.Parts != "recordings" || d.A.Parts != 6 || ctl.TasksA != 1 || ctl.PIDA != -1 || ctl.Wakeup.A.Waits != 300 {
		t.Errorf("%+v %+v", d.Test, ctl)
	}
	if p := ctl.Wakeup.P50; p.Delta < 90_000 || p.Verdict != "higher" {
		t.Errorf("%+v", p)
	}
}

// TestTasksAreMatched by name; by pid where several have the name and the same pids; with what
// they became where they changed their class. What waits on one side only is said.
func TestTasksAreMatched(t *testing.T) {
	two := append(noisy(0, 30, 7, 311, 19), shifted(noisy(0, 30, 7, 312, 19), 10)...)
	d := diff(t, DiffOptions{}, written(t, two), written(t, two))
	if n := count(d, "ctl"); n != 2 || taskNamed(t, d, "ctl").PIDA != taskNamed(t, d, "ctl").PIDB {
		t.Errorf("two of a name and the same pids: %d rows", n)
	}
	other := append(noisy(0, 30, 7, 411, 19), shifted(noisy(0, 30, 7, 412, 19), 10)...)
	d = diff(t, DiffOptions{}, written(t, two), written(t, other))
	if ctl := taskNamed(t, d, "ctl"); count(d, "ctl") != 1 || ctl.TasksA != 2 || ctl.TasksB != 2 || ctl.PIDA != -1 || ctl.Wakeup.A.Waits != 60 {
		t.Errorf("two of a name and other pids: %+v", ctl)
	}
	d = diff(t, DiffOptions{}, written(t, noisy(0, 30, 7, 311, 19)), written(t, noisy(0, 30, 7, 500, 120)))
	if ctl := taskNamed(t, d, "ctl"); ctl.ClassA != "rt" || ctl.ClassB != "fair" || ctl.Only != "" {
		t.Errorf("became fair: %+v", ctl)
	}
	lone := append(noisy(0, 30, 7, 311, 19), shifted([]string{waking(1_000_000, "lone", 77, 120), fromIdle(1_000_005, "lone/77/120"), toIdle(1_000_050, "lone/77/120", "S")}, 10)...)
	d = diff(t, DiffOptions{}, written(t, noisy(0, 30, 7, 311, 19)), written(t, lone))
	if l := taskNamed(t, d, "lone"); l.Only != "b" || l.Wakeup.B.Waits != 1 {
		t.Errorf("%+v", l)
	}
	d = diff(t, DiffOptions{Options: explain.Options{By: explain.ByCPU}}, written(t, two), written(t, other))
	if len(d.Tasks) != 1 || d.Tasks[0].Group != "CPU 0" {
		t.Errorf("by CPU: %+v", d.Tasks)
	}
}

func count(d *result.Diff, name string) (n int) {
	for i := range d.Tasks {
		if d.Tasks[i].Comm == name {
			n++
		}
	}
	return n
}

// shifted moves lines by whole seconds.
func shifted(lines []string, seconds int) []string {
	var out []string
	for _, l := range lines {
		var s int
		rest := l[strings.IndexByte(l, '.'):]
		fmt.Sscan(l[:len(l)-len(rest)], &s)
		out = append(out, fmt.Sprint(s+seconds)+rest)
	}
	return out
}

func TestConditionsOfAChange(t *testing.T) {
	a, b := written(t, noisy(1, 200, 5, 311, 19)), written(t, noisy(2, 200, 35, 311, 19))
	twice := written(t, noisy(0, 400, 5, 311, 19))
	once := written(t, noisy(0, 200, 5, 311, 19))
	for _, c := range []struct {
		a, b, text, status string
		shown              bool
	}{
		{a, b, "p50>+10%", "failed", false}, {a, b, "p50>+10%", "failed", true}, {b, a, "p50>+10%", "ok", false}, {b, a, "p50<-10%", "failed", false},
		{a, b, "ctl:p50>+1ms", "ok", false}, {a, b, "rt_throttled>0", "ok", false}, {a, b, "ctl:higher_prio.max>0", "failed", false},
		{a, b, "p99.9>+10ms", "unreliable", false},
		// Twice as long a recording has twice as much of everything: that is no change.
		{once, twice, "ctl:higher_prio>+5%", "ok", false}, {once, twice, "ctl:waits>+5%", "ok", false}, {once, twice, "ctl:waits>300", "failed", false},
		// The longest of 200 from the same distribution: whichever it is, no test shows it.
		{a, written(t, noisy(3, 200, 5, 311, 19)), "max>-50%", "unreliable", true},
	} {
		d := diff(t, DiffOptions{FailOn: parsed(t, []string{c.text}), Shown: c.shown}, c.a, c.b)
		if d.Status != c.status {
			t.Errorf("%s: %s, want %s: %+v", c.text, d.Status, c.status, d.Conditions[0].Tasks)
		}
	}
	src := Recording{b, open(t, b)}
	if _, err := Diff([]Recording{src}, []Recording{src}, DiffOptions{Options: everything(""), FailOn: parsed(t, []string{"nobody:max>1"})}); err == nil || !strings.Contains(err.Error(), `matches "nobody"`) {
		t.Errorf("a condition of nobody: %v", err)
	}
}

// TestDiffOfRecordings: what is known of the recordings: which task, by how much, and the kind
// of cause.
func TestDiffOfRecordings(t *testing.T) {
	for _, c := range []struct {
		a, b           string
		comm, kind, by string
		maxA, maxB     int64
	}{
		{"rt-throttle-v61rt-smp1/throttle-off.dat", "rt-throttle-v61rt-smp1/throttle950000.dat", "hi25", "rt_throttled", "burn22", 6_400, 39_844_000},
		{"rt-throttle-v61rt-smp1/throttle950000.dat", "rt-throttle-v61rt-smp1/throttle-off.dat", "hi25", "rt_throttled", "burn22", 39_844_000, 6_400},
		{"exit-storm-v61rt-smp1/exit-0.dat", "exit-storm-v61rt-smp1/exit-256.dat", "cyclictest", "exit_teardown", "exitstorm", 112_900, 142_341_500},
		{"exit-storm-v61rt-smp1/exit-256.dat", "exit-storm-v61rt-smp1/exit-64.dat", "cyclictest", "exit_teardown", "exitstorm", 142_341_500, 35_768_100},
	} {
		d := diff(t, DiffOptions{}, shared.Path(t, "traces/"+c.a), shared.Path(t, "traces/"+c.b))
		a := d.Answer
		if a.Comm != c.comm || a.Kind != c.kind || a.By != c.by || abs(a.MaxA-c.maxA) > 60 || abs(a.MaxB-c.maxB) > 60 {
			t.Errorf("%s and %s: %+v", c.a, c.b, a)
		}
		if d.Test.Shown > 0 && strings.Contains(c.a, "throttle") {
			t.Errorf("%s and %s: one long wait in one recording is no proof: %+v", c.a, c.b, d.Test)
		}
	}
}
