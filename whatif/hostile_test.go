package whatif

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/replay"
)

// noise is a trace in which events are missing, doubled and changed, the same ones in every
// reading.
type noise struct {
	explain.Source
	seed uint64
	rare int // one event in so many
}

func (n *noise) Events(o event.Options) (event.Stream, error) {
	s, err := n.Source.Events(event.Options{}) // all kinds: which events are hit must not depend on who asks
	return &noisyStream{Stream: s, r: rand.New(rand.NewPCG(n.seed, 7)), rare: n.rare, want: o.Want}, err
}

type noisyStream struct {
	event.Stream
	r     *rand.Rand
	rare  int
	want  event.KindSet
	ev    event.Event
	again bool
}

func (s *noisyStream) Next() (*event.Event, error) {
	for {
		if s.again {
			s.again = false
			return &s.ev, nil
		}
		ev, err := s.Stream.Next()
		if err != nil {
			return nil, err
		}
		s.ev = *ev
		if s.r.IntN(s.rare) == 0 {
			switch s.r.IntN(8) {
			case 0:
				continue
			case 1:
				s.again = true
			case 2:
				s.ev.Task, s.ev.Next = event.PID(s.r.IntN(200)), event.PID(s.r.IntN(200))
			case 3:
				s.ev.TaskPrio, s.ev.NextPrio = event.Prio(s.r.IntN(300)-10), event.Prio(s.r.IntN(300)-10)
			case 4:
				s.ev.Arg, s.ev.Arg2 = int64(s.r.Uint64()), int64(s.r.Uint64())
			case 5:
				s.ev.Kind = event.Kind(s.r.IntN(int(event.NumKinds)))
			case 6:
				s.ev.State = event.State(s.r.IntN(1 << 16))
			case 7:
				s.ev.CPU, s.ev.Target = event.CPU(s.r.IntN(5)), event.CPU(s.r.IntN(5))
			}
		}
		if s.want.Has(s.ev.Kind) {
			return &s.ev, nil
		}
		s.again = false
	}
}

// TestNoise: whatever the events say, there is an answer or an error, and no panic; and what is
// not predicted says why.
func TestNoise(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.dat")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range files {
		for seed := range uint64(6) {
			src := &noise{open(t, file), seed, []int{5, 50, 1000}[seed%3]}
			o := everything(file)
			g, err := Gate(src, o, parsed(t, []string{"*:max<1ms", "*:response.p99<1s", "rt_throttled==0", "*:deadline_misses==0"}))
			if err == nil && g.Status == "" {
				t.Errorf("%s, seed %d: no status", file, seed)
			}
			list := []Recording{{file, src}}
			if d, err := Diff(list, list, DiffOptions{Options: o}); err == nil && d.Test.Shown > 0 {
				t.Errorf("%s, seed %d: differs from itself", file, seed)
			}
			if _, _, err := Fidelity(src, o); err != nil {
				t.Logf("%s, seed %d: %v", file, seed, err)
			}
			noisyPrediction(t, src, o)
		}
	}
}

func noisyPrediction(t *testing.T, src explain.Source, o explain.Options) {
	t.Helper()
	r, _, err := Predict(context.Background(), src, o, [][]string{{"exit_teardown ×0.5", "set sched_rt_runtime_us=500000"}})
	if err != nil {
		return
	}
	for i, p := range r.Changes[0].Late {
		if p.Withheld == "" && (p.AfterNS < 0 || p.ErrorNS*1000 > max(p.BeforeNS*200, 50_000_000)) {
			t.Errorf("wait %s is answered: %+v", r.Late[i].ID, p)
		}
	}
}

var _ replay.Input = (*noise)(nil)
