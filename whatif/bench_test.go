package whatif_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/trace"
	"github.com/whylate/whylate/whatif"
)

// BenchmarkAdvise is all that explain does with a trace: it tells the late waits and advises
// those of the 20 worst groups. BenchmarkAsk is one change of a trace that has been read, with
// the reading.
func BenchmarkAdvise(b *testing.B) {
	for _, name := range recordings {
		b.Run(name, func(b *testing.B) {
			src := opened(b, name)
			for b.Loop() {
				r, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime})
				if err != nil {
					b.Fatal(err)
				}
				if err := whatif.Advise(b.Context(), r, studied(b, src), whatif.AdviceOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAsk(b *testing.B) {
	for _, name := range recordings {
		b.Run(name, func(b *testing.B) {
			src := opened(b, name)
			for b.Loop() {
				if _, err := studied(b, src).Ask([]string{"set exit_normalize=rt"}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// recordings have 12,611, 34,436 and 9,047 events.
var recordings = []string{"exit-storm-v61rt-smp1/exit-256.dat", "mixed-v61-smp4/mixed.dat", "rtapp-v61rt-smp1/rtapp.dat"}

func opened(b *testing.B, name string) *trace.File {
	b.Helper()
	src, err := trace.Open(shared.Path(b, "traces/"+name))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { src.Close() })
	return src
}

func studied(b *testing.B, src *trace.File) *whatif.Study {
	b.Helper()
	load, err := replay.Read(src, replay.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := whatif.NewStudy(load)
	if err != nil {
		b.Fatal(err)
	}
	return s
}
