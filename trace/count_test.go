package trace_test

import (
	"io"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
)

// leaves is a text of trace-cmd in which one line can stand for two events, one cannot be
// read, and some were lost.
const leaves = `cpus=2
     a-1     [000]     1.000001000: funcgraph_entry:                   |  mmput() {
     a-1     [000]     1.000002000: funcgraph_entry:        1.540 us   |    unmap_page_range();
     a-1     [000]     1.000009000: sched_wake_idle_without_ipi: cpu=1
CPU:1 [12 EVENTS DROPPED]
     b-2     [001]     1.000010000: funcgraph_entry:        0.540 us   |  up_read();
     b-2     [001]     1.000011000: sched_switch: nothing that a kernel prints
     a-1     [000]     1.000012000: funcgraph_exit:       + 17.441 us  |  }
     a-1     [000]     1.000013000: print:                tracing_mark_write: hello
`

// TestPassedOverIsAllThatWasNotDelivered: whatever is asked for, delivered and passed over
// events together are the events of the trace; gaps are neither.
func TestPassedOverIsAllThatWasNotDelivered(t *testing.T) {
	paths := map[string]string{
		"trace.dat":        shared.Path(t, "traces/mixed-v61-smp4/mixed.dat"),
		"with functions":   shared.Path(t, "traces/exit-storm-v61rt-smp1/exitfn-256.dat"),
		"with lost events": shared.Path(t, "samples/lisa/rtapp_trace.dat"),
		"text of tracefs":  shared.Path(t, "traces/rt-throttle-v61rt-smp1/throttle950.ftrace.txt.xz"),
		"function graph":   write(t, "leaves.txt", []byte(leaves)),
	}
	for name, path := range paths {
		f, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		all, passed, _ := count(t, f, 0)
		if all == 0 || passed != 0 {
			t.Errorf("%s: %d events, %d passed over although all are wanted", name, all, passed)
		}
		for _, want := range []event.KindSet{
			event.Kinds(event.SchedSwitch), event.Kinds(event.FuncEntry), event.Kinds(event.FuncExit),
			event.Kinds(event.Other), event.Kinds(event.Print, event.FuncEntry, event.FuncExit), event.Kinds(event.Gap),
		} {
			n, passed, wrong := count(t, f, want)
			if n+passed != all || wrong > 0 {
				t.Errorf("%s: want %#x: %d delivered and %d passed over of %d, %d of them not wanted", name, want, n, passed, all, wrong)
			}
		}
		f.Close()
	}
}

// count returns how many events, gaps aside, a stream delivers and passes over, and how
// many it should not have delivered.
func count(t *testing.T, f *trace.File, want event.KindSet) (n, passed, wrong int64) {
	t.Helper()
	s, err := f.Events(event.Options{Want: want})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		ev, err := s.Next()
		if err == io.EOF {
			return n, event.PassedOver(s), wrong
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == event.Gap {
			continue
		}
		n++
		if !want.Has(ev.Kind) {
			wrong++
		}
	}
}
