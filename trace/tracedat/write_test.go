package tracedat

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace/eventformat"
)

// wake is an event with a number in it that tells it from others.
func wake(cpu event.CPU, time event.Time, n int64) event.Event {
	var ev event.Event
	ev.Reset()
	ev.Kind, ev.CPU, ev.Time, ev.PID, ev.Flags, ev.Arg = event.SoftirqEntry, cpu, time, 1, event.FlagsKnown, n
	return ev
}

// written writes a file and opens it.
func written(t testing.TB, info event.Info, names *event.Names, list ...event.Event) *File {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, info, names)
	for i := range list {
		if err := w.Write(&list[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()), names)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// all returns the events of f and what was wrong.
func all(t testing.TB, f *File) (list []event.Event, diags []event.Diagnostic) {
	t.Helper()
	s, err := f.Events(event.Options{OtherText: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		ev, err := s.Next()
		if err == io.EOF {
			return list, s.Diagnostics()
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, *ev)
	}
}

// TestPagesBeyondMemoryComeBack writes more than waits in memory, on CPUs that fill their
// pages at different speeds, and looks for what is left behind.
func TestPagesBeyondMemoryComeBack(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var out bytes.Buffer
	w := NewWriter(&out, event.Info{CPUs: 8}, event.NewNames())
	const n = 700_000 // of 20 bytes
	for i := range int64(n) {
		ev := wake(event.CPU(i%8&(i/100)), event.Time(10*i), i)
		if err := w.Write(&ev); err != nil {
			t.Fatal(err)
		}
	}
	if w.spool.file == nil {
		t.Error("nothing went to the disk: the test is too small")
	}
	if cap(w.spool.mem) > 2*spoolMemory {
		t.Errorf("%d bytes in memory", cap(w.spool.mem))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("leaves %v behind", left[0].Name())
	}
	f, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()), event.NewNames())
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range int64(n) {
		ev, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if ev.Arg != i || ev.Time != event.Time(10*i) || ev.CPU != event.CPU(i%8&(i/100)) {
			t.Fatalf("event %d is %+v", i, *ev)
		}
	}
	if _, err := s.Next(); err != io.EOF {
		t.Error("events that nobody wrote")
	}
}

// TestGapsAtTheEdges: lost events before the first and after the last event of a CPU, on
// one without events, and several in a row.
func TestGapsAtTheEdges(t *testing.T) {
	gap := func(cpu event.CPU, lost int64) event.Event {
		var ev event.Event
		ev.Reset()
		ev.Kind, ev.CPU, ev.Arg = event.Gap, cpu, lost
		return ev
	}
	f := written(t, event.Info{}, event.NewNames(), gap(0, 3), wake(0, 100, 1), gap(1, 5), gap(0, 2), gap(0, 4), wake(0, 200, 2),
		gap(0, 1), gap(0, -1), wake(0, 300, 3), gap(0, 0), wake(0, 400, 4), gap(0, 9))
	list, _ := all(t, f)
	type row struct{ from, time, arg int64 }
	var got []row
	for _, ev := range list {
		if ev.Kind != event.Gap {
			got = append(got, row{0, int64(ev.Time), ev.Arg})
			continue
		}
		from := int64(ev.From)
		if ev.From == event.NoTime {
			from = -1
		}
		got = append(got, row{from, int64(ev.Time), -1000 - ev.Arg})
	}
	want := []row{{-1, 100, -1003}, {0, 100, 1}, {100, 200, -1006}, {0, 200, 2}, {200, 300, -999}, {0, 300, 3},
		{300, 400, -999}, {0, 400, 4}, {400, 400, -1009}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("from, time, number (-want +got):\n%s", diff)
	}
}

// TestNamesOfTasks: a task's own lines tell its name better than events that speak of it,
// and the table of the source best of all.
func TestNamesOfTasks(t *testing.T) {
	names := event.NewNames()
	n := names.Intern
	speaks := func(pid event.PID, comm string) event.Event {
		ev := wake(0, 1, 0)
		ev.Kind, ev.Task, ev.TaskComm, ev.Arg = event.SchedProcessExit, pid, n(comm), event.NoArg
		return ev
	}
	line := func(pid event.PID, comm string) event.Event {
		ev := wake(0, 1, 0)
		ev.PID, ev.Comm = pid, n(comm)
		return ev
	}
	rename := speaks(5, "old")
	rename.Kind, rename.NextComm = event.TaskRename, n("new")
	f := written(t, event.Info{Comms: map[event.PID]event.Name{4: n("table"), 0: n("<idle>"), 7: 0}}, names,
		speaks(1, "first"), speaks(1, "last"), line(2, "line"), speaks(2, "other"), speaks(3, "other"), line(3, "line"),
		line(4, "line"), rename, line(6, "two\nlines"), line(0, "swapper"))
	got := map[event.PID]string{}
	for pid, name := range f.Info().Comms {
		got[pid] = names.String(name)
	}
	want := map[event.PID]string{0: "<idle>", 1: "last", 2: "line", 3: "line", 4: "table", 5: "new", 6: "two lines"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestDescribedEvents: the file describes what was written and what the source said it
// recorded, not what nobody asked for.
func TestDescribedEvents(t *testing.T) {
	f := written(t, event.Info{Events: []string{"sched_switch", "softirq_entry", "sys_enter_read", "sched_stat_wait", "gap"}},
		event.NewNames(), wake(0, 1, 1))
	if diff := cmp.Diff([]string{"softirq_entry", "sched_switch", "sys_enter_read"}, f.Info().Events); diff != "" {
		t.Errorf("described events (-want +got):\n%s", diff)
	}
}

func TestWhatNoFileHoldsIsRefused(t *testing.T) {
	for name, ev := range map[string]event.Event{
		"no CPU": wake(event.NoCPU, 1, 1), "a CPU beyond all machines": wake(maxCPUs, 1, 1),
		"a kind that is none": {Kind: event.NumKinds},
	} {
		w := NewWriter(io.Discard, event.Info{}, event.NewNames())
		if err := w.Write(&ev); !errors.Is(err, event.ErrNotSupported) {
			t.Errorf("%s: %v", name, err)
		}
		good := wake(0, 1, 1)
		if err := w.Write(&good); err == nil {
			t.Errorf("%s: writing goes on after an error", name)
		}
		if err := w.Close(); err == nil {
			t.Errorf("%s: closing forgets the error", name)
		}
	}
}

// TestHostileEventsGiveAFile: whatever an event holds, the file is one that opens, and has
// as many events.
func TestHostileEventsGiveAFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		name := func() event.Name {
			s := rapid.OneOf(rapid.SampledFrom([]string{"", "a b\nID: 7\n", "sched_switch", "sys_enter", "sys_enter_x y", "%s%n\x00",
				"\"\\", strings.Repeat("x", 5000), "_stext", "bprint", "print"}), rapid.String()).Draw(t, "name")
			return names.Intern(s)
		}
		number := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, -1, event.NoArg, 1<<63 - 1}))
		var out bytes.Buffer
		info := event.Info{Kernel: rapid.SampledFrom([]string{"", "6.1-rt", "4.4.0", "a b", "\n"}).Draw(t, "kernel"),
			Machine: "x\ny", CPUs: rapid.IntRange(-1, 10000).Draw(t, "CPUs"), Clock: rapid.SampledFrom([]string{"", "[", "] [x", "mono"}).Draw(t, "clock"),
			Events: []string{"sched_switch\n", "", "sys_exit"}}
		w := NewWriter(&out, info, names)
		n := 0
		for range rapid.IntRange(0, 20).Draw(t, "events") {
			arg := func() int64 { return number.Draw(t, "number") }
			ev := event.Event{Time: event.Time(arg()), CPU: event.CPU(rapid.IntRange(0, 70).Draw(t, "cpu")), PID: event.PID(arg()), Comm: name(),
				TGID: event.PID(arg()), Kind: event.Kind(rapid.IntRange(0, int(event.NumKinds)-1).Draw(t, "kind")), PreemptDepth: uint8(arg()),
				LazyDepth: uint8(arg()), MigrateDisable: uint8(arg()), Flags: event.Flags(arg()), State: event.State(arg()),
				Task: event.PID(arg()), TaskComm: name(), TaskPrio: event.Prio(arg()), Next: event.PID(arg()), NextComm: name(),
				NextPrio: event.Prio(arg()), Orig: event.CPU(arg()), Target: event.CPU(arg() % 9000), Arg: arg(), Arg2: arg(), Arg3: arg(),
				From: event.Time(arg()), Func: name(), Name: name(), Text: name()}
			if err := w.Write(&ev); err != nil {
				t.Fatal(err)
			}
			if ev.Kind != event.Gap {
				n++
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()), event.NewNames())
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Events(event.Options{OtherText: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for ev, err := s.Next(); err != io.EOF; ev, err = s.Next() {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind != event.Gap {
				n--
			}
		}
		for _, d := range s.Diagnostics() {
			if d.Kind != "lost_events" && d.Kind != "clock" {
				t.Errorf("diagnostic %+v", d)
			}
		}
		if n != 0 {
			t.Errorf("%d events are missing", n)
		}
	})
}

// TestWriteAllocatesNothing once all names and formats are known.
func TestWriteAllocatesNothing(t *testing.T) {
	f := openFile(t, shared.Path(t, "traces/mixed-v61-smp4/mixed.dat"))
	list, _ := all(t, f)
	w := NewWriter(io.Discard, *f.Info(), f.names)
	write := func() {
		for i := range list[:2000] {
			if err := w.Write(&list[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	write()
	w.spool.mem = make([]byte, 0, 2*spoolMemory)
	for _, c := range w.cpus {
		if c != nil {
			c.pages = make([]uint32, 0, 1000)
		}
	}
	if n := testing.AllocsPerRun(5, write); n > 0 {
		t.Errorf("%v allocations for 2,000 events", n)
	}
}

// TestWrittenFieldsAreTheKernels: each field that is written has name, type, width and sign
// of the recording kernel's, in its order.
func TestWrittenFieldsAreTheKernels(t *testing.T) {
	for _, path := range []string{"traces/mixed-v61-smp4/mixed.dat", "traces/exit-storm-v61rt-smp1/exitfn-256.dat"} {
		f := openFile(t, shared.Path(t, path))
		ours := written(t, *f.Info(), f.names)
		kernels := map[string]*eventformat.Format{}
		for id := range f.formats.Len() {
			if format, err := f.formats.Format(id); err == nil && format != nil {
				kernels[format.System+":"+format.Name] = format
			}
		}
		n := 0
		for id := range ours.formats.Len() {
			format, err := ours.formats.Format(id)
			if err != nil || format == nil {
				continue
			}
			kernel := kernels[format.System+":"+format.Name]
			if kernel == nil {
				t.Errorf("%s: no %s:%s in the recording", path, format.System, format.Name)
				continue
			}
			rest := kernel.Fields
			for _, field := range format.Fields {
				at := slices.IndexFunc(rest, func(k eventformat.Field) bool { return k.Name == field.Name })
				if at < 0 {
					t.Errorf("%s: %s has no field %s there", path, format.Name, field.Name)
					continue
				}
				want := rest[at]
				rest = rest[at+1:]
				field.Offset, want.Offset = 0, 0
				if field != want {
					t.Errorf("%s: %s: %+v, want %+v", path, format.Name, field, want)
				}
			}
			n++
		}
		if n < 25 {
			t.Errorf("%s: only %d formats compared", path, n)
		}
	}
}
