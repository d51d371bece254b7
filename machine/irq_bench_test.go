package machine_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// noisyBox has on each CPU a device with interrupts all the time, an interrupt that raises
// softirqs, real-time and fair sleepers, idle states and steals.
func noisyBox(tb testing.TB, cpus int, preempt sched.PreemptModel, sink func(*event.Event)) *machine.Machine {
	cfg := machine.Config{Sched: sched.DefaultConfig(cpus), TickEvents: true,
		IdleStates: []machine.IdleState{{Poll: true}, {Latency: 2 * us, Residency: 2 * us}, {Latency: 50 * us, Residency: 200 * us}},
		Steals:     []machine.Steal{{Every: machine.Span{Min: ms, Max: 9 * ms}, Length: machine.Span{Max: 100 * us}}},
		Interrupts: machine.Interrupts{KTimers: true, SleepersInSoftirq: true}}
	cfg.Sched.Preempt = preempt
	m := machine.New(cfg, event.NewNames(), sink)
	for c := range event.CPU(cpus) {
		disk, err := m.AddIRQ(machine.IRQ{Name: "disk", CPUs: []event.CPU{c}, Hard: exactly(3 * us), Work: machine.Span{Min: 10 * us, Max: 40 * us}})
		if err != nil {
			tb.Fatal(err)
		}
		if _, err = m.AddIRQ(machine.IRQ{Name: "net", CPUs: []event.CPU{c}, Hard: exactly(2 * us), Every: 300 * us, Random: true,
			Softirq: true, SoftirqVec: event.SoftirqNetRx, SoftirqWork: machine.Span{Min: us, Max: 100 * us}}); err != nil {
			tb.Fatal(err)
		}
		d, err := m.AddDevice(machine.DeviceConfig{Name: "d", Line: disk, BytesPerIRQ: 512, Gap: machine.Span{Min: 20 * us, Max: 200 * us}})
		if err != nil {
			tb.Fatal(err)
		}
		if err := d.Submit(1<<40, nil); err != nil {
			tb.Fatal(err)
		}
		for i := range 4 {
			a := sched.Attr{}
			if i < 2 {
				a = fifo(10 * (i + 1))
			}
			th, err := m.Spawn(0, "t", a, nil, &worker{run: 200 * us, sleep: event.Time(900+100*i) * us})
			if err != nil {
				tb.Fatal(err)
			}
			m.Start(c, th)
		}
	}
	return m
}

// TestInterruptsAllocateNothing once the machine is warm.
func TestInterruptsAllocateNothing(t *testing.T) {
	for _, preempt := range []sched.PreemptModel{sched.PreemptFull, sched.PreemptRT} {
		m := noisyBox(t, 2, preempt, func(*event.Event) {})
		run(t, m, 300*ms)
		if n := testing.AllocsPerRun(20, func() { run(t, m, m.Now()+10*ms) }); n > 0 {
			t.Errorf("%v allocations in 10 ms", n)
		}
	}
}

// BenchmarkNoisyBox is a second of 16 CPUs with some ten thousand interrupts on each.
func BenchmarkNoisyBox(b *testing.B) {
	for name, preempt := range map[string]sched.PreemptModel{"interrupts": sched.PreemptFull, "threads": sched.PreemptRT} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				m := noisyBox(b, 16, preempt, func(*event.Event) { n++ })
				if err := m.RunUntil(s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "x-realtime")
		})
	}
}
