package machine_test

import (
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// TestPartitionsBalanceAmongThemselves: no pass of the balancer reaches over a partition or to an isolated
// CPU, and CPUs of nohz_full do not balance for others.
func TestPartitionsBalanceAmongThemselves(t *testing.T) {
	cfg := machine.Config{Sched: sched.DefaultConfig(8), NoHZ: machine.NoHZFull, NoHZFullCPUs: []event.CPU{2}}
	cfg.Sched.Topology = sched.UniformTopology(2, 2, 2, 1)
	cfg.Sched.Isolated, cfg.Sched.Partitions = []event.CPU{7}, [][]event.CPU{{0, 1, 4}}
	sides := [][]event.CPU{{0, 1, 4}, {2, 3, 5, 6}}
	m := machine.New(cfg, event.NewNames(), nil)
	passes := make([]int, 8)
	m.Sched.OnBalance(func(p *sched.BalancePass) {
		passes[p.CPU]++
		side := sides[0]
		if !slices.Contains(side, p.CPU) {
			side = sides[1]
		}
		for _, c := range append(slices.Clone(p.Span), p.CPU) {
			if !slices.Contains(side, c) {
				t.Errorf("CPU %d balances over %v", p.CPU, p.Span)
			}
		}
		if p.By == 2 && p.CPU != 2 {
			t.Errorf("CPU 2, which should be left alone, balances for CPU %d", p.CPU)
		}
	})
	for i := range 24 {
		th, err := m.Spawn(0, "w", sched.Attr{}, nil, &worker{run: 700*us + event.Time(i)*130*us, sleep: 900*us + event.Time(i%5)*400*us})
		if err != nil {
			t.Fatal(err)
		}
		m.Start(event.CPU(i%7), th)
	}
	if err := m.RunUntil(2_000 * ms); err != nil {
		t.Fatal(err)
	}
	for c, n := range passes {
		if (n > 0) != (c != 7) {
			t.Errorf("%d passes for CPU %d", n, c)
		}
	}
}

// TestWhoBalancesForTheIdle: of CPUs that idle without a tick the first is asked to balance for all, but for
// those of nohz_full.
func TestWhoBalancesForTheIdle(t *testing.T) {
	cfg := machine.Config{Sched: sched.DefaultConfig(6), NoHZ: machine.NoHZFull, NoHZFullCPUs: []event.CPU{2}}
	cfg.Sched.Isolated = []event.CPU{3}
	m := machine.New(cfg, event.NewNames(), nil)
	var by [6]int // passes for others
	m.Sched.OnBalance(func(p *sched.BalancePass) {
		if p.By != p.CPU {
			by[p.By]++
		}
	})
	for i := range event.CPU(4) {
		th, err := m.Spawn(0, "hog", sched.Attr{}, []event.CPU{i % 2}, &worker{run: 50 * ms, sleep: 1 * us})
		if err != nil {
			t.Fatal(err)
		}
		m.Start(i%2, th)
	}
	if err := m.RunUntil(2_000 * ms); err != nil {
		t.Fatal(err)
	}
	if by[4] == 0 || by[2]+by[3]+by[5] > 0 {
		t.Errorf("passes for other CPUs, by the CPU that made them: %v, want all by CPU 4", by)
	}
}

// TestRealTimeTasksStayInTheirRootDomain: they are neither pushed nor pulled out of it although they may run
// anywhere, and within it, also on isolated CPUs, the most important ones run.
func TestRealTimeTasksStayInTheirRootDomain(t *testing.T) {
	for _, ipi := range []bool{false, true} {
		cfg := quiet(6)
		cfg.Sched.Isolated, cfg.Sched.Partitions = []event.CPU{4, 5}, [][]event.CPU{{2, 3}}
		cfg.Sched.RTPushIPI = ipi
		st := newStage(t, cfg)
		for i, prio := range []int{10, 20, 30} {
			for _, c := range []event.CPU{2, 4} {
				st.add(string(rune('a'+i))+string(rune('0'+c)), fifo(prio), []event.CPU{c, 0, 1, 7 - c, 6 - c, c + 1}, work(20*ms))
			}
		}
		st.play(20*ms + 1)
		for name, want := range map[string]event.CPU{"a2": 2, "b2": 2, "c2": 2, "a4": 4, "b4": 4, "c4": 4} {
			if c := st.threads[name].Task.CPU(); c/2 != want/2 {
				t.Errorf("RT_PUSH_IPI %v: %s went to CPU %d", ipi, name, c)
			}
		}
		for _, name := range []string{"b2", "c2", "b4", "c4"} {
			if ran := st.threads[name].Task.SumExecRuntime(); ran != 20*ms {
				t.Errorf("RT_PUSH_IPI %v: %s has run for %d ns of its 20 ms", ipi, name, ran)
			}
		}
	}
}
