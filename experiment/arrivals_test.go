package experiment_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// busy is a load of all sorts: real-time tasks with a lock, a fair one that takes it too, one
// that sleeps for a time, an interrupt and a task that waits for it.
const busy = `{"global":{"duration":1,"default_policy":"SCHED_FIFO","pi_enabled":true},"tasks":{
"hi":   {"priority":90,"timer":{"ref":"unique","period":7000,"mode":"absolute"},"run":900},
"ctl":  {"priority":80,"timer":{"ref":"unique","period":20000,"mode":"absolute"},"lock":"m","run":500,"unlock":"m","run1":300},
"ans":  {"priority":75,"sem_wait":"data","run":200},
"log":  {"policy":"SCHED_OTHER","lock":"m","run":1500,"unlock":"m","run1":700,"sleep":9000},
"fair": {"policy":"SCHED_OTHER","run":2000,"timer":{"ref":"unique","period":15000}}},
"whylate":{"kernel":"6.1","irqs":{"14-pata":{"every":5000,"hard":40,"threaded":true,"work":300,"post":"data"}}}}`

func busyPlan(t interface{ Fatal(...any) }) *scenario.Plan {
	p, err := scenario.Read("busy.json", []byte(busy), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.Load.Duration = 150_000_000
	return p
}

// anywhere is a random point, with most axes as they are.
func anywhere(r *rand.Rand, a *experiment.Arrivals) []event.Time {
	at := a.Base()
	for k, x := range a.Axes() {
		if r.IntN(3) == 0 {
			at[k] = event.Time(r.Int64N(int64(x.Max)/4 + 1))
		}
	}
	return at
}

// TestTheStorySumsToTheWorst: to the ns, and causes to each wait; what explain calls the wait
// or lateness is what was measured.
func TestTheStorySumsToTheWorst(t *testing.T) {
	blocked, slack, preempted := 0, 0, 0
	one := func(t interface {
		Fatal(...any)
		Fatalf(string, ...any)
	}, seed uint64, task string, what experiment.What) {
		r := rand.New(rand.NewPCG(seed, 5))
		a, err := experiment.NewArrivals(busyPlan(t), task, experiment.VaryAll)
		if err != nil {
			t.Fatal(err)
		}
		at := anywhere(r, a)
		seen, err := a.Measure(context.Background(), at, what, false)
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.Story(context.Background(), at, what, false)
		if err != nil {
			t.Fatal(err)
		}
		if s.WorstNS != int64(seen.Value) {
			t.Fatalf("story of %d ns, measured %d", s.WorstNS, seen.Value)
		}
		sum := s.WaitsNS + s.WakeNS
		if what == experiment.Response {
			sum += s.SlackNS + s.BlockedNS + s.OwnNS
			for _, b := range s.Blocked {
				s.BlockedNS -= b.NS
				blocked++
			}
		} else if len(s.Waits) != 1 && s.WorstNS > 0 {
			t.Fatalf("%d waits", len(s.Waits))
		}
		if sum != s.WorstNS || s.SlackNS < 0 || s.OwnNS < 0 || s.BlockedNS < 0 || s.BlockedNS != 0 && !s.Open {
			t.Fatalf("%s of %s: waits %d, slack %d, blocked %d more than who ran, own %d: together %d of %d", what, task, s.WaitsNS, s.SlackNS, s.BlockedNS, s.OwnNS, sum, s.WorstNS)
		}
		if s.WakeNS > 10_000 {
			t.Fatalf("%s of %s: the events do not tell %d ns of a late wake", what, task, s.WakeNS)
		}
		if s.SlackNS > 0 {
			slack++
		}
		for _, w := range s.Waits {
			ns := w.LatenessNS
			for _, c := range w.Causes {
				ns -= c.NS
			}
			if ns != 0 {
				t.Fatalf("wait %s: causes are %d short of %d", w.ID, ns, w.LatenessNS)
			}
			if w.WaitKind == "preempted" {
				preempted++
			}
		}
	}
	// These meet every kind; the random ones need not.
	for _, task := range []string{"ctl", "ans", "log"} {
		for seed := range uint64(4) {
			for what := range experiment.What(3) {
				one(t, seed, task, what)
			}
		}
	}
	if blocked == 0 || slack == 0 || preempted == 0 {
		t.Errorf("%d blocked, %d with slack, %d preempted: not all was met", blocked, slack, preempted)
	}
	rapid.Check(t, func(t *rapid.T) {
		one(t, rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]string{"ctl", "ans", "log", "fair", "hi"}).Draw(t, "task"), experiment.What(rapid.IntRange(0, 2).Draw(t, "what")))
	})
}

// TestFoundArrivalsAreReplayed: the text with the changes in it gives the same number, and so
// does the plan with the changes made one by one.
func TestFoundArrivalsAreReplayed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		task := rapid.SampledFrom([]string{"ctl", "ans", "log"}).Draw(t, "task")
		vary := experiment.Vary(rapid.IntRange(0, 2).Draw(t, "vary"))
		text := []byte(busy)
		for range 2 { // a second time from the arrivals of the first
			p, err := scenario.Read("busy.json", text, scenario.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p.Load.Duration = 150_000_000
			a, err := experiment.NewArrivals(p, task, vary)
			if err != nil {
				t.Fatal(err)
			}
			at := anywhere(r, a)
			if text, err = scenario.Amend("busy.json", text, append(append([]string{}, p.Always...), a.Changes(at)...), "", false); err != nil {
				t.Fatal(err)
			}
			q, err := scenario.Read("again.json", text, scenario.Options{})
			if err != nil {
				t.Fatal(err)
			}
			q.Load.Duration = 150_000_000
			b, err := experiment.NewArrivals(q, task, vary)
			if err != nil {
				t.Fatal(err)
			}
			for _, what := range []experiment.What{experiment.Response, experiment.Wait} {
				want, err1 := a.Measure(context.Background(), at, what, false)
				got, err2 := b.Measure(context.Background(), b.Base(), what, false)
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("%s with %v (-found +replayed):\n%s", what, a.Changes(at), d)
				}
			}
			if d := cmp.Diff(at, b.Base()); d != "" {
				t.Fatalf("(-point +base of the replay)\n%s", d)
			}
		}
	})
}

func hunt(t *testing.T, h experiment.Hunt) *result.WorstCase {
	t.Helper()
	if h.Plan == nil {
		h.Plan = busyPlan(t)
	}
	r, err := h.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func bytesOf(t *testing.T, r *result.WorstCase) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestHuntsDoNotDependOnTheProcessors, to the byte.
func TestHuntsDoNotDependOnTheProcessors(t *testing.T) {
	want := bytesOf(t, hunt(t, experiment.Hunt{Task: "ctl", Budget: 400, Workers: 1, Vary: experiment.VaryAll, Seed: 3}))
	for _, workers := range []int{2, 5} {
		got := bytesOf(t, hunt(t, experiment.Hunt{Task: "ctl", Budget: 400, Workers: workers, Vary: experiment.VaryAll, Seed: 3}))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d workers (-1 +these)\n%s", workers, d)
		}
	}
}

// TestHuntsGoOn: after an interruption the file holds what was done, and the answer is to the
// byte that of a hunt that ran through. A file of another hunt is refused.
func TestHuntsGoOn(t *testing.T) {
	base := experiment.Hunt{Task: "ctl", Budget: 500, Vary: experiment.VaryArrivals, Seed: 3}
	want := bytesOf(t, hunt(t, base))
	file := filepath.Join(t.TempDir(), "state")
	for _, stop := range []int{100, 200, 1 << 30} {
		h := base
		h.Plan, h.State = busyPlan(t), file
		ctx, cancel := context.WithCancel(context.Background())
		h.Progress = func(p experiment.Progress) {
			if p.Done >= stop {
				cancel()
			}
		}
		r, err := h.Run(ctx)
		cancel()
		if stop < 1<<30 {
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("stopped after %d: %v", stop, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, bytesOf(t, r)); d != "" {
			t.Errorf("(-through +resumed)\n%s", d)
		}
	}
	for name, h := range map[string]experiment.Hunt{
		"is of another search":    {Task: "hi", Budget: 500, Vary: experiment.VaryArrivals, Seed: 3},
		"is of another search: ":  {Task: "ctl", Budget: 500, Vary: experiment.VaryArrivals, Seed: 4},
		"is of another search: t": {Task: "ctl", Budget: 500, Vary: experiment.VaryArrivals, Seed: 3, Key: "other text"},
	} {
		h.Plan, h.State = busyPlan(t), file
		if _, err := h.Run(context.Background()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(file, []byte(`{"tasks":{}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	h := base
	h.Plan, h.State = busyPlan(t), file
	if _, err := h.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "no state of a search") {
		t.Errorf("a scenario as state: %v", err)
	}
	left, err := filepath.Glob(file + ".*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestTheArrivalsOfWhoIsWokenAreThoseOfItsInterrupt: ans waits for a semaphore, so the hunt moves
// the interrupt; its worst is where hi comes at once with it.
func TestTheArrivalsOfWhoIsWokenAreThoseOfItsInterrupt(t *testing.T) {
	a := arrivals(t, busyPlan(t), "ans", experiment.VaryArrivals)
	var names []string
	for _, x := range a.Axes() {
		names = append(names, x.Name)
	}
	if d := cmp.Diff([]string{"ans starts", "pata starts"}, names); d != "" {
		t.Errorf("axes (-want +got)\n%s", d)
	}
	r := hunt(t, experiment.Hunt{Task: "ans", Budget: 600, Vary: experiment.VaryArrivals, What: experiment.Wait})
	if len(r.Search.Improved) < 2 || r.WorstNS < 900_000 || !strings.Contains(fmt.Sprint(r.Arrivals.Changes), "arrivals=irq/pata delay=") {
		t.Errorf("%d ns with %v after %+v", r.WorstNS, r.Arrivals.Changes, r.Search.Improved)
	}
}

func TestATaskThatIsNotThere(t *testing.T) {
	for name, want := range map[string]string{
		"ctk": `no task of the scenario is called "ctk"; did you mean ctl?; there are hi, ctl, ans, log, fair`,
		"":    `no task of the scenario is called ""; there are hi, ctl, ans, log, fair`,
	} {
		if _, err := experiment.NewArrivals(busyPlan(t), name, experiment.VaryAll); err == nil || err.Error() != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	if a := arrivals(t, busyPlan(t), "ctl-1", experiment.VaryPhase); a.Task() != 1 {
		t.Errorf("the thread ctl-1 is of task %d", a.Task())
	}
}

// TestWhereTheoryHasNoBound it says why.
func TestWhereTheoryHasNoBound(t *testing.T) {
	for _, c := range []struct{ task, change, want string }{
		{"ctl", "", "the machine's own work takes time"},
		{"ctl", "kernel=6.12", "the machine's own work takes time"},
	} {
		p := busyPlan(t)
		if c.change != "" {
			if err := p.Change(c.change); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := arrivals(t, p, c.task, experiment.VaryAll).Bound(experiment.Response); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.task, c.change, err)
		}
	}
	ideal := func(body, more string) *scenario.Plan {
		p, err := scenario.Read("x.json", []byte(`{"global":{"duration":1,"default_policy":"SCHED_FIFO"},"tasks":{`+body+`},"whylate":{"cost_table":"zero"`+more+`}}`), scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const ctl = `"ctl":{"priority":80,"run":500,"timer":{"ref":"unique","period":20000,"mode":"absolute"}}`
	for body, want := range map[string]string{
		ctl: "",
		`"ctl":{"policy":"SCHED_OTHER","run":500,"sleep":5000}`:                                                                                "no fixed real-time priority",
		ctl + `,"b":{"priority":90,"run":500}`:                                                                                                 "task b: it never sleeps",
		ctl + `,"b":{"priority":90,"phases":{"x":{"run":1,"sleep":9},"y":{"run":2}}}`:                                                          "task b: it has several phases",
		ctl + `,"b":{"priority":90,"run":500,"sleep":900,"run1":5,"sleep1":77}`:                                                                "task b: it sleeps more than once",
		ctl + `,"b":{"priority":90,"sem_wait":"s"},"c":{"priority":9,"sem_post":"s","sleep":9}`:                                                "task b: it does more than work, sleep and lock",
		ctl + `,"b":{"policy":"SCHED_DEADLINE","dl-runtime":2000,"dl-period":90000,"run":500,"sleep":9}`:                                       "task b: SCHED_DEADLINE goes before",
		ctl + `,"b":{"priority":90,"run":800,"timer":{"ref":"unique","period":801}}`:                                                           "real-time tasks may be throttled",
		ctl + `,"b":{"priority":9,"run":800}`:                                                                                                  "real-time tasks of lower priority may use up",
		ctl + `,"b":{"priority":90,"run":800,"timer":{"ref":"t","period":9801}},"c":{"priority":99,"run":8,"timer":{"ref":"t","period":9801}}`: "it shares its timer",
	} {
		kernel := `,"kernel":"6.1"`
		_, err := arrivals(t, ideal(body, kernel), "ctl", experiment.VaryAll).Bound(experiment.Response)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}
