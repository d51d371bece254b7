package scenario_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/scenario"
)

// TestFIFOAtLowUseWaitsForTheFairServer: known since 6.12: a real-time task that once starved fair
// ones, and uses a tenth of its CPU from then on, is kept off it for the 50 ms of the fair server, and
// the rest of a tick; without the server, and on 6.1, never once it uses so little.
func TestFIFOAtLowUseWaitsForTheFairServer(t *testing.T) {
	longest := func(changes ...string) (worst int64, kind string) {
		p, err := scenario.Open(filepath.Join("..", "docs", "examples", "fair-server.json"), scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if err := p.Change(c); err != nil {
				t.Fatal(err)
			}
		}
		src := mustSource(t, p)
		x, err := explain.Explain(src, explain.Options{From: 2000 * ms, To: event.NoTime, Over: ms})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range x.Late {
			if strings.HasPrefix(w.Comm, "audio") && w.Class == "rt" && w.WaitNS > worst {
				worst, kind = w.WaitNS, w.Causes[0].Kind
			}
		}
		return worst, kind
	}
	if worst, kind := longest(); worst < int64(50*ms) || worst > int64(54*ms) || kind != "fair_server" {
		t.Errorf("6.12: it waits %d ns for %s, want 50 ms and up to a tick for fair_server", worst, kind)
	}
	for _, changes := range [][]string{{"kernel=6.1"}, {"set sched_rt_runtime_us=-1", "set fair_server_runtime_ns=0"}} {
		if worst, kind := longest(changes...); worst > int64(ms) {
			t.Errorf("%v: it waits %d ns for %s", changes, worst, kind)
		}
	}
}
