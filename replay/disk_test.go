package replay

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// knownDisks are the recorded disks whose transfer a replay does not meet, with the reason.
var knownDisks = map[string]string{
	"ata-40of100": "8 % longer: 10 throttled periods became 11, in the fifth one the tick that finds the runtime used up is one earlier",
}

// TestARecordedDiskIsClosedLoop: an emulated disk in PIO mode on 6.1-rt, whose interrupt comes up to
// 100,000 times a second. All of its interrupts but the first wait for something in the load, all
// of them come in a run, and with the budgets that were set when it was recorded the whole takes
// as long as it did, within 5 %, but for the known ones.
func TestARecordedDiskIsClosedLoop(t *testing.T) {
	for _, c := range []struct {
		name            string
		period, runtime int64 // µs
	}{{"ata-300of1000", 1_000_000, 300_000}, {"ata-40of100", 100_000, 40_000}, {"ata-75of100", 100_000, 75_000},
		{"ata-95of100", 100_000, 95_000}, {"ata-fifo20", 100_000, 60_000}, {"ata-other", 100_000, 60_000}} {
		name, set := c.name, fmt.Sprintf("set sched_rt_period_us=%d sched_rt_runtime_us=%d", c.period, c.runtime)
		f := opened(t, filepath.Join("../scenario/testdata/predicted", name+".dat.xz"))
		l, err := Read(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		fixed, arrivals := 0, 0
		for i := range l.Lines {
			if l.Lines[i].Number != 14 {
				continue
			}
			for j := range l.Lines[i].Arrivals {
				arrivals++
				if l.Lines[i].Arrivals[j].After == nil {
					fixed++
				}
			}
		}
		if fixed != 1 || arrivals < 32_000 {
			t.Errorf("%s: %d of %d interrupts wait for nothing", name, fixed, arrivals)
		}
		var recorded, run transfer
		if err := pass(f, nil, timeline.NewTracker(f.Info().Machine, f.Names()), func(ev *event.Event, _ timeline.Step) { recorded.push(ev) }); err != nil {
			t.Fatal(err)
		}
		if err := l.Change(set); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Run(RunOptions{Sink: run.push}); err != nil {
			t.Fatal(err)
		}
		want, got := recorded.to-recorded.from, run.to-run.from
		t.Logf("%s: %d interrupts in %d ns, recorded %d", name, run.n, got, want)
		if run.n != arrivals || recorded.n != arrivals {
			t.Errorf("%s: %d interrupts, recorded are %d", name, run.n, recorded.n)
		}
		known := knownDisks[name] != ""
		if hit := max(want-got, got-want) <= want/20; hit == known {
			t.Errorf("%s: %d interrupts in %d ns, recorded in %d; a known miss: %v", name, run.n, got, want, known)
		}
	}
}

// transfer is what interrupt 14 did.
type transfer struct {
	n        int
	from, to event.Time
}

func (d *transfer) push(ev *event.Event) {
	if ev.Kind != event.IRQHandlerEntry || ev.Arg != 14 {
		return
	}
	if d.n == 0 {
		d.from = ev.Time
	}
	d.n, d.to = d.n+1, ev.Time
}
