package trace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/trace"
)

// TestDisorderedTextIsInOrder: whatever order the lines of a text have, its events come in the order
// of their stamps, so that what counts on that explains them. Behind a whole trace comes one of an
// earlier time, as where two are in one file; or the lines are shuffled. Many have one stamp, so that a
// search in a list without order finds any place of it.
func TestDisorderedTextIsInOrder(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		var lines []string
		for i := range 2000 {
			at, hi := fmt.Sprintf("[00%d] d..2. %d.000000:", i%2, 1+i/400), i/2%3
			switch hi {
			case 0:
				lines = append(lines, fmt.Sprintf("rt-7 %s sched_switch: prev_comm=rt prev_pid=7 prev_prio=19 prev_state=R ==> next_comm=fair next_pid=8 next_prio=120", at))
			case 1:
				lines = append(lines, fmt.Sprintf("fair-8 %s hrtimer_expire_entry: hrtimer=0000000012345678 function=sched_rt_period_timer now=%d", at, i))
			default:
				lines = append(lines, fmt.Sprintf("fair-8 %s sched_switch: prev_comm=fair prev_pid=8 prev_prio=120 prev_state=R ==> next_comm=rt next_pid=7 next_prio=19", at))
			}
		}
		cut := r.IntN(len(lines))
		lines = append(lines[cut:], lines[:cut]...)
		if seed%2 == 1 {
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		}
		path := filepath.Join(t.TempDir(), "disordered")
		if err := os.WriteFile(path, []byte("# tracer: nop\n#\n"+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := src.Events(event.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, last := 0, event.NoTime
		for ev, err := s.Next(); err == nil; ev, err = s.Next() {
			if n++; ev.Time < last {
				t.Fatalf("seed %d: event %d is of %d after %d", seed, n, ev.Time, last)
			}
			last = ev.Time
		}
		if n != len(lines) || !told(s.Diagnostics(), "out_of_order") {
			t.Errorf("seed %d: %d events of %d lines, %+v", seed, n, len(lines), s.Diagnostics())
		}
		if _, err := explain.Explain(src, explain.Options{Kernel: "6.1.0-50-rt-amd64"}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		s.Close()
		src.Close()
	}
}

func told(list []event.Diagnostic, kind string) bool {
	for _, d := range list {
		if d.Kind == kind {
			return true
		}
	}
	return false
}
