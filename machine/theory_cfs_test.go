package machine_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// cfsWeights are those of nice values as sched(7) and the kernel's interface have them.
var cfsWeights = map[int]int64{-20: 88761, -10: 9548, -5: 3121, -1: 1277, 0: 1024, 1: 820, 3: 526, 5: 335, 10: 110, 19: 15}

// cfsKernels are the rules of 6.1 and of 4.11.
func cfsKernels() map[string]sched.FairConfig {
	now := sched.DefaultFair(1)
	old := now
	old.IdleEntities, old.LongSleepers, old.IdleMinGranularity = false, false, 0
	old.MinVruntimeOnSave, old.PickClearsBuddies, old.WeightsToZero, old.PELT411 = true, true, true, true
	old.Features = old.Features.With(sched.AltPeriod, false).With(sched.BaseSlice, false)
	return map[string]sched.FairConfig{"6.1": now, "4.11": old}
}

// shares runs hogs on one CPU and returns what each ran from 1 s to 21 s, up to its last charge.
func shares(t *testing.T, fair sched.FairConfig, build func(m *machine.Machine) []*machine.Thread) []event.Time {
	t.Helper()
	cfg := machine.Config{Sched: sched.DefaultConfig(1)}
	cfg.Sched.Fair, cfg.Sched.Quiet = fair, true
	m := machine.New(cfg, event.NewNames(), nil)
	threads := build(m)
	var ran []event.Time
	for _, until := range []event.Time{s, 21 * s} {
		if err := m.RunUntil(until); err != nil {
			t.Fatal(err)
		}
		m.Sched.ChargeCurrent(0)
		for i, th := range threads {
			if until == s {
				ran = append(ran, -th.Task.SumExecRuntime())
			} else {
				ran[i] += th.Task.SumExecRuntime()
			}
		}
	}
	return ran
}

func hog(t *testing.T, m *machine.Machine, a sched.Attr, g *sched.Group) *machine.Thread {
	t.Helper()
	th, err := m.Spawn(0, "hog", a, nil, &worker{run: 1000 * s})
	if err != nil {
		t.Fatal(err)
	}
	if g != nil {
		if _, err := m.Sched.Attach(0, th.Task, g); err != nil {
			t.Fatal(err)
		}
	}
	m.Start(0, th)
	return th
}

// within compares what was run with shares of 20 s: one slice and one tick may be missing or too
// much.
func within(t *testing.T, what string, got []event.Time, weights []int64, slice func(i int) event.Time) {
	t.Helper()
	sum := int64(0)
	for _, w := range weights {
		sum += w
	}
	for i, ran := range got {
		want := event.Time(int64(20*s) / 1000 * weights[i] / sum * 1000)
		if off := max(ran-want, want-ran); off > slice(i)+4*ms {
			t.Errorf("%s: number %d of weight %d of %d ran %d ns, should %d: %d off, a slice is %d", what, i, weights[i], sum, ran, want, off, slice(i))
		}
	}
}

// TestCFSSharesByWeight: hogs of any nice values get their shares of a CPU to one slice and
// one tick, however long it takes.
func TestCFSSharesByWeight(t *testing.T) {
	for name, fair := range cfsKernels() {
		for _, mix := range [][]int{{0, 0}, {0, 5}, {-5, 0, 5, 10}, {0, 19}, {-20, 0, 19}, {-10, -5, -1, 0, 1, 3, 5, 10}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 10}} {
			weights := make([]int64, len(mix))
			sum := int64(0)
			got := shares(t, fair, func(m *machine.Machine) (list []*machine.Thread) {
				for i, nice := range mix {
					weights[i] = cfsWeights[nice]
					sum += weights[i]
					list = append(list, hog(t, m, sched.Attr{Nice: nice}, nil))
				}
				return list
			})
			within(t, name, got, weights, func(i int) event.Time {
				period := 6 * ms
				if len(mix) > 8 {
					period = event.Time(len(mix)) * 750 * us
				}
				return max(event.Time(int64(period)*weights[i]/sum), 750*us)
			})
		}
	}
}

// TestCFSGroupShares: groups of weights 1 to 3 share a CPU like that whatever is in them, and the tasks
// of each by their own weights; groups within them as well.
func TestCFSGroupShares(t *testing.T) {
	for name, fair := range cfsKernels() {
		got := shares(t, fair, func(m *machine.Machine) []*machine.Thread {
			a, b := m.Sched.NewGroup(nil), m.Sched.NewGroup(nil)
			inner := m.Sched.NewGroup(b) // it weighs 1024, as the task of nice 0 beside it
			for g, w := range map[*sched.Group]int64{a: 1024, b: 3072} {
				if err := m.Sched.SetShares(g, w); err != nil {
					t.Fatal(err)
				}
			}
			return []*machine.Thread{hog(t, m, sched.Attr{}, a), hog(t, m, sched.Attr{Nice: 5}, a), hog(t, m, sched.Attr{}, b),
				hog(t, m, sched.Attr{}, inner), hog(t, m, sched.Attr{}, inner)}
		})
		// a: 1024 and 335 of a quarter; b: a task and a group of the weight of one, of three quarters.
		quarter := int64(1359 * 2)
		weights := []int64{1024 * 2, 335 * 2, 3 * quarter / 2, 3 * quarter / 4, 3 * quarter / 4}
		within(t, name, got, weights, func(int) event.Time { return 6 * ms })
	}
}

// TestIdleTasksGetWhatIsLeft: SCHED_IDLE weighs 3, so that a hog of nice 0 leaves it 3 of 1027.
func TestIdleTasksGetWhatIsLeft(t *testing.T) {
	for name, fair := range cfsKernels() {
		got := shares(t, fair, func(m *machine.Machine) []*machine.Thread {
			return []*machine.Thread{hog(t, m, sched.Attr{}, nil), hog(t, m, sched.Attr{Policy: sched.Idle}, nil)}
		})
		within(t, name, got, []int64{1024, 3}, func(int) event.Time { return 6 * ms })
	}
}
