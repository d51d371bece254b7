package tracedat

import (
	"io"
	"os"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

// BenchmarkStream reads 2.52 million events out of a zstd-compressed file.
func BenchmarkStream(b *testing.B) {
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
		s, err := f.Events(event.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
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
		if n != 2521696 {
			b.Fatalf("%d events, want 2521696: %v", n, s.Diagnostics())
		}
		s.Close()
		f.Close()
	}
}
