package trace_test

import (
	"io"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
)

func count(t *testing.T, path string) (n int, kinds map[event.Kind]int, diags []event.Diagnostic) {
	t.Helper()
	f, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := f.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kinds = map[event.Kind]int{}
	for {
		ev, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		kinds[ev.Kind]++
	}
	return n, kinds, s.Diagnostics()
}

func TestXZText(t *testing.T) {
	for _, c := range []struct {
		path string
		want int
	}{{"traces/rt-throttle-v61rt-smp1/throttle950.ftrace.txt.xz", 4344}, {"traces/rt-throttle-v612rt-smp1/throttle950.ftrace.txt.xz", 3900}} {
		n, kinds, diags := count(t, shared.Path(t, c.path))
		t.Log(n, kinds, diags)
		if n != c.want {
			t.Errorf("%s: %d events, want %d", c.path, n, c.want)
		}
	}
}
