package trace_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
	"github.com/whylate/whylate/trace/ftracetext"
)

// traceCmd returns what trace-cmd prints about a file, with the errors of trace-cmd that
// do not concern the output left out.
func traceCmd(t *testing.T, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath("trace-cmd")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("trace-cmd is not installed (CI promises it)")
		}
		t.Skip("trace-cmd is not installed")
	}
	out, err := exec.Command(path, args...).Output()
	if err != nil {
		t.Fatalf("trace-cmd %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// collect returns copies of the events of src, without gaps.
func collect(t *testing.T, src event.Source) []event.Event {
	t.Helper()
	s, err := src.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var list []event.Event
	for {
		ev, err := s.Next()
		if err == io.EOF {
			for _, d := range s.Diagnostics() {
				if strings.HasPrefix(d.Kind, "unknown_") || d.Kind == "out_of_order" || d.Kind == "flags" {
					t.Errorf("diagnostic %+v", d)
				}
			}
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind != event.Gap {
			list = append(list, *ev)
		}
	}
}

// TestTextEqualsBinary reads each recorded trace.dat directly and through the text that
// trace-cmd makes of it, and compares what both say.
func TestTextEqualsBinary(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(shared.Path(t, "traces"), "*", "*.dat"))
	if len(paths) < 10 {
		t.Fatalf("only %d recorded traces", len(paths))
	}
	paths = append(paths, shared.Path(t, "samples/lisa/rtapp_trace.dat"), shared.Path(t, "samples/trappy/trace.dat"),
		shared.Path(t, "samples/trappy/raw_trace.dat"))
	for _, path := range paths {
		base := filepath.Base(path)
		forms := [][]string{{"-t"}}
		switch base {
		case "exitfn-256.dat", "mixed.dat", "throttle950000-hog.dat", "rtapp_trace.dat", "trace.dat":
			forms = append(forms, []string{"-t", "-R"}, []string{"-t", "-l"}, nil)
		case "raw_trace.dat", "rtapp.dat", "exit-0.dat":
		default:
			if os.Getenv("CI") == "" {
				continue // all of them, one with 2.5 million events, take a minute
			}
		}
		for _, flags := range forms {
			t.Run(base+strings.Join(flags, ""), func(t *testing.T) { compareText(t, path, flags) })
		}
	}
}

func compareText(t *testing.T, path string, flags []string) {
	text := traceCmd(t, append(append([]string{"report"}, flags...), path)...)
	bin, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	txt, err := ftracetext.Open(bytes.NewReader(text), int64(len(text)), bin.Names())
	if err != nil {
		t.Fatal(err)
	}
	want, got := collect(t, bin), collect(t, txt)
	how := comparison{names: bin.Names()}
	for _, f := range flags {
		how.ns = how.ns || f == "-t"
		how.raw = how.raw || f == "-R"
		how.latency = how.latency || f == "-l"
	}
	bad := 0
	for i, j := 0, 0; i < len(want) && j < len(got) && bad < 5; i, j = i+1, j+1 {
		if diff := how.diff(&want[i], &got[j]); diff != "" {
			t.Errorf("event %d: %s:\n%s\n%s", i, diff, ftracetext.AppendEvent(nil, &want[i], how.names),
				ftracetext.AppendEvent(nil, &got[j], how.names))
			bad++
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d events as text, %d as trace.dat", len(got), len(want))
	}
}

// comparison is what a form of the text can tell.
type comparison struct {
	names            *event.Names
	ns, raw, latency bool
}

func (c *comparison) diff(a, b *event.Event) string {
	bTime := b.Time
	if !c.ns { // trace-cmd rounds
		a2 := (a.Time + 500) / 1000 * 1000
		if a.Kind == event.FuncExit {
			a2 = bTime
		}
		if a2 != bTime {
			return "time"
		}
	} else if a.Time != bTime && a.Kind != event.FuncExit {
		return "time"
	}
	switch {
	case a.CPU != b.CPU:
		return "CPU"
	case a.PID != b.PID:
		return "pid"
	case a.Kind != b.Kind:
		return "kind"
	case a.Name != b.Name:
		return "name " + c.names.String(a.Name) + " " + c.names.String(b.Name)
	case a.Task != b.Task || a.Next != b.Next:
		return "tasks"
	case a.TaskComm != b.TaskComm || a.NextComm != b.NextComm:
		return "names of tasks"
	case a.TaskPrio != b.TaskPrio || a.NextPrio != b.NextPrio:
		return "priorities"
	case a.Orig != b.Orig || a.Target != b.Target && !(c.raw && a.Kind == event.IPIRaise): // a mask in bytes
		return "CPUs of the task"
	case a.Arg != b.Arg || a.Arg2 != b.Arg2 || a.Arg3 != b.Arg3:
		return "arguments"
	case a.Text != b.Text && !(c.raw && a.Kind == event.Print) && // raw bprint: an address
		!strings.Contains(c.names.String(a.Text), "\n"): // the rest is on lines of its own
		return "text " + c.names.String(a.Text) + " " + c.names.String(b.Text)
	case !c.raw && a.Func != b.Func && !(a.Kind == event.FuncExit && b.Func == 0): // "}"
		return "function " + c.names.String(a.Func) + " " + c.names.String(b.Func)
	case c.state(a.State) != c.state(b.State):
		return "state " + a.State.String() + " " + b.State.String()
	case c.latency && a.Kind != event.FuncExit && (a.PreemptDepth != b.PreemptDepth || a.MigrateDisable != b.MigrateDisable):
		return "preempt depth"
	}
	return ""
}

// state leaves out what the plugin's letters do not tell: R+, and which way a task died.
func (c *comparison) state(s event.State) event.State {
	if c.raw {
		return s
	}
	s &^= event.StatePreempted
	if s&(event.StateDead|event.StateZombie) != 0 {
		s = event.StateDead
	}
	return s
}
