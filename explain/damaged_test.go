package explain_test

import (
	"bytes"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
)

var long = flag.Bool("long", false, "damage every trace 50 times by a cut and 1,000 times by flipped bytes")

// TestDamagedTraces cuts every trace off and flips bytes of it: each gives an error that
// names format, offset and field, or an answer whose causes still sum. The damage is
// drawn from the file's name, so a failure repeats.
func TestDamagedTraces(t *testing.T) {
	files := damagedFiles(t)
	cuts, flips := 2, 6
	if *long {
		cuts, flips = 50, 1000
	}
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !*long && len(whole) > 6<<20 {
			continue // the big ones only with -long: they alone take minutes
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			var seed [32]byte
			copy(seed[:], filepath.Base(file))
			rng := rand.New(rand.NewChaCha8(seed))
			for range cuts {
				damaged(t, whole[:rng.IntN(len(whole))], "cut", file)
			}
			for range flips {
				b := bytes.Clone(whole)
				for range 1 + rng.IntN(8) {
					b[place(rng, len(b))] ^= byte(1 + rng.IntN(255))
				}
				damaged(t, b, "flipped", file)
			}
		})
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if limit := uint64(2 << 30); m.HeapSys > limit {
		t.Errorf("the heap grew to %d MiB", m.HeapSys>>20)
	}
}

// place picks a byte to damage: every second one near the start, where the headers are.
func place(rng *rand.Rand, n int) int {
	if rng.IntN(2) == 0 {
		return rng.IntN(min(n, 8192))
	}
	return rng.IntN(n)
}

func damagedFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../testdata/*.dat")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"traces", "samples", "layouts"} {
		root := shared.Path(t, dir)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".sh") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func damaged(t *testing.T, b []byte, how, file string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p != nil {
			keep := filepath.Join(os.TempDir(), "whylate-"+how+"-"+filepath.Base(file))
			_ = os.WriteFile(keep, b, 0o600)
			panic(p)
		}
	}()
	src, err := trace.Open(path)
	if err != nil {
		return // the readers' tests look at what the error says
	}
	defer src.Close()
	r, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Evidence: true})
	if err == nil {
		checkSums(t, r)
	}
}
