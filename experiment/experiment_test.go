package experiment

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/stats"
)

// fixed is a load without anything random: ctl waits for hog, which takes 2 of every 8 ms.
const fixed = `{ "global": { "duration": 1 }, "tasks": {
	"ctl": { "policy": "SCHED_FIFO", "priority": 5, "run": 300, "timer": { "ref": "unique", "period": 4000 } },
	"hog": { "policy": "SCHED_FIFO", "priority": 20, "run": 2000, "timer": { "ref": "unique", "period": 8000 } } },
	"whylate": { "kernel": "6.1-rt", "settings": { "sched_rt_runtime_us": -1 } } }`

func read(text string) func() (*scenario.Plan, error) {
	return func() (*scenario.Plan, error) { return scenario.Read("test.json", []byte(text), scenario.Options{}) }
}

// random is workers that sleep for random times and share two CPUs.
func random() (*scenario.Plan, error) {
	p, err := scenario.FromTemplate("schbench", []string{"-m", "1", "-t", "4", "-s", "1000", "-c", "2000", "-r", "1"})
	if err == nil {
		p.CPUs = 2
	}
	return p, err
}

// TestChangesShow: the wait behind hog goes where the change says, and the longest wait is
// explained from the events.
func TestChangesShow(t *testing.T) {
	x := &Experiment{Scenario: "test.json", Plan: read(fixed), Seeds: 10,
		Variants: []Variant{{Name: "as-is"}, {Name: "better", Changes: []string{"task=ctl prio=50"}}, {Name: "same", Changes: []string{"task=ctl prio=6"}}}}
	got, err := Run(context.Background(), []*Experiment{x}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := got[0]
	if c.Random || c.Variants[0].Runs != 1 {
		t.Errorf("nothing is random, and yet %v with %d runs", c.Random, c.Variants[0].Runs)
	}
	ctl := func(v int) int { return taskAt(t, c, v, "ctl-0") }
	as, better, same := &c.Variants[0].Tasks[ctl(0)], &c.Variants[1].Tasks[ctl(1)], &c.Variants[2].Tasks[ctl(2)]
	if as.Wakeup.MaxNS < 2_000_000 || better.Wakeup.MaxNS > 100_000 {
		t.Errorf("max %d as is, %d with a higher priority", as.Wakeup.MaxNS, better.Wakeup.MaxNS)
	}
	if better.AgainstMax.Verdict != "exact_lower" || same.AgainstMax.Verdict != "exact_same" || as.AgainstMax != nil {
		t.Errorf("verdicts %+v, %+v, %+v", better.AgainstMax, same.AgainstMax, as.AgainstMax)
	}
	if as.Timer.Waits != 250 || as.Misses != 0 || as.Timer.MaxNS < as.Wakeup.MaxNS {
		t.Errorf("%d of %d rounds late", as.Misses, as.Timer.Waits)
	}
	w := c.Variants[0].Worst
	if w == nil || w.Comm != "ctl-0" || w.Verdict != "proven" || w.Causes[0].Kind == "" {
		t.Fatalf("the longest wait: %+v", w)
	}
	sum := int64(0)
	for _, cause := range w.Causes {
		sum += cause.NS
	}
	if sum != w.LatenessNS || w.WaitNS != as.Wakeup.MaxNS {
		t.Errorf("causes of %d for a wait of %d; longest %d", sum, w.LatenessNS, as.Wakeup.MaxNS)
	}
}

func taskAt(t *testing.T, c *Outcome, variant int, comm string) int {
	t.Helper()
	for i := range c.Variants[variant].Tasks {
		if c.Variants[variant].Tasks[i].Comm == comm {
			return i
		}
	}
	t.Fatalf("variant %s has no task %s", c.Variants[variant].Name, comm)
	return 0
}

// TestOneRunProvesNothing: with a single seed nobody knows what is random.
func TestOneRunProvesNothing(t *testing.T) {
	x := &Experiment{Scenario: "test.json", Plan: read(fixed), Tasks: []string{"ctl*"}, Variants: []Variant{{Name: "a"}, {Name: "b", Changes: []string{"task=ctl prio=50"}}}}
	got, err := Run(context.Background(), []*Experiment{x}, Options{NoWorst: true})
	if err != nil {
		t.Fatal(err)
	}
	d := got[0].Variants[1].Tasks[0].AgainstMax
	if !got[0].Random || d.Verdict != "none_shown" || d.Delta >= 0 || d.Note == "" {
		t.Errorf("random %v, %+v", got[0].Random, *d)
	}
}

// TestOverload: a round that ends after its next timer is late. 5 ms of work every 4 ms
// never are in time. ctl begins late: hog would never get to set its own policy.
func TestOverload(t *testing.T) {
	x := &Experiment{Scenario: "test.json", Plan: read(strings.Replace(fixed, `"run": 300`, `"delay": 1000, "run": 5000`, 1)), Tasks: []string{"ctl*"}, Variants: []Variant{{Name: "as-is"}}}
	got, err := Run(context.Background(), []*Experiment{x}, Options{NoWorst: true})
	if err != nil {
		t.Fatal(err)
	}
	ctl := &got[0].Variants[0].Tasks[0]
	if ctl.Misses == 0 || ctl.Misses != ctl.Timer.Waits {
		t.Errorf("%d of %d rounds late, want all", ctl.Misses, ctl.Timer.Waits)
	}
	if n := len(got[0].Variants[0].Tasks); n != 1 {
		t.Errorf("%d tasks told, want ctl alone", n)
	}
}

// counting counts wakes, and rounds.
type counting struct{ wakes, rounds int64 }

func (c *counting) Event(ev *event.Event) {
	if ev.Kind == event.SchedWakeup {
		c.wakes++
	}
}
func (c *counting) Round(*scenario.Round) { c.rounds++ }
func (c *counting) Values(end event.Time) map[string]int64 {
	return map[string]int64{"wakes": c.wakes, "end_ns": int64(end)}
}

// TestSameOnAnyNumberOfProcessors, with measures and a random load.
func TestSameOnAnyNumberOfProcessors(t *testing.T) {
	run := func() []*Outcome {
		watch := func(*Context) Watcher { return &counting{} }
		measures := []Measure{{Name: "wakes", Title: "wakes"}, {Name: "end_ns", Title: "end", Assume: stats.Normal}}
		list := []*Experiment{
			{Scenario: "random", Plan: random, Seeds: 6, Variants: []Variant{{Name: "a"}, {Name: "b", Changes: []string{"set HZ=1000"}}}, Watch: watch, Measures: measures},
			{Scenario: "test.json", Plan: read(fixed), Seeds: 6, Variants: []Variant{{Name: "a"}}}}
		got, err := Run(context.Background(), list, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range got {
			o.Setups = nil
		}
		return got
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := run()
	runtime.GOMAXPROCS(3)
	if diff := cmp.Diff(one, run()); diff != "" {
		t.Errorf("on three processors (-one +three):\n%s", diff)
	}
	v := &one[0].Variants[1]
	if !one[0].Random || v.Runs != 6 || v.Measures["wakes"] == 0 || v.Spread["wakes"].Summary == "mean" || v.Spread["end_ns"].Summary != "mean" || v.Against["wakes"].Verdict == "" {
		t.Errorf("random %v, %d runs, measures %v, spread %v, against %v", one[0].Random, v.Runs, v.Measures, v.Spread, v.Against)
	}
}

// ordered checks that rounds come between the events that surround their end.
type ordered struct {
	t            *testing.T
	last         event.Time // of an event
	round        event.Time // end of a round that was told since
	rounds, late int
}

func (o *ordered) Event(ev *event.Event) {
	if ev.Time < o.round {
		o.late++
	}
	o.last = ev.Time
}
func (o *ordered) Round(r *scenario.Round) {
	o.rounds++
	if r.End < o.last {
		o.late++
	}
	o.round = r.End
}
func (o *ordered) Values(event.Time) map[string]int64 {
	if o.rounds == 0 || o.late > 0 {
		o.t.Errorf("%d rounds, %d of them before earlier or after later events", o.rounds, o.late)
	}
	return nil
}

// TestRoundsComeInOrder with the events, although the model runs ahead of them.
func TestRoundsComeInOrder(t *testing.T) {
	x := &Experiment{Scenario: "test.json", Plan: read(fixed), Variants: []Variant{{Name: "a"}}, Watch: func(*Context) Watcher { return &ordered{t: t} }}
	if _, err := Run(context.Background(), []*Experiment{x}, Options{NoWorst: true}); err != nil {
		t.Fatal(err)
	}
}

// TestErrorsSayWhere, and the first of several is told whoever comes first.
func TestErrorsSayWhere(t *testing.T) {
	x := &Experiment{Scenario: "test.json", Plan: read(fixed), Variants: []Variant{{Name: "a"}, {Name: "b", Changes: []string{"task=nobody prio=3"}}}}
	if _, err := Run(context.Background(), []*Experiment{x}, Options{}); err == nil || !strings.Contains(err.Error(), "variant b") || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a change that fits no task: %v", err)
	}
	for range 20 {
		err := each(context.Background(), 50, func(_ context.Context, i int) error {
			if i%7 == 3 {
				return fmt.Errorf("number %d", i)
			}
			return nil
		})
		if err == nil || err.Error() != "number 3" {
			t.Fatalf("the first error: %v", err)
		}
	}
}

// TestInterruption: an end of the context ends all runs soon.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	long := strings.Replace(fixed, `"duration": 1`, `"duration": 100000`, 1)
	time.AfterFunc(20*time.Millisecond, cancel)
	x := &Experiment{Scenario: "test.json", Plan: read(long), Seeds: 10, Variants: []Variant{{Name: "a"}, {Name: "b"}}}
	if _, err := Run(ctx, []*Experiment{x}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interruption: %v", err)
	}
}

// TestProgressReachesTheEnd, whatever was left out.
func TestProgressReachesTheEnd(t *testing.T) {
	for _, plan := range []func() (*scenario.Plan, error){random, read(fixed)} {
		var last, of atomic.Int64
		x := &Experiment{Scenario: "x", Plan: plan, Seeds: 4, Variants: []Variant{{Name: "a"}, {Name: "b"}}}
		_, err := Run(context.Background(), []*Experiment{x}, Options{Progress: func(done, total int64) {
			if done < last.Load() {
				t.Errorf("%d done after %d", done, last.Load())
			}
			last.Store(done)
			of.Store(total)
		}})
		if err != nil {
			t.Fatal(err)
		}
		if last.Load() != of.Load() || of.Load() != 10 {
			t.Errorf("%d of %d done at the end, want 10", last.Load(), of.Load())
		}
	}
}
