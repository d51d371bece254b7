package trace_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
	"github.com/whylate/whylate/trace/ftracetext"
	"github.com/whylate/whylate/trace/tracedat"
)

// writtenFile makes a trace.dat of list and returns its path.
func writtenFile(t *testing.T, info event.Info, names *event.Names, list []event.Event) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written.dat")
	w, err := trace.Create(path, info, names)
	if err != nil {
		t.Fatal(err)
	}
	writeTo(t, w, list)
	return path
}

// TestTraceCmdReadsWrittenEvents: what trace-cmd prints of a written file, through its
// plugins and field by field, reads as the events that were written, on a kernel with the
// usual records and on one with a longer head.
func TestTraceCmdReadsWrittenEvents(t *testing.T) {
	for _, kernel := range kernels[:2] {
		names := event.NewNames()
		info := event.Info{CPUs: 4, Kernel: kernel, Machine: "x86_64", Clock: "local"}
		path := writtenFile(t, info, names, allKinds(names))
		for _, flags := range [][]string{{"-t"}, {"-t", "-R"}, {"-t", "-l"}, nil} {
			compareText(t, path, flags)
		}
		odd := writtenFile(t, info, names, oddForms(names))
		compareText(t, odd, []string{"-t", "-R"})
	}
}

// otherWords are events that trace-cmd prints in other words than a text trace has.
var otherWords = []string{"ipi_raise", "ipi_send_cpumask", "sys_enter_nanosleep", "sys_exit_nanosleep", "function", "funcgraph_entry",
	"funcgraph_exit"}

// TestTraceCmdUsesOurPrintFormats: without its plugins trace-cmd prints each event by the
// format in the file, and so as the line that a text trace has of it.
func TestTraceCmdUsesOurPrintFormats(t *testing.T) {
	names := event.NewNames()
	info := event.Info{CPUs: 4, Kernel: kernels[0], Machine: "x86_64"}
	for _, list := range [][]event.Event{allKinds(names), oddForms(names)} {
		text := string(traceCmd(t, "report", "-t", "-N", writtenFile(t, info, names, list)))
		lines := strings.Split(strings.TrimSpace(text), "\n")[1:] // behind "cpus=4"
		if len(lines) != len(list) {
			t.Fatalf("%d lines of %d events", len(lines), len(list))
		}
		for i := range list {
			name := names.String(list[i].Name)
			_, got, _ := strings.Cut(lines[i], name+":")
			_, want, _ := strings.Cut(string(ftracetext.AppendEvent(nil, &list[i], names)), name+":")
			got, want = strings.TrimSpace(got), strings.TrimSpace(want)
			hidden := list[i].Arg == event.NoArg && strings.HasPrefix(name, "hrtimer") // a number in a trace.dat
			if got != want && !hidden && !strings.Contains(strings.Join(otherWords, " ")+" ", name+" ") {
				t.Errorf("%s: trace-cmd prints %q, want %q", name, got, want)
			}
			if strings.Contains(lines[i], "FAILED") {
				t.Errorf("%s: %s", name, lines[i])
			}
		}
	}
}

// TestTraceCmdSeesLostEvents: gaps are where they were, with their number.
func TestTraceCmdSeesLostEvents(t *testing.T) {
	names := event.NewNames()
	list := allKinds(names)[:8]
	gap := func(cpu event.CPU, lost int64) event.Event {
		var ev event.Event
		ev.Reset()
		ev.Kind, ev.CPU, ev.Arg = event.Gap, cpu, lost
		return ev
	}
	// In front of the second events of CPUs 1 and 2, twice in front of that of 3, and at
	// the end of 0.
	list = append(append(list[:5:5], gap(1, 9601)), append([]event.Event{list[5], gap(2, -1), list[6], gap(3, 2), gap(3, 3), list[7]}, gap(0, 7))...)
	text := string(traceCmd(t, "report", "-t", writtenFile(t, event.Info{CPUs: 4, Kernel: kernels[0]}, names, list)))
	var got []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "CPU:") {
			got = append(got, line)
		} else if words := strings.Fields(line); len(words) > 3 {
			got = append(got, words[1]+" "+words[3])
		}
	}
	want := []string{"[000] sched_switch:", "[001] sched_waking:", "[002] sched_wakeup:", "[003] sched_wakeup_new:",
		"[000] sched_migrate_task:", "CPU:1 [9601 EVENTS DROPPED]", "[001] sched_stat_runtime:", "CPU:2 [EVENTS DROPPED]",
		"[002] sched_pi_setprio:", "CPU:3 [5 EVENTS DROPPED]", "[003] sched_process_fork:"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestRecordedTracesComeBack writes recorded traces in both formats and compares what is
// read back, event by event and field by field.
func TestRecordedTracesComeBack(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(shared.Path(t, "traces"), "*", "*.dat"))
	paths = append(paths, shared.Path(t, "samples/lisa/rtapp_trace.dat"), shared.Path(t, "samples/trappy/trace.dat"))
	for _, path := range paths {
		base := filepath.Base(path)
		switch base {
		case "hackbench.dat":
			continue // larger than all others together, with nothing that they lack
		case "mixed.dat", "exitfn-256.dat", "rtapp.dat", "throttle950000-hog.dat", "rtapp_trace.dat", "trace.dat":
		default:
			if os.Getenv("CI") == "" {
				continue
			}
		}
		t.Run(base, func(t *testing.T) { recordedComesBack(t, path) })
	}
}

func recordedComesBack(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names := event.NewNames()
	src, err := tracedat.Open(bytes.NewReader(data), int64(len(data)), names)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	want := readBack(t, src)
	rewrite := func(w trace.Writer, file *bytes.Buffer, open func(io.ReaderAt, int64) (event.Source, error)) []event.Event {
		writeTo(t, w, want)
		back, err := open(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		defer back.Close()
		info := back.Info()
		if info.Kernel != src.Info().Kernel || info.CPUs != src.Info().CPUs || info.Clock != src.Info().Clock {
			t.Errorf("read back are kernel %q, %d CPUs, clock %q", info.Kernel, info.CPUs, info.Clock)
		}
		return readBack(t, back)
	}
	var dat, txt bytes.Buffer
	fromDat := rewrite(tracedat.NewWriter(&dat, *src.Info(), names), &dat, func(r io.ReaderAt, size int64) (event.Source, error) {
		return tracedat.Open(r, size, names)
	})
	for i := range fromDat {
		// A task that the recording has no name for gets that which other events tell.
		if i < len(want) && want[i].Comm == 0 {
			fromDat[i].Comm = 0
		}
	}
	same(t, "trace.dat", names, want, fromDat)
	// trace-cmd's plugin takes the letters of states from a fixed table: right only if the
	// file has the numbers of the kernel that recorded, which must be known for that.
	if src.Info().Kernel == "" {
		t.Log("a recording without the name of its kernel: not compared with trace-cmd")
	} else {
		compareText(t, write(t, "written.dat", dat.Bytes()), []string{"-t"})
	}
	fromText := rewrite(trace.NewText(&txt, *src.Info(), names), &txt, func(r io.ReaderAt, size int64) (event.Source, error) {
		return ftracetext.Open(r, size, names)
	})
	same(t, "text", names, gapsAlike(want, names), fromText)
}

// same reports the first differences.
func same(t *testing.T, what string, names *event.Names, want, got []event.Event) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d events, want %d", what, len(got), len(want))
	}
	bad := 0
	for i := range want {
		if i < len(got) && want[i] != got[i] && bad < 5 {
			t.Errorf("%s: event %d: %s\n%s", what, i, ftracetext.AppendEvent(nil, &want[i], names), cmp.Diff(want[i], got[i]))
			bad++
		}
	}
}
