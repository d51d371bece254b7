package sched

import (
	"fmt"
	"testing"

	"github.com/whylate/whylate/event"
)

// TestIdleCPUTakesFromTheWrongCPU is what was published in 2017, made small: a worker runs on each of 32
// CPUs but one, and on CPU 4 a second one, of half the load, has just come from elsewhere and waits. Then CPU 31
// goes idle and looks for work. In the root cgroup it finds it. In a group 4.11 does not: all cores have
// two tasks or more, and CPU 4 looks less busy than each CPU with one, since the load of the group's entity there is
// the 1535 of its two tasks and elsewhere the 8456 of its weight. With either change of 2017, or both at any depth,
// CPU 4 is the busiest and the worker runs.
func TestIdleCPUTakesFromTheWrongCPU(t *testing.T) {
	for depth := range 5 {
		for _, on := range []struct{ group, runnable bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
			if depth > 1 && on.group != on.runnable {
				continue // what one of them alone does to weights further up is another matter
			}
			name := fmt.Sprintf("depth %d, propagate_group_load %v, propagate_runnable_load %v", depth, on.group, on.runnable)
			n := newNested411(t, depth, on.group, on.runnable)
			p := n.sleeper(31)
			guest := n.task(31)
			n.WakeUpNewTask(31, guest)
			n.Schedule(31, true)
			halve(p)
			n.wakeOn(p, 4)
			if _, _, err := n.SetAffinity(4, p, nil); err != nil {
				t.Fatal(err)
			}
			with, one := n.root(4), n.root(2)
			var last BalancePass
			n.OnBalance(func(b *BalancePass) { last = *b })
			n.Block(31, event.StateSleeping)
			n.Schedule(31, false)

			found := depth == 0 || on.group || on.runnable
			if busier := with > one*11/10; busier != found {
				t.Errorf("%s: the root of CPU 4 has %d, that of CPU 2 %d", name, with, one)
			}
			if last.Domain != "MC" || last.Kind != BalanceNewidle || last.Better != 4 {
				t.Fatalf("%s: the last look is %+v", name, last)
			}
			if last.Wrong == found || (last.Source == 4) != found || (n.rqs[31].curr == p) != found {
				t.Errorf("%s: CPU %d was chosen, wrong %v, %q, the worker is on CPU %d", name, last.Source, last.Wrong, last.Why, p.cpu)
			}
		}
	}
}
