package whatif

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/result"
)

// TestPredictRecordedThrottling: the recorded answer is that with the hog out of the real-time
// class nobody is throttled, and that the priority of the victim changes nothing.
func TestPredictRecordedThrottling(t *testing.T) {
	file := shared.Path(t, "traces/rt-throttle-v61rt-smp1/throttle950000.dat")
	o := everything(file)
	o.Tasks = []string{"hi25"}
	r, s, err := Predict(context.Background(), open(t, file), o, [][]string{{"task=burn22 policy=other"}, {"task=hi25 prio=90"}})
	if err != nil {
		t.Fatal(err)
	}
	find := func(c *result.Changed) *result.Prediction {
		for i := range c.Late {
			if c.Late[i].ID == "132@12.218611" {
				return &c.Late[i]
			}
		}
		t.Fatalf("the wait is not among %+v", c.Late)
		return nil
	}
	if p := find(&r.Changes[0]); p.Withheld != "" || p.AfterNS > 50_000 || r.Changes[0].Sum.Shorter != 1 {
		t.Errorf("without the hog: %+v, %+v", p, r.Changes[0].Sum)
	}
	if p := find(&r.Changes[1]); p.Withheld != "" || p.AfterNS < 39_000_000 || r.Changes[1].Sum.Same != 1 {
		t.Errorf("with another priority: %+v, %+v", p, r.Changes[1].Sum)
	}
	for i := range r.Late {
		if p := r.Changes[0].Late[i]; r.Late[i].Class == "fair" && p.Withheld == "" {
			t.Errorf("a fair wait is answered: %+v", p)
		}
	}
	// The events of the changed run tell the same.
	l, err := s.Changed([]string{"task=burn22 policy=other"})
	if err != nil {
		t.Fatal(err)
	}
	run, err := l.Source()
	if err != nil {
		t.Fatal(err)
	}
	g, err := Gate(run, everything("run"), parsed(t, []string{"hi25:max<50us", "hi25:rt_throttled==0"}))
	if err != nil || g.Status != StatusOK {
		t.Errorf("%v: %+v", err, g)
	}
}

// TestFidelityOfARecording has the numbers of the definitions: decisions with their baseline,
// waits, what was assumed; by task and by class they add up to the same.
func TestFidelityOfARecording(t *testing.T) {
	file := shared.Path(t, "traces/rt-throttle-v61rt-smp1/throttle950000.dat")
	r, _, err := Fidelity(open(t, file), everything(file))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Assumed) == 0 || len(r.Decisions) == 0 || r.Waits.Late == 0 || r.Waits.Answerable > r.Waits.Late {
		t.Errorf("%+v", r)
	}
	for _, d := range r.Decisions {
		if d.Agree > d.N || d.Baseline > d.N {
			t.Errorf("%+v", d)
		}
	}
	waits := make(map[string]int64)
	for _, c := range r.Waits.Tasks {
		waits[c.Class] += c.Waits
		if c.Comm == "" {
			t.Errorf("a row without a name: %+v", c)
		}
	}
	for _, c := range r.Waits.Classes {
		if waits[c.Class] != c.Waits {
			t.Errorf("%s: %d waits by task, %d by class", c.Class, waits[c.Class], c.Waits)
		}
	}
}

// TestTheDocumentedBudget: the file in docs/budgets.md can be read.
func TestTheDocumentedBudget(t *testing.T) {
	doc, err := os.ReadFile("../docs/budgets.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(doc), "```\n{\"budgets\"")
	text, _, end := strings.Cut(rest, "```")
	if !ok || !end {
		t.Fatal("no budgets in it")
	}
	list, err := ParseBudget([]byte("{\"budgets\"" + text))
	if err != nil || len(list) != 3 || list[1].Text != "hi25:response.max<=9ms" {
		t.Errorf("%v: %+v", err, list)
	}
}
