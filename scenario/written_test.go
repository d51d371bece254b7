package scenario_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/trace"
)

// TestWrittenRunsAreExplainedAlike: nothing downstream can tell the model from a file: the
// answer about a run is the answer about the trace that was written of it. Where interrupts
// between CPUs take no time, cause and effect on two CPUs have one stamp, and a file orders
// them by CPU: so they take some here.
func TestWrittenRunsAreExplainedAlike(t *testing.T) {
	for seed := range uint64(6) {
		plan := randomPlan(seed)
		plan.Costs = scenario.DefaultCosts()
		src := mustSource(t, plan)
		o := explain.Options{From: event.NoTime, To: event.NoTime, Over: 1000}
		want, err := explain.Explain(src, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"run.dat", "run.txt"} {
			path := filepath.Join(t.TempDir(), name)
			write(t, path, src)
			file, err := trace.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := explain.Explain(file, o)
			if err = errors.Join(err, file.Close()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Late, got.Late); diff != "" {
				t.Errorf("seed %d, %s: late waits (-model +file):\n%.2000s", seed, name, diff)
			}
			if diff := cmp.Diff(want.Tasks, got.Tasks); diff != "" {
				t.Errorf("seed %d, %s: tasks (-model +file):\n%.2000s", seed, name, diff)
			}
		}
	}
}

func write(t *testing.T, path string, src *scenario.Source) {
	t.Helper()
	w, err := trace.Create(path, *src.Info(), src.Names())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SetSnapshot(src.Snapshot()); err != nil {
		t.Fatal(err)
	}
	st, err := src.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
