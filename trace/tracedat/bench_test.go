package tracedat

import (
	"io"
	"os"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

// BenchmarkStream reads 2.52 million events out of a zstd-compressed file.
func BenchmarkStream(b *testing.B) { benchmarkStream(b, event.Options{}) }

// BenchmarkWanted passes over about half of them.
func BenchmarkWanted(b *testing.B) {
	benchmarkStream(b, event.Options{Want: event.Kinds(event.SchedSwitch, event.SchedWaking, event.SchedWakeup)})
}

func benchmarkStream(b *testing.B, o event.Options) {
	path := shared.Path(b, "traces/big-v61-smp4/hackbench.dat")
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(st.Size())
	b.ReportAllocs()
	for b.Loop() {
		f, err := Open(file, st.Size(), event.NewNames())
		if err != nil {
			b.Fatal(err)
		}
		s, err := f.Events(o)
		if err != nil {
			b.Fatal(err)
		}
		n := int64(0)
		for {
			_, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n += event.PassedOver(s); n != 2521696 {
			b.Fatalf("%d events, want 2521696: %v", n, s.Diagnostics())
		}
		s.Close()
		f.Close()
	}
}

// BenchmarkWriter writes 34,436 recorded events again and again, 20 times into a file; the
// cost is per event, that of the finished file included.
func BenchmarkWriter(b *testing.B) {
	f := openFile(b, shared.Path(b, "traces/mixed-v61-smp4/mixed.dat"))
	s, err := f.Events(event.Options{OtherText: true})
	if err != nil {
		b.Fatal(err)
	}
	var list []event.Event
	for ev, err := s.Next(); err == nil; ev, err = s.Next() {
		list = append(list, *ev)
	}
	w := NewWriter(io.Discard, *f.Info(), f.names)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i == 20*len(list) {
			i = 0
			w.Close()
			w = NewWriter(io.Discard, *f.Info(), f.names)
		}
		if err := w.Write(&list[i%len(list)]); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
