package eventformat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
)

// fieldsOf lists "declaration@offset+size" of the fields that are not common ones.
func fieldsOf(t *testing.T, e *Encoder, name string) []string {
	t.Helper()
	for _, f := range e.Formats() {
		if f.Name != name {
			continue
		}
		format, err := Parse(f.System, f.Text, 8)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, field := range format.Fields {
			if !strings.HasPrefix(field.Name, "common_") {
				list = append(list, fmt.Sprintf("%s %s@%d+%d", field.Type, field.Name, field.Offset, field.Size))
			}
		}
		return list
	}
	t.Fatalf("no format of %s", name)
	return nil
}

// TestRecordsAreLaidOutAsByTheKernel compares with formats of 6.1 and 6.1-rt.
func TestRecordsAreLaidOutAsByTheKernel(t *testing.T) {
	for _, test := range []struct {
		lazy bool
		name string
		want []string
	}{
		{false, "sched_switch", []string{"char prev_comm@8+16", "pid_t prev_pid@24+4", "int prev_prio@28+4", "long prev_state@32+8",
			"char next_comm@40+16", "pid_t next_pid@56+4", "int next_prio@60+4"}},
		{true, "sched_switch", []string{"char prev_comm@12+16", "pid_t prev_pid@28+4", "int prev_prio@32+4", "long prev_state@40+8",
			"char next_comm@48+16", "pid_t next_pid@64+4", "int next_prio@68+4"}},
		{false, "sched_stat_runtime", []string{"char comm@8+16", "pid_t pid@24+4", "u64 runtime@32+8", "u64 vruntime@40+8"}},
		{false, "hrtimer_expire_entry", []string{"void * hrtimer@8+8", "s64 now@16+8", "void * function@24+8"}},
		{true, "hrtimer_expire_entry", []string{"void * hrtimer@16+8", "s64 now@24+8", "void * function@32+8"}},
		{false, "irq_handler_entry", []string{"int irq@8+4", "char name@12+4"}},
		{false, "cpu_idle", []string{"u32 state@8+4", "u32 cpu_id@12+4"}},
		{false, "print", []string{"unsigned long ip@8+8", "char buf@16+0"}},
		{false, "bprint", []string{"unsigned long ip@8+8", "const char * fmt@16+8", "u32 buf@24+0"}},
	} {
		e := NewEncoder(event.NewNames(), EncodeContext{LazyCount: test.lazy})
		e.Describe(test.name)
		if diff := cmp.Diff(test.want, fieldsOf(t, e, test.name)); diff != "" {
			t.Errorf("%s, lazy count %v (-want +got):\n%s", test.name, test.lazy, diff)
		}
	}
}

// TestFormatsStayBounded: a trace with a new name in each event does not grow without end,
// and names that become one share a format.
func TestFormatsStayBounded(t *testing.T) {
	names := event.NewNames()
	e := NewEncoder(names, EncodeContext{})
	var ev event.Event
	for i := range 3 * maxNamed {
		ev.Reset()
		ev.Kind, ev.Name, ev.Text = event.Other, names.Intern(fmt.Sprint("event-", i)), names.Intern("text")
		if _, err := e.Encode(nil, &ev); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(e.Formats()); n > maxNamed+1 {
		t.Errorf("%d formats", n)
	}
	e = NewEncoder(names, EncodeContext{})
	for _, name := range []string{"a b", "a_b", "a-b", "a\nID: 5\n"} {
		ev.Kind, ev.Name = event.Other, names.Intern(name)
		if _, err := e.Encode(nil, &ev); err != nil {
			t.Fatal(err)
		}
	}
	got := []string{}
	for _, f := range e.Formats() {
		got = append(got, f.Name)
	}
	if diff := cmp.Diff([]string{"a_b", "a_ID__5_"}, got); diff != "" {
		t.Errorf("names of formats (-want +got):\n%s", diff)
	}
}

// TestLongTextsAreCut: a record always fits a page.
func TestLongTextsAreCut(t *testing.T) {
	names := event.NewNames()
	e := NewEncoder(names, EncodeContext{LazyCount: true})
	var ev event.Event
	ev.Reset()
	ev.Text = names.Intern(strings.Repeat("x", 100_000))
	ev.TaskComm = names.Intern("a name that no kernel has")
	for _, k := range []event.Kind{event.Other, event.Print, event.IRQHandlerEntry, event.SchedProcessExec, event.SchedProcessExit} {
		ev.Kind = k
		rec, err := e.Encode(nil, &ev)
		if err != nil || len(rec) > MaxText+128 || len(rec)%4 != 0 {
			t.Errorf("%s: %d bytes, %v", k, len(rec), err)
		}
	}
	rec, _ := e.Encode(nil, &ev)
	if got := string(rec[12:28]); got != "a name that no \x00" {
		t.Errorf("the name is %q", got)
	}
}

func BenchmarkEncode(b *testing.B) {
	names := event.NewNames()
	e := NewEncoder(names, EncodeContext{})
	var ev event.Event
	ev.Reset()
	ev.Kind, ev.Task, ev.TaskComm, ev.Next, ev.NextComm = event.SchedSwitch, 1, names.Intern("ctl-loop"), 2, names.Intern("logger")
	ev.Flags = event.FlagsKnown
	var rec []byte
	b.ReportAllocs()
	for b.Loop() {
		rec, _ = e.Encode(rec[:0], &ev)
	}
}
