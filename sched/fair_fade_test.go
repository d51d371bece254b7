package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// TestLoadOfACPUIsNotLate: with many groups that only fade, the load of a CPU and of its queues with tasks is the
// same as if all were brought up to date every time; and what faded for longer is gone from the group at last.
func TestLoadOfACPUIsNotLate(t *testing.T) {
	const groups = 3 * manyLeaves
	build := func() (*Sched, *quietHost, []*Task, []*Group) {
		cfg := DefaultConfig(2)
		cfg.Quiet = true
		host := &quietHost{now: 1_000_000}
		s := New(cfg, host, event.NewNames())
		var tasks []*Task
		var all []*Group
		for i := range groups {
			p, err := s.NewTask(event.PID(i+1), 0, Attr{}, []event.CPU{0})
			if err != nil {
				t.Fatal(err)
			}
			g := s.NewGroup(nil)
			if _, err := s.Attach(0, p, g); err != nil {
				t.Fatal(err)
			}
			s.WakeUpNewTask(0, p)
			tasks, all = append(tasks, p), append(all, g)
		}
		return s, host, tasks, all
	}
	lazy, lazyHost, lazyTasks, lazyGroups := build()
	full, fullHost, fullTasks, _ := build()
	later := 0
	step := func(do func(*Sched, []*Task), by event.Time) {
		lazyHost.now += by
		fullHost.now += by
		do(lazy, lazyTasks)
		do(full, fullTasks)
		for c := range event.CPU(2) {
			lazy.updateRQClock(lazy.rqs[c])
			full.updateRQClock(full.rqs[c])
			full.rqs[c].fading.allAt = -fadeEvery // all of them, every time
			before := lazy.rqs[c].fading.allAt
			lazy.updateBlockedAverages(lazy.rqs[c])
			full.updateBlockedAverages(full.rqs[c])
			if lazy.rqs[c].fading.allAt == before {
				later++
			}
			if got, want := lazy.rqs[c].cfs.avg.load(), full.rqs[c].cfs.avg.load(); c == 0 && got != want { // on the other weights follow what groups have told
				t.Fatalf("at %d the load of CPU %d is %+v, all told %+v", lazyHost.now, c, got, want)
			}
		}
	}
	for range groups { // each runs, sleeps and is woken on the other CPU
		step(func(s *Sched, _ []*Task) {
			s.Schedule(0, true)
		}, 700_000)
		step(func(s *Sched, _ []*Task) {
			p := s.rqs[0].curr
			s.Block(0, event.StateSleeping)
			s.Schedule(0, false)
			if _, _, err := s.SetAffinity(0, p, []event.CPU{1}); err != nil {
				t.Fatal(err)
			}
			s.TryToWakeUp(0, p) // it takes its load along
		}, 900_000)
	}
	if later < groups {
		t.Errorf("only %d looks were short", later)
	}
	for range 100 {
		step(func(s *Sched, _ []*Task) { s.Schedule(1, true) }, 20_000_000)
	}
	if len(lazy.rqs[0].fading.pending) > groups {
		t.Errorf("%d queues are pending", len(lazy.rqs[0].fading.pending))
	}
	for _, s := range []*Sched{lazy, full} {
		if n := s.rqs[1].nrRunning; n != groups {
			t.Errorf("%d tasks are on the other CPU", n)
		}
	}
	if err := lazy.Check(lazyTasks); err != nil {
		t.Error(err)
	}
	for i, g := range lazyGroups {
		if load := g.cpus[0].cfs.tgLoadAvgContrib; load != 0 {
			t.Errorf("group %d has a load of %d on the CPU that it left two seconds ago", i, load)
		}
	}
	if n := lazy.rqs[0].fading.leaves; n > manyLeaves {
		t.Errorf("%d queues are in the list two seconds later", n)
	}
}
