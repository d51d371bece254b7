package trace

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/whylate/whylate/event"
)

// FuzzOpen opens any bytes as a trace and reads what there is: an error or events, never
// a panic, and every stream ends.
func FuzzOpen(f *testing.F) {
	small := []byte("# tracer: nop\n#\n          <idle>-0     [001] d..2.  1.000000: sched_waking: comm=a pid=7 prio=19 target_cpu=001\n")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(small); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{nil, small, packed.Bytes(), []byte("PERFILE2"), []byte("\x17\x08\x44tracing7\x00\x00\x08"),
		[]byte("\x28\xb5\x2f\xfd"), []byte("\xfd7zXZ\x00"), []byte("<html>"), []byte("cpus=2\n")} {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "trace")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := Open(path)
		if err != nil {
			return
		}
		defer src.Close()
		s, err := src.Events(event.Options{OtherText: true})
		if err != nil {
			return
		}
		defer s.Close()
		for range len(b) + 1000 {
			if _, err := s.Next(); err != nil {
				if err != io.EOF {
					t.Logf("stream ended with %v", err)
				}
				return
			}
		}
		t.Fatalf("%d bytes gave more events than that", len(b))
	})
}
