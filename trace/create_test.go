package trace_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace"
	"github.com/whylate/whylate/trace/ftracetext"
	"github.com/whylate/whylate/trace/tracedat"
)

// writeTo makes a trace of list.
func writeTo(t testing.TB, w trace.Writer, list []event.Event) {
	t.Helper()
	for i := range list {
		ev := list[i]
		if err := w.Write(&ev); err != nil {
			t.Fatal(err)
		}
		ev = event.Event{} // a writer must not hold on to it
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// readBack returns the events of a source, gaps too, and fails on diagnostics other than
// those about lost events.
func readBack(t interface{ Fatal(...any) }, src event.Source) []event.Event {
	s, err := src.Events(event.Options{OtherText: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var list []event.Event
	for {
		ev, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, *ev)
	}
	for _, d := range s.Diagnostics() {
		if d.Kind != "lost_events" {
			t.Fatal(d)
		}
	}
	return list
}

// gapsAlike gives gaps one name: text readers call them so, others do not.
func gapsAlike(list []event.Event, names *event.Names) []event.Event {
	out := append([]event.Event(nil), list...)
	for i := range out {
		if out[i].Kind == event.Gap {
			out[i].Name = names.Intern("gap")
		}
	}
	return out
}

// TestWrittenTracesComeBack: whatever happened, both formats give the same events again,
// the same facts about the machine, and the same bytes each time.
func TestWrittenTracesComeBack(t *testing.T) {
	for ext, format := range map[string]struct {
		write func(io.Writer, event.Info, *event.Names) trace.Writer
		read  func(io.ReaderAt, int64, *event.Names) (event.Source, error)
	}{
		".dat": {
			func(w io.Writer, i event.Info, n *event.Names) trace.Writer { return tracedat.NewWriter(w, i, n) },
			func(r io.ReaderAt, size int64, n *event.Names) (event.Source, error) {
				return tracedat.Open(r, size, n)
			},
		},
		".txt": {
			trace.NewText,
			func(r io.ReaderAt, size int64, n *event.Names) (event.Source, error) {
				return ftracetext.Open(r, size, n)
			},
		},
	} {
		t.Run(ext, rapid.MakeCheck(func(t *rapid.T) {
			kernel := rapid.SampledFrom(kernels).Draw(t, "kernel")
			g := generator{t: t, names: event.NewNames(), kernel: kernel}
			want := g.stream()
			info := event.Info{Kernel: kernel, Machine: "x86_64", CPUs: 256, Clock: "mono"}
			var files [2]bytes.Buffer
			for i := range files {
				w := format.write(&files[i], info, g.names)
				for j := range want {
					if err := w.Write(&want[j]); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
				t.Error("the same events gave other bytes")
			}
			src, err := format.read(bytes.NewReader(files[0].Bytes()), int64(files[0].Len()), g.names)
			if err != nil {
				t.Fatal(err)
			}
			got := readBack(t, src)
			if diff := cmp.Diff(gapsAlike(want, g.names), gapsAlike(got, g.names)); diff != "" {
				t.Errorf("events (-written +read):\n%s", diff)
			}
			if i := *src.Info(); i.Kernel != info.Kernel || i.Machine != info.Machine || i.CPUs != info.CPUs || i.Clock != info.Clock || i.Resolution != 1 {
				t.Errorf("facts %+v", i)
			}
		}))
	}
}

// TestCreateByName: the end of the name chooses format and compression.
func TestCreateByName(t *testing.T) {
	names := event.NewNames()
	var ev event.Event
	ev.Reset()
	ev.Kind, ev.CPU, ev.PID, ev.Target, ev.Time, ev.Flags = event.SchedWakeIdle, 1, 42, 3, 1000, event.FlagsKnown
	for name, want := range map[string]struct{ format, magic string }{
		"a.dat": {"trace.dat v6", "\x17\x08\x44tracing6"}, "b.txt": {"ftrace text", "# tracer: nop"},
		"c.dat.gz": {"trace.dat v6", "\x1f\x8b"}, "d.txt.xz": {"ftrace text", "\xfd7zXZ"}, "e.DAT.ZST": {"trace.dat v6", "\x28\xb5\x2f\xfd"},
	} {
		path := filepath.Join(t.TempDir(), name)
		w, err := trace.Create(path, event.Info{CPUs: 2}, names)
		if err != nil {
			t.Fatal(err)
		}
		writeTo(t, w, []event.Event{ev})
		if data, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(data, []byte(want.magic)) {
			t.Errorf("%s begins with %q, %v", name, data[:min(len(data), 8)], err)
		}
		f, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		list := collect(t, f)
		if f.Info().Format != want.format || len(list) != 1 || list[0].Target != 3 || list[0].PID != 42 || f.Info().CPUs != 2 {
			t.Errorf("%s: %s with %+v", name, f.Info().Format, list)
		}
		f.Close()
	}
}

// TestCreateRefuses names that tell no format, and places that cannot be written.
func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"trace", "a.gz", "a.perf", "dat", ".", "a.txt.bz2"} {
		if _, err := trace.Create(filepath.Join(dir, name), event.Info{}, event.NewNames()); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("leaves %v behind", left)
	}
	if _, err := trace.Create(filepath.Join(dir, "no", "a.dat"), event.Info{}, event.NewNames()); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// TestFullDisk: an error of the disk is one of the trace.
func TestFullDisk(t *testing.T) {
	full := filepath.Join(t.TempDir(), "full.txt")
	if os.Symlink("/dev/full", full) != nil {
		t.Skip("no links here")
	}
	if _, err := os.Stat(full); err != nil {
		t.Skip("no /dev/full here")
	}
	w, err := trace.Create(full, event.Info{}, event.NewNames())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil {
		t.Error("a full disk is no error")
	}
}

// TestText writes to something that stays open.
func TestText(t *testing.T) {
	var out bytes.Buffer
	w := trace.NewText(&out, event.Info{}, event.NewNames())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out.Bytes(), []byte("# tracer: nop\n")) {
		t.Errorf("a text without events begins with %q", out.String())
	}
}
