package sched

import "testing"

// The classes in kernel/sched/fair.c come before the number of tasks. A core on which one task waits has class has_spare
// as long as its two threads use and want, on average, less than 100/117 and 117/100 of what they have. A core whose two
// threads run one task each and are well used is fully_busy (6.1), or smt_balance as the other is (6.12), where of two cores
// without an idle thread the first stays. Both stand before the core on which somebody waits, and the local core, which runs one task,
// has only one less than they.
func TestACoreThatIsWellUsedHidesOneWhereATaskWaits(t *testing.T) {
	for _, x := range []struct {
		name           string
		fair           func(*FairConfig)
		used           uint64 // of each thread of core 1, which run a task each
		want           uint64 // runnable_avg of CPU 4, on which a second task waits
		local          int    // tasks on core 0, which is to take one
		chosen, source int    // −1: none
	}{
		{"6.1: both have spare capacity", nil, 400, 600, 1, 2, 4},
		{"6.1: core 1 is well used", nil, 950, 600, 1, -1, -1},
		{"6.1: core 1 is well used, core 0 idles", nil, 950, 600, 0, 1, 2},
		{"6.1: the second task has waited for long", nil, 950, 2000, 1, 2, 4},
		{"6.12: the first core with two tasks", era612, 400, 600, 1, -1, -1},
		{"6.12: the second task has waited for long", era612, 400, 2000, 1, 2, 4},
	} {
		b := newGroupBox(cores, x.fair, 2, 2, 2)
		b.put(1, x.local, 1024, 500)
		b.put(2, 1, 1024, x.used)
		b.put(3, 1, 1024, x.used)
		b.put(4, 2, 1024, 500)
		b.rqs[4].cfs.avg.runnableAvg = x.want
		b.put(5, 1, 1024, 500)
		g, chosen, source := b.findBusiestGroup(&b.env), -1, -1
		for i := range b.groups {
			if b.groups[i] == g {
				chosen = i
				if rq := b.findBusiestQueue(&b.env, g); rq != nil {
					source = int(rq.cpu)
				}
			}
		}
		if chosen != x.chosen || source != x.source {
			t.Errorf("%s: chose core %d and CPU %d, not %d and %d", x.name, chosen, source, x.chosen, x.source)
		}
	}
}
