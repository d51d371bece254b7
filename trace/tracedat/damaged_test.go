package tracedat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

// outcome is what came out of a damaged file.
type outcome struct {
	err   error                 // of Open or Events
	cpus  map[event.CPU][]int64 // the times of the events of each CPU, without gaps
	n     int
	diags []event.Diagnostic
}

// readAny reads whatever data is. Anything but a *event.FormatError or a readable stream
// fails the test; so does a stream that is out of order.
func readAny(t testing.TB, data []byte) outcome {
	t.Helper()
	out := outcome{cpus: map[event.CPU][]int64{}}
	f, err := Open(bytes.NewReader(data), int64(len(data)), event.NewNames())
	if err == nil {
		defer f.Close()
		out.diags = f.Diagnostics()
		var s event.Stream
		if s, err = f.Events(event.Options{OtherText: true}); err == nil {
			defer s.Close()
			last := event.NoTime
			for {
				e, err := s.Next()
				if err == io.EOF {
					out.diags = s.Diagnostics()
					return out
				}
				if err != nil {
					t.Fatalf("Next: %v", err)
				}
				if e.Time < last {
					t.Fatalf("%d comes after %d", e.Time, last)
				}
				last = e.Time
				if e.Kind != event.Gap {
					out.n++
					out.cpus[e.CPU] = append(out.cpus[e.CPU], int64(e.Time))
				}
			}
		}
	}
	var format *event.FormatError
	if !errors.As(err, &format) {
		t.Fatalf("error is no *event.FormatError: %T %v", err, err)
	}
	out.err = err
	return out
}

// threeCPUs gives f some pages on CPUs 0, 1 and 4, and the statistics that trace-cmd
// writes in front of the data.
func threeCPUs(f *testFile) {
	var cpus []testCPU
	for i, id := range []int{0, 1, 4} {
		cpu := testCPU{id: id}
		stamp := uint64(1000 * (i + 1))
		for range 5 {
			p := f.page(stamp)
			for k := range 50 {
				p.add(uint32(10+k), f.switchRecord(k, k+1, 1))
				stamp += uint64(10 + k)
			}
			cpu.pages = append(cpu.pages, p.bytes())
		}
		cpus = append(cpus, cpu)
		f.options = append(f.options, testOption{2, fmt.Appendf(nil, "CPU: %d\nentries: 250\noverrun: 0\nread events: 0\n\x00", id)})
	}
	f.buffers = []testBuffer{{cpus: cpus}}
}

// TestCutFiles cuts files of every shape at many places. What is left of each CPU must
// be the beginning of what it was, and the cut must be told.
func TestCutFiles(t *testing.T) {
	for shape, f := range shapes() {
		t.Run(shape, func(t *testing.T) {
			threeCPUs(&f)
			data := f.file(t)
			whole := readAny(t, data)
			if whole.n != 750 || whole.err != nil || len(whole.diags) != 0 {
				t.Fatalf("the whole file: %d events, %v, %v", whole.n, whole.err, whole.diags)
			}
			most := 0
			for end := len(data) - 1; end > 0; end -= 1 + 577*min(1, (len(data)-end)/150) {
				cut := readAny(t, data[:end])
				most = max(most, cut.n)
				checkPrefix(t, end, whole, cut)
				if cut.err == nil && !strings.Contains(diagnosticKinds(cut.diags), "truncated") {
					t.Fatalf("cut at %d: no diagnostic: %v", end, cut.diags)
				}
			}
			if most < 700 {
				t.Errorf("at best %d of 750 events were salvaged", most)
			}
		})
	}
}

func checkPrefix(t testing.TB, end int, whole, cut outcome) {
	t.Helper()
	for cpu, times := range cut.cpus {
		if len(times) > len(whole.cpus[cpu]) || !slices.Equal(times, whole.cpus[cpu][:len(times)]) {
			t.Fatalf("cut at %d: CPU %d has other events than before: %v (%v)", end, cpu, times[:min(len(times), 5)], cut.diags)
		}
	}
}

// TestCutRecording does the same with a real file.
func TestCutRecording(t *testing.T) {
	data, err := os.ReadFile(shared.Path(t, "traces/mixed-v61-smp4/mixed.dat"))
	if err != nil {
		t.Fatal(err)
	}
	whole := readAny(t, data)
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		end := random.IntN(len(data))
		cut := readAny(t, data[:end])
		checkPrefix(t, end, whole, cut)
		if cut.err == nil && cut.n < whole.n && !strings.Contains(diagnosticKinds(cut.diags), "truncated") {
			t.Errorf("cut at %d: no diagnostic: %v", end, cut.diags)
		}
	}
	// All data is there, only the table in the last options is cut.
	if cut := readAny(t, data[:len(data)-150]); cut.n != whole.n {
		t.Errorf("%d of %d events without the last section: %v %v", cut.n, whole.n, cut.err, cut.diags)
	}
}

// TestFlippedBytes changes bytes at random places of recordings: no panic, no endless
// loop, and only errors that say where.
func TestFlippedBytes(t *testing.T) {
	var files [][]byte
	for _, name := range []string{"traces/rt-throttle-v61rt-smp1/throttle950000.dat", "samples/trappy/raw_trace.dat"} {
		data, err := os.ReadFile(shared.Path(t, name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, data)
	}
	for _, f := range []testFile{{version: 6, kernelLong: 4}, {version: 7, codec: "zlib", big: true}, {version: 7}} {
		threeCPUs(&f)
		files = append(files, f.file(t))
	}
	random := rand.New(rand.NewPCG(3, 4))
	errs, diags, runs := 0, 0, 0
	for ; runs < 500; runs++ {
		data := slices.Clone(files[runs%len(files)])
		for range 1 + random.IntN(8) {
			at := random.IntN(len(data))
			if random.IntN(2) == 0 { // half of them in the part where the structure is
				at = random.IntN(min(len(data), 40000))
			}
			data[at] ^= byte(1 << random.IntN(8))
		}
		out := readAny(t, data)
		if out.err != nil {
			errs++
		} else if len(out.diags) > 0 {
			diags++
		}
	}
	t.Logf("%d files: %d errors, %d with diagnostics", runs, errs, diags)
	if errs == 0 || diags == 0 {
		t.Errorf("%d errors and %d with diagnostics of %d: this test shows nothing", errs, diags, runs)
	}
}

// TestForgedSizes puts huge numbers at every place of the head, where sizes and counts
// stand: memory must stay in proportion to the file.
func TestForgedSizes(t *testing.T) {
	for shape, f := range map[string]testFile{"v6": {version: 6}, "v7": {version: 7}, "v7 zstd": {version: 7, codec: "zstd"}} {
		t.Run(shape, func(t *testing.T) {
			threeCPUs(&f)
			data := f.file(t)
			random := rand.New(rand.NewPCG(5, 6))
			for _, forged := range []uint64{1 << 60, 1<<32 - 1, 1<<63 - 1, 0x7fffffff7fffffff, 1 << 24} {
				for range 80 {
					at := 12 + random.IntN(4000) // the head
					if f.version == 7 && random.IntN(2) == 0 {
						at = len(data) - 8 - random.IntN(400) // the table of the CPUs
					}
					copyOf := slices.Clone(data)
					binary.LittleEndian.PutUint64(copyOf[at:], forged)
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					readAny(t, copyOf)
					runtime.ReadMemStats(&after)
					if got := after.TotalAlloc - before.TotalAlloc; got > 48<<20 {
						t.Fatalf("%#x at %d: %d MiB allocated for a file of %d KiB", forged, at, got>>20, len(data)>>10)
					}
				}
			}
		})
	}
}
