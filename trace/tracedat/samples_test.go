package tracedat

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

// TestFileThatTraceCmdCannotOpen: gpuvis's amdgpu.dat has a private option 8 on which
// trace-cmd fails. Without a peer only the events' own consistency can be tested: whom a
// sched_switch takes off is who recorded it and whom the one before it brought.
func TestFileThatTraceCmdCannotOpen(t *testing.T) {
	packed, err := os.Open(shared.Path(t, "samples/gpuvis/amdgpu.dat.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	f := openBytes(t, data)
	info := f.Info()
	if info.Kernel != "4.11.0-rc4+" || info.CPUs != 4 || info.TGIDs[25310] != 25159 {
		t.Errorf("kernel %q, %d CPUs, process of 25310: %d", info.Kernel, info.CPUs, info.TGIDs[25310])
	}
	s, err := f.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	counts, current := map[event.Kind]int{}, map[event.CPU]event.PID{}
	broken, withProcess := 0, 0
	for e, err := s.Next(); err == nil; e, err = s.Next() {
		counts[e.Kind]++
		if e.TGID != event.NoPID {
			withProcess++
		}
		if e.Kind != event.SchedSwitch {
			continue
		}
		if last, ok := current[e.CPU]; e.Task != e.PID || ok && last != e.Task || e.State == event.StateUnknown {
			broken++
		}
		current[e.CPU] = e.Next
	}
	if counts[event.SchedSwitch] < 40000 || counts[event.Print] < 6000 || broken > 0 || len(current) != 4 || withProcess < 20000 {
		t.Errorf("%v, %d broken switches, %d CPUs, %d events with a process", counts, broken, len(current), withProcess)
	}
	if len(s.Diagnostics()) > 0 {
		t.Error(s.Diagnostics())
	}
}

// TestOtherFormsOfARecording: trace-cmd convert writes the same recording in other
// forms; the events must not differ in anything.
func TestOtherFormsOfARecording(t *testing.T) {
	if _, err := exec.LookPath("trace-cmd"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("trace-cmd is not installed")
	}
	from := shared.Path(t, "traces/mixed-v61-smp4/mixed.dat")
	for name, args := range map[string][]string{"v6": {"--file-version", "6"}, "v7 uncompressed": {"--file-version", "7", "--compression", "none"}} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "trace.dat")
			if out, err := exec.Command("trace-cmd", append([]string{"convert", "-i", from, "-o", to}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want, got := eventsOf(t, from), eventsOf(t, to)
			if len(want) != len(got) {
				t.Fatalf("%d events, want %d", len(got), len(want))
			}
			for i := range want {
				if want[i] != got[i] {
					t.Fatalf("event %d: %+v, want %+v", i, got[i], want[i])
				}
			}
		})
	}
}

// eventsOf copies all events of a file. Both files intern names in the same order.
func eventsOf(t *testing.T, path string) (all []event.Event) {
	s, err := openFile(t, path).Events(event.Options{OtherText: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for e, err := s.Next(); err == nil; e, err = s.Next() {
		all = append(all, *e)
	}
	return all
}

func TestInfoOfARecording(t *testing.T) {
	f := openFile(t, shared.Path(t, "traces/mixed-v61-smp4/mixed.dat"))
	info := *f.Info()
	if len(info.Events) < 40 || info.Comms[0] == 0 || len(info.Comms) < 20 {
		t.Errorf("%d kinds of events, %d comms", len(info.Events), len(info.Comms))
	}
	info.Events, info.Comms = nil, nil
	want := event.Info{Format: "trace.dat v7", Kernel: "6.1.0-50-amd64", Machine: "x86_64", CPUs: 4, Clock: "local", Resolution: 1,
		Commands: []string{"trace-cmd 3.1.6 not-a-git-repo"}, Buffers: []string{""}}
	if diff := cmp.Diff(want, info); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
}

func TestSniff(t *testing.T) {
	for _, test := range []struct {
		head string
		want bool
	}{
		{"\x17\x08\x44tracing6\x00\x00\x08\x00\x10", true}, {"\x17\x08\x44tracing7\x00", true},
		{"\x17\x08\x44tracing0.6\x00", true}, {"\x17\x08\x44tracing", false}, {"\x17\x08\x44tracingx\x00", false}, {"", false},
		{"PERFILE2\x68\x00\x00\x00\x00\x00\x00\x00", false}, {"# tracer: nop\n#\n", false},
	} {
		if got := Sniff([]byte(test.head)); got != test.want {
			t.Errorf("Sniff(%q) = %t", test.head, got)
		}
	}
}

// TestErrorsSayWhere: what cannot be read at all.
func TestErrorsSayWhere(t *testing.T) {
	latency := testFile{version: 6}
	latency.buffers = []testBuffer{{}}
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"not a trace.dat":         {[]byte("# tracer: nop\n#\n#\n"), `trace.dat: offset 0x0, magic number: damaged`},
		"empty":                   {nil, `trace.dat: offset 0x0, magic number: file ends too early`},
		"a version of the future": {[]byte("\x17\x08\x44tracing8\x00\x00\x08\x00\x10\x00\x00"), `trace.dat: offset 0xa, version: version "8": not supported`},
		"cut in the head":         {latency.file(t)[:40], `trace.dat v6: offset 0x26, header_page: file ends too early`},
		"latency tracer":          {bytes.Replace(latency.file(t), []byte("flyrecord"), []byte("latency  "), 1), `latency trace (text)`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(bytes.NewReader(test.data), int64(len(test.data)), event.NewNames())
			if err == nil || !bytes.Contains([]byte(err.Error()), []byte(test.want)) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

// TestOverlappingCPUsAreRefused: a small file must not claim to hold the same data for
// thousands of CPUs.
func TestOverlappingCPUsAreRefused(t *testing.T) {
	f := testFile{version: 6}
	var cpus []testCPU
	for id := range 300 {
		cpus = append(cpus, testCPU{id, [][]byte{f.page(1000).add(1, f.wakingRecord(id)).bytes()}})
	}
	f.buffers = []testBuffer{{cpus: cpus}}
	data := f.file(t)
	table := bytes.Index(data, []byte("flyrecord\x00")) + 10
	for id := range 300 { // every entry: all data of the file
		binary.LittleEndian.PutUint64(data[table+16*id:], 0)
		binary.LittleEndian.PutUint64(data[table+16*id+8:], uint64(len(data)))
	}
	file := openBytes(t, data)
	if n := len(file.buffers[0].cpus); n != 1 || diagnosticKinds(file.Diagnostics()) == "" {
		t.Errorf("%d CPUs, %v", n, file.Diagnostics())
	}
}

// TestClocksThatAreNoTime: counter has no unit at all, and TSC needs a factor.
func TestClocksThatAreNoTime(t *testing.T) {
	tsc := testOption{14, make([]byte, 16)}
	tsc.data[0] = 1
	for _, test := range []struct {
		clock   string
		options []testOption
		want    string
	}{{"local", nil, ""}, {"boot", nil, ""}, {"counter", nil, "clock"}, {"x86-tsc", nil, "clock"}, {"x86-tsc", []testOption{tsc}, ""}} {
		f := testFile{version: 7, options: test.options}
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(1)).bytes()}}}}}
		data := bytes.Replace(f.file(t), []byte("\x00local\x00"), []byte("\x00"+test.clock+"\x00"), 1)
		if extra := len(test.clock) - len("local"); extra != 0 { // the option grows, and the section
			at := bytes.Index(data, []byte("\x00"+test.clock+"\x00"))
			for _, back := range []int{8 + 4, 8 + 6 + 8} { // size of the option, of the section
				binary.LittleEndian.PutUint32(data[at-back:], uint32(int(binary.LittleEndian.Uint32(data[at-back:]))+extra))
			}
		}
		file := openBytes(t, data)
		if got := diagnosticKinds(file.Diagnostics()); got != test.want || file.Info().Clock != test.clock {
			t.Errorf("%s: diagnostics %q, clock %q", test.clock, got, file.Info().Clock)
		}
	}
}

// TestNextAllocatesNothing: neither the stream nor the readers behind it, once it runs.
func TestNextAllocatesNothing(t *testing.T) {
	s, err := openFile(t, shared.Path(t, "traces/big-v61-smp4/hackbench.dat")).Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	next := func() {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	for range 200000 {
		next()
	}
	if n := testing.AllocsPerRun(400000, next); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
}

// TestStreamsMayBeClosedEarly: the readers end, and a second stream starts anew.
func TestStreamsMayBeClosedEarly(t *testing.T) {
	f := openFile(t, shared.Path(t, "traces/mixed-v61-smp4/mixed.dat"))
	var first event.Time
	for range 20 {
		s, err := f.Events(event.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Next()
		if err != nil || first != 0 && e.Time != first {
			t.Fatalf("%d, want %d: %v", e.Time, first, err)
		}
		first = e.Time
		s.Close()
		s.Close()
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("Next of a closed stream: %v", err)
		}
	}
}

// TestFileMayBeClosedBeforeItsStreams: no reader is left that would use the closed file.
func TestFileMayBeClosedBeforeItsStreams(t *testing.T) {
	data, err := os.ReadFile(shared.Path(t, "traces/mixed-v61-smp4/mixed.dat"))
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range 20 {
		f := openBytes(t, data)
		s, err := f.Events(event.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("Next of a closed file: %v", err)
		}
		s.Close()
	}
	if n := runtime.NumGoroutine(); n > before+2 {
		t.Errorf("%d goroutines, before %d", n, before)
	}
}

// TestProgressReachesTheEnd: the last report is the whole.
func TestProgressReachesTheEnd(t *testing.T) {
	f := openFile(t, shared.Path(t, "traces/mixed-v61-smp4/mixed.dat"))
	last, all, calls := int64(0), int64(0), 0
	s, err := f.Events(event.Options{Progress: func(done, total int64) {
		if done < last {
			t.Errorf("%d after %d", done, last)
		}
		last, all = done, total
		calls++
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, err := s.Next(); err == nil; _, err = s.Next() {
	}
	if last != all || calls < 8 {
		t.Errorf("%d of %d in %d calls", last, all, calls)
	}
}
