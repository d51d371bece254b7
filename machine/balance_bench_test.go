package machine_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// bigServer is the speed goal of load balancing: 256 CPUs (2 nodes with 4 caches each of 16 cores with 2
// threads), 200 groups (20 with 9 in each), 4,096 tasks in them. Every 32nd never sleeps, the others run for 2 to 6 ms
// and sleep for 200 to 600, so that CPUs are busy for about 65 % of the time.
func bigServer(tb testing.TB, era string) *machine.Machine {
	const cpus, tasks = 256, 4096
	cfg := shape{2, 16, 4, 2}.config(era)
	cfg.TTWUQueue, cfg.Quiet = true, true
	m := machine.New(machine.Config{Sched: cfg, Costs: machine.TypicalCosts()}, event.NewNames(), nil)
	var groups []*sched.Group
	for range 20 {
		top := m.Sched.NewGroup(nil)
		groups = append(groups, top)
		for range 9 {
			groups = append(groups, m.Sched.NewGroup(top))
		}
	}
	for i := range tasks {
		w := &worker{run: 2*ms + event.Time(i%41)*100*us, sleep: 200*ms + event.Time(i%401)*ms}
		if i%32 == 0 {
			w = &worker{run: 100 * s}
		}
		th, err := m.Spawn(0, "task", sched.Attr{}, nil, w)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := m.Sched.Attach(0, th.Task, groups[i%len(groups)]); err != nil {
			tb.Fatal(err)
		}
		m.Start(event.CPU(i%cpus), th)
	}
	return m
}

// userTime is the processor time that this process has used, on all cores.
func userTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano())
}

// BenchmarkBigServer reports how many times faster than real time a second of it is, by processor time, and how
// busy its CPUs are.
func BenchmarkBigServer(b *testing.B) {
	for _, era := range []string{"6.12", "6.1"} {
		b.Run(era, func(b *testing.B) {
			m := bigServer(b, era)
			if err := m.RunUntil(500 * ms); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			began, busy := userTime(), -ranAll(m)
			for b.Loop() {
				if err := m.RunUntil(m.Now() + s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/(userTime()-began).Seconds(), "x-realtime")
			busy += ranAll(m)
			b.ReportMetric(100*float64(busy)/float64(s)/float64(b.N)/float64(m.CPUs()), "%busy")
		})
	}
}

// ranAll is how long all tasks have run.
func ranAll(m *machine.Machine) event.Time {
	sum := event.Time(0)
	for _, th := range m.Threads() {
		sum += th.Task.SumExecRuntime()
	}
	return sum
}
