package trace_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
)

const twoLines = "# tracer: nop\n" +
	"  a-1 [000] 1.000001: sched_wake_idle_without_ipi: cpu=1\n" +
	"  a-1 [000] 1.000002: sched_wake_idle_without_ipi: cpu=2\n"

func pack(t *testing.T, how string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch how {
	case "gz":
		w = gzip.NewWriter(&b)
	case "xz":
		w, err = xz.NewWriter(&b)
	case "zst":
		w, err = zstd.NewWriter(&b)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the number of events of each kind, twice read, and the diagnostics.
func read(t *testing.T, f *trace.File) (map[event.Kind]int, []event.Diagnostic) {
	t.Helper()
	var kinds map[event.Kind]int
	var diags []event.Diagnostic
	for pass := range 2 {
		s, err := f.Events(event.Options{})
		if err != nil {
			t.Fatal(err)
		}
		again := map[event.Kind]int{}
		for {
			ev, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			again[ev.Kind]++
		}
		diags = s.Diagnostics()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if pass == 1 && len(again) != len(kinds) {
			t.Errorf("second pass gives %v, first %v", again, kinds)
		}
		kinds = again
	}
	return kinds, diags
}

// TestCompressed reads the same trace in each form of compression, by content and not by
// name, and looks for what is left behind.
func TestCompressed(t *testing.T) {
	data := []byte(twoLines)
	for name, data := range map[string][]byte{
		"plain.bin":  data,
		"a.gz":       pack(t, "gz", data),
		"b.xz":       pack(t, "xz", data),
		"c.zst":      pack(t, "zst", data),
		"wrong.txt":  pack(t, "zst", data),
		"twice.gz":   pack(t, "gz", pack(t, "xz", data)),
		"several.gz": append(pack(t, "gz", data[:20]), pack(t, "gz", data[20:])...),
	} {
		temp := t.TempDir()
		t.Setenv("TMPDIR", temp)
		f, err := trace.Open(write(t, name, data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if kinds, diags := read(t, f); kinds[event.SchedWakeIdle] != 2 || len(diags) > 0 {
			t.Errorf("%s: %v, %v", name, kinds, diags)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: closing: %v", name, err)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("%s: leaves %v behind", name, left[0].Name())
		}
	}
}

// TestRecordedTraces reads one recorded trace of each form through the registry.
func TestRecordedTraces(t *testing.T) {
	for _, c := range []struct {
		path, format string
		switches     int
	}{
		{"traces/rt-throttle-v61rt-smp1/throttle950.ftrace.txt.xz", "ftrace text", 475},
		{"traces/rt-throttle-v612rt-smp1/throttle950.ftrace.txt.xz", "ftrace text", 405},
		{"traces/mixed-v61-smp4/mixed.dat", "trace.dat v7", 7641},
		{"samples/text/lisa_report_raw.txt", "trace-cmd report", 1856},
	} {
		f, err := trace.Open(shared.Path(t, c.path))
		if err != nil {
			t.Fatal(err)
		}
		kinds, diags := read(t, f)
		if f.Info().Format != c.format || kinds[event.SchedSwitch] != c.switches {
			t.Errorf("%s: %s with %d switches, want %s with %d", c.path, f.Info().Format, kinds[event.SchedSwitch], c.format, c.switches)
		}
		for _, d := range diags {
			if strings.HasPrefix(d.Kind, "unknown") {
				t.Errorf("%s: %+v", c.path, d)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestThrottle950 checks first and last events of the recorded texts against their lines.
func TestThrottle950(t *testing.T) {
	for path, want := range map[string]struct {
		events      int
		first, last event.Time
	}{
		"traces/rt-throttle-v61rt-smp1/throttle950.ftrace.txt.xz":  {4344, 96_782560_000, 99_058721_000},
		"traces/rt-throttle-v612rt-smp1/throttle950.ftrace.txt.xz": {3900, 130_321006_000, 131_628217_000},
	} {
		f, err := trace.Open(shared.Path(t, path))
		if err != nil {
			t.Fatal(err)
		}
		list := collect(t, f)
		if n := len(list); n != want.events || list[0].Time != want.first || list[n-1].Time != want.last {
			t.Errorf("%s: %d events from %d to %d, want %+v", path, n, list[0].Time, list[n-1].Time, want)
		}
		f.Close()
	}
}

// TestPipes reads what cannot be read twice: a named pipe and standard input.
func TestPipes(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	go os.WriteFile(fifo, pack(t, "gz", []byte(twoLines)), 0o600)
	f, err := trace.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	if kinds, _ := read(t, f); kinds[event.SchedWakeIdle] != 2 {
		t.Errorf("named pipe: %v", kinds)
	}
	f.Close()

	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { io.WriteString(w, twoLines); w.Close() }()
	os.Stdin = r
	f, err = trace.Open(trace.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	if kinds, _ := read(t, f); kinds[event.SchedWakeIdle] != 2 {
		t.Errorf("standard input: %v", kinds)
	}
	f.Close()

	// A file as standard input whose first bytes somebody has read already.
	file, err := os.Open(write(t, "half", []byte("gone\n"+twoLines)))
	if err != nil {
		t.Fatal(err)
	}
	file.Seek(5, io.SeekStart)
	os.Stdin = file
	f, err = trace.Open(trace.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	if kinds, diags := read(t, f); kinds[event.SchedWakeIdle] != 2 || len(diags) > 0 {
		t.Errorf("rest of a file: %v %v", kinds, diags)
	}
	f.Close()
}

// TestCutCompressed keeps what can be read of a compressed file without its end.
func TestCutCompressed(t *testing.T) {
	var text bytes.Buffer
	text.WriteString("# tracer: nop\n")
	for i := range 20000 {
		text.WriteString("  a-1 [000] ..... 1.")
		text.WriteString(strings.Repeat("0", 3) + string(rune('0'+i/10000)) + string(rune('0'+i/1000%10)) + string(rune('0'+i/100%10)))
		text.WriteString(": sched_wake_idle_without_ipi: cpu=1\n")
	}
	for _, how := range []string{"gz", "xz", "zst"} {
		packed := pack(t, how, text.Bytes())
		f, err := trace.Open(write(t, "cut", packed[:len(packed)*9/10]))
		if err != nil {
			// Formats that hand out whole blocks only may have nothing before the cut.
			if !errors.Is(err, event.ErrTruncated) {
				t.Errorf("%s: %v", how, err)
			}
			continue
		}
		kinds, diags := read(t, f)
		found := false
		for _, d := range diags {
			found = found || d.Kind == "truncated"
		}
		if n := kinds[event.SchedWakeIdle]; n < 1000 || n >= 20000 || !found {
			t.Errorf("%s: %d events, %+v", how, n, diags)
		}
		f.Close()
	}
}

// TestBomb stops a small file that claims to be a large trace.
func TestBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 256 MB")
	}
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 400 {
		w.Write(zeros)
	}
	w.Close()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, err = trace.Open(write(t, "bomb.zst", b.Bytes()))
	if !errors.Is(err, event.ErrCorrupt) || !strings.Contains(err.Error(), "grows beyond") {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("leaves %v behind", left[0].Name())
	}
}

// TestErrorsSayWhatToDo opens what is no trace.
func TestErrorsSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "x.dat"), nil, 0o600)
	data := []byte(twoLines)
	bad := pack(t, "gz", bytes.Repeat(data, 1000))
	bad[len(bad)/2] ^= 0x40
	for _, c := range []struct {
		name, path string
		want       []string
	}{
		{"missing", filepath.Join(dir, "nothing"), []string{"no such file", "-"}},
		{"folder", dir, []string{"is a folder", "x.dat"}},
		{"empty", write(t, "e", nil), []string{"empty"}},
		{"empty in gzip", write(t, "e", pack(t, "gz", nil)), []string{"empty"}},
		{"perf.data", write(t, "p", []byte("PERFILE2\x68\x00\x00\x00")), []string{"perf.data", "perf script --ns -i "}},
		{"Perfetto", shared.Path(t, "samples/perfetto/test_trace.perfetto-trace"), []string{"Perfetto", "traceconv"}},
		{"tar.gz", shared.Path(t, "samples/schedviz/test.tar.gz"), []string{"tar xf"}},
		{"zip", write(t, "z", []byte("PK\x03\x04....")), []string{"unzip"}},
		{"Chrome JSON", write(t, "j", []byte(`{"traceEvents":[{"ph":"X"}]}`)), []string{"Chrome JSON"}},
		{"CTF", write(t, "c", []byte("\xc1\x1f\xfc\xc1\x00\x00\x00")), []string{"LTTng", "trace-cmd record"}},
		{"binary", write(t, "b", []byte("\x7fELF\x02\x01\x01\x00")), []string{"7f 45 4c 46", "trace-cmd"}},
		{"prose", write(t, "t", []byte("Dear reader,\nthis is no trace.\n")), []string{`"Dear reader,"`}},
		{"web page", write(t, "h", []byte("<!DOCTYPE html>\n<html>\n<p>hello\n")), []string{"no trace"}},
		{"perf sched", shared.Path(t, "layouts/L13_perf_sched_timehist.txt"), []string{"perf sched", "perf script"}},
		{"cyclictest", shared.Path(t, "layouts/L17_cyclictest.txt"), []string{"latency test", "trace-cmd record"}},
		{"function_graph", shared.Path(t, "layouts/L07_function_graph_events.txt"), []string{"no time stamps", "trace-cmd record"}},
		{"no context", write(t, "n", []byte("# tracer: nop\n#\nsched_waking: comm=a pid=1 prio=120 target_cpu=000\n")),
			[]string{"line 3", "context-info"}},
		{"damaged gzip", write(t, "d.gz", bad), []string{"decompressing gzip", "damaged"}},
		{"three layers", write(t, "l", pack(t, "gz", pack(t, "gz", pack(t, "gz", data)))), []string{"more than 2 times"}},
	} {
		f, err := trace.Open(c.path)
		if err == nil {
			t.Errorf("%s: opens as %s", c.name, f.Info().Format)
			f.Close()
			continue
		}
		for _, want := range append(c.want, c.path) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.name, err, want)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: an error of several lines: %q", c.name, err)
		}
	}
}

// TestOtherLayouts reads the layouts of other printers that text readers meet.
func TestOtherLayouts(t *testing.T) {
	open := func(name string) []event.Event {
		f, err := trace.Open(shared.Path(t, "layouts/"+name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return collect(t, f)
	}
	big := open("L20_tracecmd_latency_bigcpu")
	if len(big) != 3 || big[0].CPU != 110 || big[0].Time != 81778_908247_000 || big[0].Kind != event.SchedSwitch ||
		big[0].Task != 52501 || big[0].State != event.StateSleeping || big[0].Next != 0 || big[1].Task != 0 ||
		big[1].Next != 52501 || big[2].Kind != event.SchedWaking || big[2].Task != 52502 || big[2].TaskPrio != 100 ||
		big[2].Target != 113 {
		t.Errorf("L20: %+v", big)
	}
	page := open("L22_systrace_html_tgid")
	if len(page) != 3 || page[0].Time != 514769_086139_000 || page[0].TGID != 611 || page[0].NextPrio != 97 ||
		page[1].TGID != event.NoPID || page[1].CPU != 2 || page[1].PID != 0 || page[2].TGID != 77 || page[2].Kind != event.SchedWaking {
		t.Errorf("L22: %+v", page)
	}
	noise := open("L15_timerlat_osnoise")
	if len(noise) != 6 {
		t.Errorf("L15: %d events, want 5 and the stack", len(noise))
	}
	for _, ev := range noise {
		if ev.Kind != event.Other || ev.CPU != 7 {
			t.Errorf("L15: %+v", ev)
		}
	}
}
