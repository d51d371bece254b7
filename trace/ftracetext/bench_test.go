package ftracetext_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace/ftracetext"
)

// sampleText is a real trace of 4,344 events, decompressed.
func sampleText(t testing.TB) []byte {
	t.Helper()
	packed, err := os.ReadFile(shared.Path(t, "traces/rt-throttle-v61rt-smp1/throttle950.ftrace.txt.xz"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := xz.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func BenchmarkRead(b *testing.B) {
	text := sampleText(b)
	f := openText(b, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	lines := 0
	for b.Loop() {
		lines += drain(b, f, event.Options{})
	}
	b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkReadFile reads the file that the variable WHYLATE_BENCH_TEXT names.
func BenchmarkReadFile(b *testing.B) {
	path := os.Getenv("WHYLATE_BENCH_TEXT")
	if path == "" {
		b.Skip("WHYLATE_BENCH_TEXT names no file")
	}
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	st, _ := file.Stat()
	f, err := ftracetext.Open(file, st.Size(), event.NewNames())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(st.Size())
	b.ReportAllocs()
	lines := 0
	for b.Loop() {
		lines += drain(b, f, event.Options{})
	}
	b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
}

func drain(t testing.TB, f *ftracetext.File, opt event.Options) (n int) {
	t.Helper()
	s, err := f.Events(opt)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := s.Next(); err == io.EOF {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
		n++
	}
}
