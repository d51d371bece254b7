package replay

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// busy is a load of some 40,000 events in 2 s: a control loop of 1 ms, one of 700 µs that
// wakes a worker, and a fair task beneath them.
func busy() *Load {
	l := handMade(
		Task{Attr: fifo(80), Begin: BeginBlocked},
		Task{Attr: fifo(60), Begin: BeginBlocked},
		Task{Attr: fifo(40), Begin: BeginBlocked},
		Task{Attr: fair(), Begin: BeginRunning, Ops: []Op{run(2000 * ms)}})
	l.To = at(2000 * ms)
	for now := 1 * ms; now < 2000*ms; now += 1 * ms {
		l.Tasks[0].Ops = append(l.Tasks[0].Ops, Op{Kind: OpSleep, At: at(now)}, run(100*us))
	}
	for now := 1 * ms; now < 2000*ms; now += 700 * us {
		l.Tasks[1].Ops = append(l.Tasks[1].Ops, Op{Kind: OpSleep, At: at(now)}, run(50*us), Op{Kind: OpWake, Ref: 2}, run(50*us))
		l.Tasks[2].Ops = append(l.Tasks[2].Ops, Op{Kind: OpWait}, run(100*us))
	}
	return l
}

func BenchmarkRun(b *testing.B) {
	l := busy()
	events := 0
	b.ReportAllocs()
	for b.Loop() {
		events = 0
		if _, err := l.Run(RunOptions{Sink: func(*event.Event) { events++ }}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
	b.ReportMetric(float64(events), "events")
}
