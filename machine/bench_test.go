package machine_test

import (
	"testing"
	"time"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

const (
	us = event.Time(1_000)
	ms = event.Time(1_000_000)
	s  = event.Time(1_000_000_000)
)

// worker runs and sleeps in turns; one that never sleeps runs for ever.
type worker struct {
	run, sleep event.Time
	ran        bool
	rounds     int
}

func (w *worker) Next(m *machine.Machine, _ *machine.Thread) machine.Step {
	w.ran = !w.ran || w.sleep == 0
	if w.ran {
		w.rounds++
		return machine.Step{Kind: machine.StepRun, NS: w.run}
	}
	return machine.Step{Kind: machine.StepSleep, NS: m.Now() + w.sleep}
}

// busyBox is the load of the speed goal: 40 real-time tasks that run 0.9 ms and sleep
// 1.1 ms, and 8 fair ones that never sleep, on 16 CPUs.
func busyBox(tb testing.TB, prio func(i int) int, sink func(*event.Event)) *machine.Machine {
	m := machine.New(machine.Config{Sched: sched.DefaultConfig(16)}, event.NewNames(), sink)
	add := func(a sched.Attr, w *worker) {
		th, err := m.Spawn(0, "task", a, nil, w)
		if err != nil {
			tb.Fatal(err)
		}
		m.Start(0, th)
	}
	for i := range 40 {
		add(sched.Attr{Policy: sched.FIFO, Priority: prio(i)}, &worker{run: 900 * us, sleep: 1100 * us})
	}
	for range 8 {
		add(sched.Attr{}, &worker{run: s})
	}
	return m
}

// TestNothingIsAllocated once a machine is warm, with somebody listening or not.
func TestNothingIsAllocated(t *testing.T) {
	for _, sink := range []func(*event.Event){nil, func(*event.Event) {}} {
		m := busyBox(t, func(i int) int { return 1 + i }, sink)
		run(t, m, 200*ms)
		if n := testing.AllocsPerRun(20, func() { run(t, m, m.Now()+10*ms) }); n > 0 {
			t.Errorf("%v allocations in 10 ms", n)
		}
	}
}

// BenchmarkBusyBox reports how many times faster than real time ten seconds of it are.
func BenchmarkBusyBox(b *testing.B) {
	for name, prio := range map[string]func(int) int{
		"one priority":    func(int) int { return 50 },
		"many priorities": func(i int) int { return 1 + i },
		"with a sink":     func(i int) int { return 1 + i },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var sink func(*event.Event)
			n := 0
			if name == "with a sink" {
				sink = func(*event.Event) { n++ }
			}
			for b.Loop() {
				m := busyBox(b, prio, sink)
				if err := m.RunUntil(10 * s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(10*float64(b.N)/b.Elapsed().Seconds(), "x-realtime")
			if n > 0 {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
			}
		})
	}
}

// bigBox has many CPUs and twenty tasks for each: real-time, deadline and fair ones.
func bigBox(tb testing.TB, cpus, tasks int) *machine.Machine {
	cfg := sched.DefaultConfig(cpus)
	cfg.Topology = sched.CacheTopology(cpus, 64)
	cfg.TTWUQueue = true
	m := machine.New(machine.Config{Sched: cfg, Costs: machine.TypicalCosts()}, event.NewNames(), nil)
	for i := range tasks {
		a, w := sched.Attr{}, &worker{run: 100*us + event.Time(i%7)*10*us, sleep: 3*ms + event.Time(i%11)*100*us}
		switch {
		case i%4 == 0:
			a = sched.Attr{Policy: sched.FIFO, Priority: 1 + i%90}
		case i%100 == 1:
			a = sched.Attr{Policy: sched.Deadline, Runtime: 200 * us, Deadline: 4 * ms}
		}
		th, err := m.Spawn(0, "task", a, nil, w)
		if err != nil {
			tb.Fatal(err)
		}
		m.Start(event.CPU(i%cpus), th)
	}
	return m
}

// TestAThousandCPUs run twenty thousand tasks.
func TestAThousandCPUs(t *testing.T) {
	began := time.Now()
	m := bigBox(t, 1024, 20_000)
	if err := m.RunUntil(20 * ms); err != nil {
		t.Fatal(err)
	}
	t.Logf("20 ms of 1024 CPUs took %v", time.Since(began))
	for _, th := range m.Threads() {
		if th.Task.SumExecRuntime() == 0 {
			t.Fatalf("task %d never ran", th.Task.PID)
		}
	}
}

// BenchmarkBigBox is a millisecond of a machine of 1024 CPUs and 20,000 tasks.
func BenchmarkBigBox(b *testing.B) {
	m := bigBox(b, 1024, 20_000)
	if err := m.RunUntil(10 * ms); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := m.RunUntil(m.Now() + ms); err != nil {
			b.Fatal(err)
		}
	}
}
