package ftracetext_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace/ftracetext"
)

// TestFlagsText checks that every combination of letters that a kernel prints comes back.
func TestFlagsText(t *testing.T) {
	legend := func(names ...string) string {
		s := "# tracer: nop\n"
		for _, n := range names {
			s += "#            _-----=> " + n + "\n"
		}
		return s
	}
	const irqs, resched, lazy, context, digits = ".dDbX", ".Nnp", ".L", ".ZzHhs", ".1f"
	for _, layout := range []struct {
		head string
		cols []string
	}{
		{legend("irqs-off", "need-resched", "hardirq/softirq", "preempt-depth"), []string{irqs, resched, context, digits}},
		{legend("irqs-off/BH-disabled", "need-resched", "hardirq/softirq", "preempt-depth", "migrate-disable"),
			[]string{irqs, ".NnpBbLl", context, digits, digits}},
		{legend("irqs-off/BH-disabled", "need-resched", "need-resched-lazy", "hardirq/softirq", "preempt-depth",
			"preempt-lazy-depth", "migrate-disable"), []string{irqs, resched, lazy, context, digits, digits, digits}},
		// 3.4-rt: five columns, the last of them another one than in mainline's four.
		{legend("irqs-off", "need-resched", "hardirq/softirq", "preempt-depth", "preempt-lazy-depth"),
			[]string{irqs, resched, context, digits, digits}},
	} {
		combos := []string{""}
		for _, col := range layout.cols {
			var next []string
			for _, c := range combos {
				for _, letter := range col {
					next = append(next, c+string(letter))
				}
			}
			combos = next
		}
		var text strings.Builder
		text.WriteString(layout.head)
		for i, c := range combos {
			fmt.Fprintf(&text, "  a-1 [000] %s 1.%06d: x: 1\n", c, i)
		}
		f := openText(t, []byte(text.String()))
		events, diags := readAll(t, f, event.Options{})
		if len(events) != len(combos) || len(diags) != 0 {
			t.Fatalf("%d events, want %d; %+v", len(events), len(combos), diags)
		}
		for i := range events {
			if got := string(ftracetext.AppendFlags(nil, f.Layout(), &events[i])); got != combos[i] {
				t.Errorf("%q comes back as %q", combos[i], got)
			}
		}
	}
}

// TestWideDepth reads the preempt depth of old kernels beyond 15.
func TestWideDepth(t *testing.T) {
	const head = "# tracer: nop\n# _---=> irqs-off\n# _---=> need-resched\n# _---=> hardirq/softirq\n# _---=> preempt-depth\n"
	f := openText(t, []byte(head+"  a-1 [000] d..1f 1.000001: x: 1\n"))
	events, _ := readAll(t, f, event.Options{})
	if events[0].PreemptDepth != 0x1f || !events[0].Flags.Has(event.IRQsOff) {
		t.Errorf("%+v", events[0])
	}
	if got := string(ftracetext.AppendFlags(nil, f.Layout(), &events[0])); got != "d..1f" {
		t.Errorf("comes back as %q", got)
	}
}

// generator draws events that a kernel could have recorded.
type generator struct {
	t     *rapid.T
	names *event.Names
}

func (g generator) name(label, pattern string) event.Name {
	return g.names.Intern(rapid.StringMatching(pattern).Draw(g.t, label))
}

func (g generator) comm(label string) event.Name {
	return g.name(label, `[a-zA-Z<(\[][a-zA-Z0-9:/_ .=>()\[\]-]{0,12}[a-zA-Z0-9/)\]-]`)
}
func (g generator) function() event.Name { return g.name("function", `[a-z_][a-z0-9_.]{0,20}`) }
func (g generator) text() event.Name {
	return g.name("text", `([!-~][ -~]{0,40}[!-~])?`)
}
func (g generator) pid() event.PID { return event.PID(rapid.Int32Range(0, 1<<22).Draw(g.t, "pid")) }
func (g generator) cpu() event.CPU { return event.CPU(rapid.Int32Range(0, 8191).Draw(g.t, "cpu")) }
func (g generator) prio() event.Prio {
	return event.Prio(rapid.Int32Range(-1, 139).Draw(g.t, "prio"))
}
func (g generator) positive() int64 { return rapid.Int64Range(0, 1<<62).Draw(g.t, "arg") }
func (g generator) bool() bool      { return rapid.Bool().Draw(g.t, "bool") }

// event draws an event of kind k with the fields that event/kind.go lists for it.
func (g generator) event(k event.Kind) event.Event {
	var ev event.Event
	ev.Reset()
	ev.Kind = k
	ev.Time = event.Time(rapid.Int64Range(0, 1<<61).Draw(g.t, "time"))
	ev.CPU, ev.PID, ev.Name = g.cpu(), g.pid(), g.names.Intern(k.String())
	if g.bool() {
		ev.Comm = g.comm("comm")
	}
	if g.bool() {
		ev.TGID = g.pid()
	}
	if g.bool() {
		g.context(&ev)
	}
	g.fields(&ev)
	return ev
}

// context draws flags; what no column can show (an NMI in a softirq) is left out.
func (g generator) context(ev *event.Event) {
	ev.Flags = event.FlagsKnown
	for _, set := range [][]event.Flags{
		{0, event.IRQsOff, event.IRQsOff | event.BHOff, event.BHOff, event.IRQsNoSupport},
		{0, event.NeedResched, event.PreemptResched, event.NeedResched | event.PreemptResched},
		{0, event.NeedReschedLazy},
		{0, event.NMI | event.HardIRQ, event.NMI, event.HardIRQ | event.SoftIRQ, event.HardIRQ, event.SoftIRQ},
	} {
		ev.Flags |= rapid.SampledFrom(set).Draw(g.t, "flags")
	}
	ev.PreemptDepth = rapid.Uint8Range(0, 15).Draw(g.t, "depth")
	ev.LazyDepth = rapid.Uint8Range(0, 15).Draw(g.t, "lazy")
	ev.MigrateDisable = rapid.Uint8Range(0, 15).Draw(g.t, "migrate")
}

func (g generator) task(ev *event.Event) { ev.Task, ev.TaskComm = g.pid(), g.comm("task") }

func (g generator) fields(ev *event.Event) {
	switch ev.Kind {
	case event.Other:
		ev.Name, ev.Text = g.name("event", `[a-z][a-z0-9_]{3,20}_zz`), g.text()
	case event.Gap:
		ev.PID, ev.Arg = event.NoPID, rapid.Int64Range(-1, 1<<40).Draw(g.t, "lost")
		if g.bool() {
			ev.From = event.Time(rapid.Int64Range(0, int64(ev.Time)).Draw(g.t, "from"))
		}
	case event.SchedSwitch:
		g.task(ev)
		ev.TaskPrio, ev.Next, ev.NextComm, ev.NextPrio = g.prio(), g.pid(), g.comm("next"), g.prio()
		ev.State = rapid.SampledFrom([]event.State{event.StateRunnable, event.StatePreempted, event.StateSleeping,
			event.StateDisk, event.StateIdle, event.StateDead, event.StateZombie, event.StateParked, event.StateUnknown,
			event.StateDisk | event.StateWakekill, event.StateDeadOld | event.StateWaking}).Draw(g.t, "state")
	case event.SchedWakeup, event.SchedWakeupNew:
		g.task(ev)
		ev.TaskPrio, ev.Target, ev.Arg = g.prio(), g.cpu(), rapid.Int64Range(0, 1).Draw(g.t, "success")
	case event.SchedWaking:
		g.task(ev)
		ev.TaskPrio, ev.Target = g.prio(), g.cpu()
	case event.SchedMigrateTask:
		g.task(ev)
		ev.TaskPrio, ev.Orig, ev.Target = g.prio(), g.cpu(), g.cpu()
	case event.SchedStatRuntime:
		g.task(ev)
		ev.Arg = g.positive()
		if g.bool() {
			ev.Arg2 = g.positive()
		}
	case event.SchedPISetprio:
		g.task(ev)
		ev.TaskPrio, ev.NextPrio = g.prio(), g.prio()
	case event.SchedProcessFork:
		g.task(ev)
		ev.Next, ev.NextComm = g.pid(), g.comm("child")
	case event.SchedProcessExec:
		ev.Task, ev.Arg, ev.Text = g.pid(), int64(g.pid()), g.text()
	case event.SchedProcessExit, event.SchedProcessFree, event.SchedProcessWait:
		g.task(ev)
		ev.TaskPrio = g.prio()
	case event.TaskNewtask:
		g.task(ev)
		ev.Arg = g.positive()
	case event.TaskRename:
		g.task(ev)
		ev.NextComm = g.comm("new")
	case event.SignalGenerate:
		g.task(ev)
		ev.Arg = int64(rapid.IntRange(1, 64).Draw(g.t, "sig"))
	case event.SignalDeliver, event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit:
		ev.Arg = int64(rapid.IntRange(0, 12).Draw(g.t, "number"))
	case event.IRQHandlerEntry:
		ev.Arg, ev.Text = g.positive(), g.text()
	case event.IRQHandlerExit:
		ev.Arg = g.positive()
	case event.VectorEntry:
		ev.Arg, ev.Name = 236, g.names.Intern("local_timer_entry")
	case event.VectorExit:
		ev.Arg, ev.Name = 253, g.names.Intern("reschedule_exit")
	default:
		g.moreFields(ev)
	}
}

func (g generator) moreFields(ev *event.Event) {
	switch ev.Kind {
	case event.HrtimerStart:
		ev.Arg, ev.Func, ev.Arg2, ev.Arg3 = rapid.Int64().Draw(g.t, "timer"), g.function(), g.positive(), g.positive()
	case event.HrtimerExpireEntry:
		ev.Arg, ev.Func, ev.Arg2 = rapid.SampledFrom([]int64{event.NoArg, -0x77c0, 0x10}).Draw(g.t, "timer"), g.function(), g.positive()
	case event.HrtimerExpireExit, event.HrtimerCancel:
		ev.Arg = rapid.Int64().Draw(g.t, "timer")
	case event.CPUIdle:
		ev.Arg, ev.Target = rapid.SampledFrom([]int64{0, 1, 9, event.IdleExit}).Draw(g.t, "state"), g.cpu()
	case event.IPIRaise, event.IPIEntry, event.IPIExit:
		ev.Text = g.name("reason", `[A-Z][a-z A-Z()]{0,30}`)
	case event.SchedWakeIdle:
		ev.Target = g.cpu()
	case event.IRQDisable, event.IRQEnable, event.PreemptDisable, event.PreemptEnable:
		if g.bool() {
			ev.Func = g.function()
		}
	case event.SysEnter, event.SysExit:
		ev.Arg = rapid.Int64Range(0, 500).Draw(g.t, "nr")
		if g.bool() {
			ev.Name = g.names.Intern(ev.Kind.String() + "_read")
			if g.bool() {
				ev.Arg = -1
			}
		}
	case event.FuncEntry:
		ev.Func = g.function()
		if g.bool() {
			ev.Name = g.names.Intern("function")
		}
	case event.FuncExit:
		ev.Arg = rapid.Int64Range(0, 1<<40).Draw(g.t, "length")
		if g.bool() {
			ev.Func = g.function()
		}
	case event.Print:
		ev.Text = g.text()
		ev.Name = g.names.Intern(rapid.SampledFrom([]string{"print", "bprint", "bputs", "tracing_mark_write"}).Draw(g.t, "name"))
	}
}

// TestEventRoundTrip writes events of every kind as a line and reads the line.
func TestEventRoundTrip(t *testing.T) {
	for k := event.Kind(0); k < event.NumKinds; k++ {
		t.Run(k.String(), rapid.MakeCheck(func(t *rapid.T) {
			g := generator{t, event.NewNames()}
			want := g.event(k)
			line := ftracetext.AppendEvent(nil, &want, g.names)
			f, err := ftracetext.Open(bytes.NewReader(line), int64(len(line)), g.names)
			if err != nil {
				t.Fatalf("%s\n%v", line, err)
			}
			s, _ := f.Events(event.Options{OtherText: true})
			got, err := s.Next()
			if err != nil {
				t.Fatalf("%s\n%v", line, err)
			}
			if diff := cmp.Diff(want, *got); diff != "" {
				t.Fatalf("%s\n%s", line, diff)
			}
			if again := ftracetext.AppendEvent(nil, got, g.names); !bytes.Equal(again, line) {
				t.Fatalf("%s\nis written again as\n%s", line, again)
			}
			if _, err := s.Next(); err != io.EOF {
				t.Fatalf("%s\nhas a second event", line)
			}
		}))
	}
}

// TestLinesComeBack writes the events of recorded texts and compares with the lines that
// the kernel wrote, for the kinds whose every field an Event keeps.
func TestLinesComeBack(t *testing.T) {
	whole := event.Kinds(event.SchedSwitch, event.SchedWaking, event.SchedWakeup, event.SchedWakeupNew,
		event.SchedMigrateTask, event.SchedStatRuntime, event.SchedProcessFork, event.SchedProcessFree,
		event.SchedProcessWait, event.SchedProcessExec, event.IRQHandlerEntry, event.SoftirqRaise, event.SoftirqEntry,
		event.SoftirqExit, event.CPUIdle, event.SchedWakeIdle, event.VectorEntry, event.VectorExit, event.Print)
	for _, name := range []string{"tracefs-6.18.txt", "tracefs-tgid-6.18.txt", "trace_pipe-lost-6.18.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		lines := map[string]int{}
		for _, line := range strings.Split(string(text), "\n") {
			line = strings.TrimLeft(line, " ")                    // trace_pipe was read by a shell, which cut the indent
			lines[strings.Replace(line, " (-------) ", " ", 1)]++ // an unknown process has no column
		}
		f := openText(t, text)
		events, _ := readAll(t, f, event.Options{Want: whole})
		n := 0
		for i := range events {
			if events[i].Kind == event.Gap {
				continue
			}
			line := string(ftracetext.AppendEvent(nil, &events[i], f.Names()))
			line = strings.Replace(strings.TrimLeft(line, " "), "000: ", ": ", 1) // the kernel writes microseconds
			if lines[line] == 0 {
				t.Errorf("%s: not in the text: %q", name, line)
			}
			n++
		}
		if n < 20 {
			t.Errorf("%s: only %d events", name, n)
		}
	}
}
