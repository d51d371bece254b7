package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// core411 is a machine of 4 cores with two threads each whose loads a test writes down. A thread
// has a capacity of 1178/2 = 589, a core 1178.
type core411 struct {
	*Sched
	sd map[domainLevel]*schedDomain // of CPU 0
}

func newCore411(t *testing.T) *core411 {
	t.Helper()
	c := DefaultConfig(8)
	c.Quiet, c.Topology = true, UniformTopology(2, 4, 1, 1)
	c.Fair.PELT411, c.Fair.LoadBalance411, c.Fair.SMTGain = true, true, 1178
	c.Fair.Features = c.Fair.Features.With(LBBias, true).With(UtilEst, false)
	s := &core411{New(c, &quietHost{now: 1_000_000_000}, event.NewNames()), map[domainLevel]*schedDomain{}}
	for sd := s.rqs[0].sd; sd != nil; sd = sd.parent {
		s.sd[sd.level] = sd
	}
	if len(s.sd) != 2 || s.sd[levelSMT] == nil || s.sd[levelMC] == nil {
		t.Fatalf("the machine should have domains SMT and MC: %v", s.sd)
	}
	for _, rq := range s.rqs {
		s.updateCPUCapacity(rq.cpu)
	}
	return s
}

// load gives c tasks that weigh load together and use util of it.
func (s *core411) load(c event.CPU, tasks int, load, util uint64) {
	rq := s.rqs[c]
	rq.nrRunning, rq.cfs.hNrRunning = tasks, tasks
	rq.cfs.runnableLoad.avg, rq.cfs.avg.utilAvg = load, util
	for i := range rq.cpuLoad {
		rq.cpuLoad[i] = int64(load)
	}
	s.idle.put(c, tasks == 0)
}

// look is a pass of CPU 0 over a domain: the CPU to take from, NoCPU if none, and the imbalance.
func (s *core411) look(level domainLevel, idle cpuIdleType) (event.CPU, int64, *BalancePass) {
	env := &lbEnv{sd: s.sd[level], dst: s.rqs[0], idle: idle, cpus: allCPUs(8), pass: &BalancePass{}}
	g := s.findBusiestGroup(env)
	if g == nil {
		return event.NoCPU, env.imbalance, env.pass
	}
	rq := s.findBusiestQueue(env, g)
	if rq == nil {
		return event.NoCPU, env.imbalance, env.pass
	}
	return rq.cpu, env.imbalance, env.pass
}

// The sums are those of 4.11 done by hand.
func TestBusiestBy411(t *testing.T) {
	tests := []struct {
		name      string
		set       func(*core411)
		level     domainLevel
		idle      cpuIdleType
		source    event.CPU
		imbalance int64
	}{
		// Load per capacity of core 1 (two tasks) is 2048·1024/1178 = 1780, of core 2 (three) 2670; the mean of
		// the domain 5120·1024/4712 = 1112. Core 2 can give (2670 − 1112)·1178, core 0 take 1112·1178:
		// the lesser is 1309936/1024 = 1279, more than a task. Both cores are overloaded, since SMT wants its
		// tasks on siblings: the busier one counts, and in it the thread with two tasks.
		{"newidle takes from the core with three", func(s *core411) {
			s.load(2, 1, 1024, 589)
			s.load(3, 1, 1024, 589)
			s.load(4, 1, 1024, 589)
			s.load(5, 2, 2048, 589)
		}, levelMC, cpuNewlyIdle, 5, 1279},
		// The thread: 1024·1024/589 = 1780, the mean 1024·1024/1178 = 890; (1780 − 890)·589/1024 = 511 is less
		// than a task. A task is 1780 per capacity of a thread, twice that is not more than 1780 + 1780:
		// one task should move, which a CPU with only one does not give away.
		{"one task beside an idle thread", func(s *core411) { s.load(1, 1, 1024, 589) }, levelSMT, cpuNewlyIdle, 1, 1024},
		// Two tasks of 1000 on one thread: 2000·1024/589 = 3477, mean 2000·1024/1178 = 1738;
		// (3477 − 1738)·589/1024 = 1000 and 1738·589/1024 = 999. A task is 1000: 999 is less, so it is a
		// matter of small imbalances: 3477 + 1738 ≥ 2·1738: a task.
		{"two tasks beside an idle thread", func(s *core411) { s.load(1, 2, 2000, 589) }, levelSMT, cpuNewlyIdle, 1, 1000},
		// Every core has one task but that of CPU 0, and nobody two: with its 2 idle CPUs it has no more than one
		// more than the others.
		{"idle, one more idle CPU", func(s *core411) {
			for c := event.CPU(2); c < 8; c += 2 {
				s.load(c, 1, 1024, 589)
			}
		}, levelMC, cpuIdle, event.NoCPU, 0},
		// 117 percent: 1178 of load on core 0 are 1024 per capacity; 1378 on core 1 are 1197, and 1198 would be
		// more than 1.17·1024 = 1198.08: not yet. The other cores have the same, or the mean would be below.
		{"busy, 117 percent", func(s *core411) {
			s.load(0, 1, 1178, 589)
			for c := event.CPU(2); c < 8; c += 2 {
				s.load(c, 1, 1378, 589)
			}
		}, levelMC, cpuNotIdle, event.NoCPU, 0},
		// 1380 are 1199: more. The mean is (1178 + 3·1380)·1024/4712 = 1155; (1199 − 1155)·1178/1024 = 50 is less
		// than a task. Tasks of core 1 weigh more than that of core 0, so that groups need be apart by one only:
		// 1199 + 1199 ≥ 1024 + 1199. A task of 1380 should move, and there is only one on CPU 2, not more.
		{"busy, more than 117 percent", func(s *core411) {
			s.load(0, 1, 1178, 589)
			for c := event.CPU(2); c < 8; c += 2 {
				s.load(c, 1, 1380, 589)
			}
		}, levelMC, cpuNotIdle, 2, 1380},
		// The same load, but some ticks ago it was less: sources count by the lower one.
		{"busy, not for long", func(s *core411) {
			s.load(0, 1, 1178, 589)
			for c := event.CPU(2); c < 8; c += 2 {
				s.load(c, 1, 1380, 589)
				s.rqs[c].cpuLoad[1] = 1300
			}
		}, levelMC, cpuNotIdle, event.NoCPU, 0},
		// Affinity was in the way in core 1: it goes before core 2, which has more load. The mean is (2·1024 +
		// 1100)·1024/4712 = 684, a task of core 1 counts as no more than that. (890 − 684)·1178/1024 = 236 is
		// less: 684·1024/1178 = 594 per capacity, and 890 + 594 ≥ 0 + 2·594: a task of 684. That of CPU 2 is
		// heavier and alone.
		{"imbalanced", func(s *core411) {
			s.load(2, 1, 1024, 300)
			s.load(4, 1, 1100, 300)
			s.load(6, 1, 1024, 300)
			s.sd[levelMC].groups.next.capacity.imbalance = 1
		}, levelMC, cpuNewlyIdle, event.NoCPU, 684},
	}
	for _, tt := range tests {
		s := newCore411(t)
		tt.set(s)
		source, imbalance, _ := s.look(tt.level, tt.idle)
		if source != tt.source || imbalance != tt.imbalance {
			t.Errorf("%s: CPU %d, imbalance %d, want %d, %d", tt.name, source, imbalance, tt.source, tt.imbalance)
		}
	}
}

// What a listener is told, and that a choice is called wrong if what is queued would have led to a CPU where
// a task waits. The root of CPU 3 does not know of the second of its tasks yet, which are in a group.
func TestWrongChoiceBy411(t *testing.T) {
	s := newCore411(t)
	queue := func(c event.CPU, loads ...uint64) {
		for _, load := range loads {
			p := s.newTask(event.PID(c)+1, 0, Normal, c)
			p.se.load = weightOf(&Attr{})
			p.se.onRQ = true
			p.se.avg.loadAvg, p.se.avg.lastUpdateTime = load, s.rqs[c].cfs.avg.lastUpdateTime
			p.se.cfsRQ = &s.rqs[c].cfs
			s.rqs[c].linkTask(p)
		}
	}
	s.load(2, 1, 900, 589)
	queue(2, 900)
	s.load(3, 2, 900, 589)
	queue(3, 900, 600)
	s.load(4, 1, 1000, 589)
	queue(4, 1000)
	s.load(5, 1, 250, 589)
	queue(5, 250)
	s.load(6, 1, 900, 589)
	queue(6, 900)

	source, _, p := s.look(levelMC, cpuNewlyIdle)
	if source != 3 || p.Wrong || p.Better != 3 || p.Source != 3 || p.Busiest != 1 || !p.Judged {
		t.Errorf("core 1 has the most by either measure: CPU %d, %+v", source, p)
	}
	s.load(2, 1, 0, 589) // CPU 2 looks as if it had nothing, and core 1 less busy than core 2
	source, _, p = s.look(levelMC, cpuNewlyIdle)
	if source != 5 || !p.Wrong || p.Better != 3 || p.Source != 5 || p.Busiest != 2 {
		t.Errorf("core 2 has less than core 1, which does not look so: CPU %d, %+v", source, p)
	}
	if len(p.Groups) != 4 || len(p.Queues) != 2 || p.Metric != "load" {
		t.Fatalf("what it compared: %+v", p)
	}
	if g := p.Groups[1]; g.Load != 900 || g.Running != 3 || g.Type != "overloaded" || g.Capacity != 1178 || g.Local || g.CPUs[0] != 2 {
		t.Errorf("core 1: %+v", g)
	}
	if q := p.Queues[0]; q.CPU != 4 || q.Load != 1000 || q.Runnable != 1000 || q.Running != 1 || q.Capacity != 589 {
		t.Errorf("CPU 4: %+v", q)
	}
	s.load(5, 2, 250, 589) // now one waits in core 2, too: the choice helps somebody
	s.load(4, 0, 0, 0)
	s.load(2, 0, 0, 0)
	s.load(3, 2, 200, 589)
	if source, _, p = s.look(levelMC, cpuNewlyIdle); source != 5 || p.Wrong || p.Better != 3 {
		t.Errorf("a task waits on either: CPU %d, %+v", source, p)
	}
}
