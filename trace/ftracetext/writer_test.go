package ftracetext_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace/ftracetext"
)

// TestLegendIsTheKernels compares the legend with those of kernels with four, five and
// seven flag columns.
func TestLegendIsTheKernels(t *testing.T) {
	for kernel, name := range map[string]string{"5.10.0": "L01_ftrace_4flags", "6.1.0-50-amd64": "L02_ftrace_5flags",
		"6.1.0-50-rt-amd64": "L03_ftrace_7flags_rt", "": "L02_ftrace_5flags"} {
		text, err := os.ReadFile(shared.Path(t, "layouts/"+name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := ftracetext.NewWriter(&out, event.Info{Kernel: kernel}, event.NewNames())
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(legend(string(text)), legend(out.String())); diff != "" {
			t.Errorf("%q (-want +got):\n%s", kernel, diff)
		}
	}
}

// legend is the lines that explain the flag columns.
func legend(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "#") && (strings.Contains(line, "=> ") || strings.HasSuffix(line, "delay")) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestWrittenText is a whole text, as a reader sees it.
func TestWrittenText(t *testing.T) {
	names := event.NewNames()
	n := names.Intern
	var out bytes.Buffer
	info := event.Info{Kernel: "6.1.0-50-amd64", Machine: "x86_64", Clock: "mono", CPUs: 4,
		Comms: map[event.PID]event.Name{311: n("ctl-loop"), 5298: n("logger")}}
	w := ftracetext.NewWriter(&out, info, names)
	var ev event.Event
	ev.Reset()
	ev.Kind, ev.CPU, ev.PID, ev.Time, ev.Flags = event.SoftirqEntry, 2, 311, 812_000_100_001, event.FlagsKnown|event.SoftIRQ
	ev.PreemptDepth, ev.Arg = 1, event.SoftirqNetRx
	gap := event.Event{Kind: event.Gap, CPU: 2, Arg: 12}
	nobody := event.Event{Kind: event.Gap, CPU: event.NoCPU, Arg: 12}
	other := ev
	other.Comm, other.PID, other.Flags, other.Time = n("named here"), 5298, 0, 812_000_100_002
	for _, e := range []*event.Event{&ev, &nobody, &gap, &other} {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	gap.Arg = -1
	w.Write(&gap)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const want = `# tracer: nop
#
# kernel: 6.1.0-50-amd64 x86_64
# clock: mono
# CPUs: 4
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
        ctl-loop-311     [002] ..s1.   812.000100001: softirq_entry: vec=3 [action=NET_RX]
CPU:2 [LOST 12 EVENTS]
      named here-5298    [002]    812.000100002: softirq_entry: vec=3 [action=NET_RX]
CPU:2 [LOST EVENTS]
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	f := openText(t, out.Bytes())
	if i := f.Info(); i.Kernel != info.Kernel || i.Machine != info.Machine || i.Clock != info.Clock || i.CPUs != info.CPUs {
		t.Errorf("read back: %+v", *i)
	}
}

// TestStampsWithoutUnitAreTold: a text of stamps in unknown units still says so.
func TestStampsWithoutUnitAreTold(t *testing.T) {
	for _, clock := range []string{"counter", "raw integers", "mono"} {
		var out bytes.Buffer
		w := ftracetext.NewWriter(&out, event.Info{Clock: clock}, event.NewNames())
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, diags := readAll(t, openText(t, out.Bytes()), event.Options{})
		if told := len(diags) == 1 && diags[0].Kind == "clock"; told != (clock != "mono") {
			t.Errorf("%s: %+v", clock, diags)
		}
	}
}

type failingWriter struct{ after int }

func (f *failingWriter) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// TestFailedWritesAreTold: by Write as soon as it is known, at the latest by Close.
func TestFailedWritesAreTold(t *testing.T) {
	var ev event.Event
	ev.Reset()
	ev.Kind, ev.CPU = event.SchedWakeIdle, 1
	w := ftracetext.NewWriter(&failingWriter{100_000}, event.Info{}, event.NewNames())
	n := 0
	for ; n < 10_000 && w.Write(&ev) == nil; n++ {
	}
	if n == 10_000 {
		t.Error("Write does not tell")
	}
	if err := w.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Close: %v", err)
	}
}

// BenchmarkWrite writes a recorded trace; the cost is per event.
func BenchmarkWrite(b *testing.B) {
	f := openText(b, sampleText(b))
	list, _ := readAll(b, f, event.Options{OtherText: true})
	w := ftracetext.NewWriter(io.Discard, *f.Info(), f.Names())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := w.Write(&list[i%len(list)]); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWriteAllocatesNothing for any kind of event in a recorded trace.
func TestWriteAllocatesNothing(t *testing.T) {
	f := openText(t, sampleText(t))
	list, _ := readAll(t, f, event.Options{OtherText: true})
	w := ftracetext.NewWriter(io.Discard, *f.Info(), f.Names())
	if n := testing.AllocsPerRun(3, func() {
		for i := range list {
			if err := w.Write(&list[i]); err != nil {
				t.Fatal(err)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations for %d events", n, len(list))
	}
}
