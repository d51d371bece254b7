package machine_test

import (
	"errors"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// quota gives a group so much of every period.
func (st *stage) quota(g *sched.Group, quota, period, burst event.Time) {
	st.t.Helper()
	if _, err := st.m.Sched.SetQuota(0, g, quota, period, burst); err != nil {
		st.t.Fatal(err)
	}
}

// plain is a machine with groups, where ticks do not matter.
func plain(cpus int) machine.Config {
	return machine.Config{Sched: sched.DefaultConfig(cpus), DLTimerEvents: true}
}

// TestQuotaOfOneGroup: a hog with 20 ms of 100 runs 20 ms, up to the next tick, and pays back what
// it had more.
func TestQuotaOfOneGroup(t *testing.T) {
	st := newStage(t, plain(1))
	g := st.m.Sched.NewGroup(nil)
	st.quota(g, 20*ms, 100*ms, 0)
	st.add("hog", sched.Attr{}, nil, work(s))
	st.in(g, "hog")
	st.play(310 * ms).want(`0 0 hog
		20000 0 idle
		100000 0 hog
		120000 0 idle
		200000 0 hog
		220000 0 idle
		300000 0 hog`)
}

// TestQuotaVerdicts: what the kernel refuses.
func TestQuotaVerdicts(t *testing.T) {
	cfg := plain(1)
	cfg.Sched.Fair.QuotaBurst = true
	for _, v1 := range []bool{false, true} {
		cfg.Sched.CGroup1 = v1
		st := newStage(t, cfg)
		sc := st.m.Sched
		top := sc.NewGroup(nil)
		below := sc.NewGroup(top)
		set := func(g *sched.Group, quota, period, burst event.Time, want error) {
			t.Helper()
			if _, err := sc.SetQuota(0, g, quota, period, burst); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("cgroup v1 %v: %d of %d, burst %d: %v, want %v", v1, quota, period, burst, err, want)
			}
		}
		set(nil, 20*ms, 100*ms, 0, sched.ErrInval)
		set(top, ms-1, 100*ms, 0, sched.ErrInval)
		set(top, 20*ms, ms-1, 0, sched.ErrInval)
		set(top, 20*ms, s+1, 0, sched.ErrInval)
		set(top, 20*ms, 100*ms, 20*ms+1, sched.ErrInval)
		set(top, 20*ms, 100*ms, 20*ms, nil)
		set(below, 10*ms, 50*ms, 0, nil)
		above := error(nil)
		if v1 {
			above = sched.ErrInval
		}
		set(below, 11*ms, 50*ms, 0, above)
		set(top, 200*ms, 100*ms, 0, nil)
		set(below, 150*ms, 100*ms, 0, nil)
		set(top, 100*ms, 100*ms, 0, above)
		set(top, -1, 100*ms, 0, nil)
	}
}

// TestQuotaKeepsTheTick: with NO_HZ_FULL a task that is alone has no tick, but from 6.6 on if it, or a
// group above it, has a quota.
func TestQuotaKeepsTheTick(t *testing.T) {
	for _, c := range []struct {
		name   string
		quota  event.Time
		keeps  bool
		before int
	}{
		{"no quota", -1, true, 0},
		{"a quota above", 500 * ms, true, 10},
		{"a quota above, before 6.6", 500 * ms, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := machine.Config{Sched: sched.DefaultConfig(1), NoHZ: machine.NoHZFull}
			cfg.Sched.Tick, cfg.Sched.Fair.QuotaKeepsTick = 1*ms, c.keeps
			cfg.Sched.StatRuntimeRT = true
			st := newStage(t, cfg)
			top := st.m.Sched.NewGroup(nil)
			st.quota(top, c.quota, s, 0)
			g := st.m.Sched.NewGroup(top)
			st.add("hog", sched.Attr{}, nil, work(s))
			st.in(g, "hog")
			st.play(10*ms + us)
			if n := st.ticks(0); n != c.before {
				t.Errorf("%d ticks, want %d", n, c.before)
			}
		})
	}
}
