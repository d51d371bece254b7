package machine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// member starts a fair task in a group, on c or, with NoCPU, anywhere.
func member(t *testing.T, m *machine.Machine, g *sched.Group, c event.CPU, p machine.Program) {
	t.Helper()
	var cpus []event.CPU
	if c != event.NoCPU {
		cpus = []event.CPU{c}
	}
	th, err := m.Spawn(0, "task", sched.Attr{}, cpus, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Sched.Attach(max(c, 0), th.Task, g); err != nil {
		t.Fatal(err)
	}
	m.Start(max(c, 0), th)
}

// limited makes a group with a quota.
func limited(t *testing.T, m *machine.Machine, parent *sched.Group, quota, period, burst event.Time) *sched.Group {
	t.Helper()
	g := m.Sched.NewGroup(parent)
	if _, err := m.Sched.SetQuota(0, g, quota, period, burst); err != nil {
		t.Fatal(err)
	}
	return g
}

// quotaConfig is a machine with quotas of one of the generations of kernels.
func quotaConfig(r *rand.Rand, cpus int) machine.Config {
	cfg := machine.Config{Sched: sched.DefaultConfig(cpus), DLTimerEvents: true}
	cfg.Sched.Tick = s / event.Time([]int{100, 250, 300, 1000}[r.IntN(4)])
	k := &cfg.Sched.Fair
	k.QuotaBurst, k.QuotaTimersInterleave, k.QuotaTimerSeed = true, r.IntN(2) == 0, r.Uint64()
	k.TaskThrottle = r.IntN(3) == 0
	if k.EEVDF = r.IntN(2) == 0; k.EEVDF {
		k.Features = eevdfFeatures
	}
	return cfg
}

// TestQuotaOverRandomLoads, on 1, 4 and 16 CPUs: in no period does a group run longer than its
// quota, its burst, and on each CPU a slice and a tick; in all of them no longer than the quotas,
// one burst, and a slice and a tick of each CPU, once; and a group that wants more than its quota
// all the time gets all of it, but for that. What it runs is measured by who is current. A
// period is from one expiry of the timer to the next.
func TestQuotaOverRandomLoads(t *testing.T) {
	throttled, met := int64(0), 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 31))
		cpus := []int{1, 4, 16}[r.IntN(3)]
		cfg := quotaConfig(r, cpus)
		period := event.Time(20+r.IntN(180)) * ms
		hogs := r.IntN(cpus + 1)
		quota := max(ms, period*event.Time(max(hogs, 1))*event.Time(5+r.IntN(85))/100)
		burst := event.Time(0)
		if r.IntN(2) == 0 {
			burst = quota * event.Time(r.IntN(100)) / 100
		}
		cfg.Sched.Fair.BandwidthSlice = min(period/10, event.Time(1+r.IntN(5))*ms)
		names, expired := event.NewNames(), false
		m := machine.New(cfg, names, func(ev *event.Event) {
			expired = expired || ev.Kind == event.HrtimerExpireEntry && names.String(ev.Func) == "sched_cfs_period_timer"
		})
		g := limited(t, m, nil, quota, period, burst)
		for c := range hogs {
			member(t, m, g, event.CPU(c), &worker{run: s})
		}
		for range r.IntN(2 * cpus) {
			c := event.NoCPU
			if r.IntN(2) == 0 {
				c = event.CPU(r.IntN(cpus))
			}
			member(t, m, g, c, &worker{run: event.Time(1+r.IntN(20_000)) * us, sleep: event.Time(1+r.IntN(40_000)) * us})
		}
		if err := m.RunUntil(0); err != nil {
			t.Fatal(err)
		}
		k := newMeter(m)
		next := func() bool {
			for expired = false; !expired; {
				if !k.step(t, 100*s) {
					return false
				}
			}
			return true
		}
		next()
		const periods = 40
		slack := event.Time(cpus) * (cfg.Sched.Tick + cfg.Sched.Fair.BandwidthSlice)
		begin := sum(k.fair)
		ended := event.Time(0)
		for ended < periods {
			before, at := sum(k.fair), m.Now()
			if !next() {
				break
			}
			if m.Now()-at > period {
				begin, ended = sum(k.fair), 0 // the timer had stopped: nobody ran
				continue
			}
			ended++
			if ran := sum(k.fair) - before; ran > quota+burst+slack {
				t.Fatalf("seed %d: %d CPUs ran %d in a period, quota %d of %d, burst %d, slice and tick of all %d", seed, cpus, ran, quota, period, burst, slack)
			}
		}
		all := sum(k.fair) - begin
		if all > ended*quota+burst+slack {
			t.Fatalf("seed %d: %d CPUs ran %d in %d periods, quota %d, burst %d", seed, cpus, all, ended, quota, burst)
		}
		if hogs > 0 {
			if met++; all < ended*quota-slack {
				t.Fatalf("seed %d: %d hogs ran %d in %d periods of %d, quota %d, slice and tick of all %d", seed, hogs, all, ended, period, quota, slack)
			}
		}
		stat := m.Sched.QuotaStat(g)
		throttled += stat.Throttled
		if stat.Usage != sum(k.fair) {
			t.Fatalf("seed %d: cpu.stat says %d ns, they were current for %d", seed, stat.Usage, sum(k.fair))
		}
		if stat.Throttled > stat.Periods {
			t.Fatalf("seed %d: throttled in %d of %d periods", seed, stat.Throttled, stat.Periods)
		}
	}
	if throttled < 1000 || met < 50 {
		t.Errorf("%d periods with throttling, %d groups that wanted more: too little was tested", throttled, met)
	}
}

// TestQuotaOfFourThreads: four threads of 12.5 ms with 20 ms of 100 need three periods. On one CPU the
// last ends 10 ms into the third. On four, slices of 5 ms are all of the first period; in the
// second each queue gets 1 ns to go on, and at its next tick, 1 ms in debt, takes 6 ms, so that the last one
// gets 2 and has 5.5 left.
func TestQuotaOfFourThreads(t *testing.T) {
	for _, c := range []struct {
		cpus int
		want event.Time
	}{{4, 205_500 * us}, {16, 205_500 * us}, {1, 210_000 * us}} {
		cfg := machine.Config{Sched: sched.DefaultConfig(c.cpus)}
		cfg.Sched.Tick = ms
		m := machine.New(cfg, event.NewNames(), nil)
		g := limited(t, m, nil, 20*ms, 100*ms, 0)
		last := event.Time(0)
		for i := range 4 {
			left := 12_500 * us
			member(t, m, g, event.CPU(i%c.cpus), machine.ProgramFunc(func(m *machine.Machine, _ *machine.Thread) machine.Step {
				if left == 0 {
					last = m.Now()
					return machine.Step{Kind: machine.StepExit}
				}
				left = 0
				return machine.Step{Kind: machine.StepRun, NS: 12_500 * us}
			}))
		}
		newMeter(m).until(t, s)
		if last != c.want {
			t.Errorf("%d CPUs: the last thread ends at %d µs, want %d", c.cpus, last/us, c.want/us)
		}
		if stat := m.Sched.QuotaStat(g); stat.Usage != 50*ms || stat.Throttled != 2 {
			t.Errorf("%d CPUs: used %d ns, throttled in %d periods; want 50 ms, 2", c.cpus, stat.Usage, stat.Throttled)
		}
	}
}

// TestBurst: 38 ms of work every 200 ms is within 20 ms of 100 on average. With a burst of 20 ms,
// what the idle period left covers it; without, it is throttled each time.
func TestBurst(t *testing.T) {
	for _, burst := range []event.Time{0, 20 * ms} {
		cfg := machine.Config{Sched: sched.DefaultConfig(1)}
		cfg.Sched.Tick, cfg.Sched.Fair.QuotaBurst = ms, true
		m := machine.New(cfg, event.NewNames(), nil)
		g := limited(t, m, nil, 20*ms, 100*ms, burst)
		done := []event.Time{}
		at := 110 * ms
		member(t, m, g, 0, machine.ProgramFunc(func(m *machine.Machine, _ *machine.Thread) machine.Step {
			if m.Now() < at {
				return machine.Step{Kind: machine.StepSleep, NS: at}
			}
			if m.Now() == at {
				return machine.Step{Kind: machine.StepRun, NS: 38 * ms}
			}
			done = append(done, m.Now()-at)
			at += 200 * ms
			return machine.Step{Kind: machine.StepSleep, NS: at}
		}))
		newMeter(m).until(t, 3*s)
		// It begins 10 ms into a period, with 20 ms and the 1 ms that the empty queue has kept; it is
		// throttled for 69, and the other 17 are of the next period.
		late := 107 * ms
		if burst > 0 {
			late = 38 * ms
		}
		for i, d := range done {
			if d != late {
				t.Errorf("burst %d: job %d took %d µs, want %d", burst, i, d/us, late/us)
			}
		}
		stat := m.Sched.QuotaStat(g)
		if throttles := stat.Throttled > 0; throttles != (burst == 0) || len(done) < 10 {
			t.Errorf("burst %d: %d jobs, throttled in %d periods", burst, len(done), stat.Throttled)
		}
		if bursts := stat.Bursts > 0; bursts != (burst > 0) {
			t.Errorf("burst %d: %d bursts of %d ns", burst, stat.Bursts, stat.BurstTime)
		}
	}
}

// TestNestedQuotas: a group gets at most what those above it have, and what one of them leaves is
// for the others.
func TestNestedQuotas(t *testing.T) {
	for _, c := range []struct {
		top, a, b, wantA, wantB event.Time // of 100 ms; want 0: what is left
	}{
		{40, 10, 100, 10, 30}, {40, 10, -1, 10, 30}, {100, 20, 30, 20, 30}, {30, 100, -1, 0, 0},
	} {
		cfg := machine.Config{Sched: sched.DefaultConfig(4)}
		cfg.Sched.Tick = ms
		m := machine.New(cfg, event.NewNames(), nil)
		top := limited(t, m, nil, c.top*ms, 100*ms, 0)
		a := limited(t, m, top, c.a*ms, 100*ms, 0)
		b := limited(t, m, top, c.b*ms, 100*ms, 0)
		for cpu := range event.CPU(4) {
			member(t, m, a, cpu, &worker{run: s})
			member(t, m, b, cpu, &worker{run: s})
		}
		newMeter(m).until(t, 10*s)
		slack := 4 * (cfg.Sched.Tick + cfg.Sched.Fair.BandwidthSlice)
		near := func(name string, got, want event.Time) {
			if d := got - want; d > slack || d < -slack {
				t.Errorf("%d ms above, %d and %d: %s used %d µs in 100 periods, want %d", c.top, c.a, c.b, name, got/us, want/us)
			}
		}
		ua, ub := m.Sched.QuotaStat(a).Usage, m.Sched.QuotaStat(b).Usage
		if all := m.Sched.QuotaStat(top).Usage; all != ua+ub {
			t.Errorf("the group above used %d, those below %d and %d", all, ua, ub)
		}
		if c.wantA == 0 {
			near("all", ua+ub, c.top*100*ms)
			continue
		}
		near("a", ua, c.wantA*100*ms)
		near("b", ub, c.wantB*100*ms)
	}
}

// TestPoolWiderThanItsQuota: eight threads that work 30 ms of 100 with a quota of two CPUs use
// 2.4 CPUs' worth, less than what half of the 16 CPUs could do: they are throttled while those are idle.
func TestPoolWiderThanItsQuota(t *testing.T) {
	m := machine.New(machine.Config{Sched: sched.DefaultConfig(16)}, event.NewNames(), nil)
	g := limited(t, m, nil, 200*ms, 100*ms, 0)
	for c := range event.CPU(8) {
		member(t, m, g, c, &worker{run: 30 * ms, sleep: 70 * ms})
	}
	idleWhile := 0
	k := newMeter(m)
	for k.step(t, 5*s) {
		waits, idle := 0, 0
		for _, th := range m.Threads() {
			if th.Task.QuotaThrottled() {
				waits++
			}
		}
		for c := range event.CPU(16) {
			if m.Sched.IsIdle(c) {
				idle++
			}
		}
		if waits > 0 && idle >= 8 {
			idleWhile++
		}
	}
	stat := m.Sched.QuotaStat(g)
	if stat.Throttled < stat.Periods/4 || idleWhile == 0 {
		t.Errorf("throttled in %d of %d periods, %d times while half of the CPUs were idle", stat.Throttled, stat.Periods, idleWhile)
	}
}

// TestThrottledAtLowUse: twenty threads that wake together once a second and work 8 ms each use
// 16 % of a quota of one CPU, and are throttled every time, since they use 160 ms of a period of
// 100 at once.
func TestThrottledAtLowUse(t *testing.T) {
	m := machine.New(machine.Config{Sched: sched.DefaultConfig(20)}, event.NewNames(), nil)
	g := limited(t, m, nil, 100*ms, 100*ms, 0)
	for c := range event.CPU(20) {
		at := s + 5*ms
		member(t, m, g, c, machine.ProgramFunc(func(m *machine.Machine, _ *machine.Thread) machine.Step {
			if m.Now() == at {
				at += s
				return machine.Step{Kind: machine.StepRun, NS: 8 * ms}
			}
			for m.Now() > at {
				at += s
			}
			return machine.Step{Kind: machine.StepSleep, NS: at}
		}))
	}
	newMeter(m).until(t, 20*s+500*ms)
	stat := m.Sched.QuotaStat(g)
	if stat.Usage != 20*20*8*ms {
		t.Errorf("used %d ns in 20 s", stat.Usage)
	}
	if stat.Throttled < 20 || stat.ThrottledTime < 20*50*ms {
		t.Errorf("throttled in %d periods for %d µs, want once a second at least, for most of the period", stat.Throttled, stat.ThrottledTime/us)
	}
}

// TestStrandedSlices: sixteen threads on as many CPUs that run 0.1 ms one after the other use 1.6 ms of
// 10 in a period. Each CPU takes 5 ms and keeps 1 of them. Where that expires with the period
// (4.18 to 5.3), the tenth finds nothing, in every period; else it is theirs the next time, and only
// the first period is too short.
func TestStrandedSlices(t *testing.T) {
	for _, expire := range []bool{true, false} {
		cfg := machine.Config{Sched: sched.DefaultConfig(16)}
		cfg.Sched.Fair.QuotaSlicesExpire = expire
		m := machine.New(cfg, event.NewNames(), nil)
		g := limited(t, m, nil, 10*ms, 100*ms, 0)
		for c := range event.CPU(16) {
			at := event.Time(c)*4*ms + 10*ms
			member(t, m, g, c, machine.ProgramFunc(func(m *machine.Machine, _ *machine.Thread) machine.Step {
				if m.Now() == at {
					at += 100 * ms
					return machine.Step{Kind: machine.StepRun, NS: 100 * us}
				}
				for m.Now() > at {
					at += 100 * ms
				}
				return machine.Step{Kind: machine.StepSleep, NS: at}
			}))
		}
		newMeter(m).until(t, 10*s)
		stat := m.Sched.QuotaStat(g)
		if share := stat.Throttled * 100 / stat.Periods; expire && share < 90 || !expire && stat.Throttled > 1 {
			t.Errorf("slices expire %v: throttled in %d of %d periods", expire, stat.Throttled, stat.Periods)
		}
	}
}
