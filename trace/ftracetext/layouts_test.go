package ftracetext_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace/ftracetext"
)

// openText opens a text as a trace.
func openText(t testing.TB, text []byte) *ftracetext.File {
	t.Helper()
	f, err := ftracetext.Open(bytes.NewReader(text), int64(len(text)), event.NewNames())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readAll returns copies of all events.
func readAll(t testing.TB, f *ftracetext.File, opt event.Options) ([]event.Event, []event.Diagnostic) {
	t.Helper()
	s, err := f.Events(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var list []event.Event
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

// layoutFile is the part of the layouts' right values that concerns parsing.
type layoutFile struct {
	Header *struct {
		Tracer       string
		LatencyUs    int64 `json:"latency_us"`
		Entries      int64
		CPU          event.CPU
		NCPUs        int
		PreemptModel string `json:"preempt_model"`
		Task         string
		PID          event.PID
		Policy       int64
		RTPriority   int64 `json:"rt_priority"`
	}
	Events []layoutEvent
}

type layoutEvent struct {
	TS        *float64
	TSNs      *int64 `json:"ts_ns"`
	TUs       *int64 `json:"t_us"`
	CPU       *event.CPU
	CurComm   *string         `json:"cur_comm"`
	CurPID    *event.PID      `json:"cur_pid"`
	CurTID    *event.PID      `json:"cur_tid"`
	CurTGID   json.RawMessage `json:"cur_tgid"`
	Event     string
	Kind      string
	Func      string
	FlagsText string `json:"flags_text"`
	Flags     map[string]any
	Fields    map[string]any
	Prev      map[string]any
	Next      map[string]any
	Meaning   string
}

func loadLayout(t *testing.T, name string) (*ftracetext.File, []event.Event, layoutFile) {
	t.Helper()
	text, err := os.ReadFile(shared.Path(t, "layouts/"+name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	right, err := os.ReadFile(shared.Path(t, "layouts/"+name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var want layoutFile
	if err := json.Unmarshal(right, &want); err != nil {
		t.Fatal(err)
	}
	f := openText(t, text)
	events, diags := readAll(t, f, event.Options{OtherText: true})
	for _, d := range diags {
		if strings.HasPrefix(d.Kind, "unknown") {
			t.Errorf("diagnostic %+v", d)
		}
	}
	return f, events, want
}

// TestLayouts checks every right value of the hand-written layouts.
func TestLayouts(t *testing.T) {
	for _, name := range []string{"L01_ftrace_4flags", "L02_ftrace_5flags", "L03_ftrace_7flags_rt", "L04_ftrace_tgid",
		"L05_wakeup_rt_latency_5col", "L09_tracecmd_report_plugin", "L11_perf_script_mixed"} {
		t.Run(name, func(t *testing.T) {
			f, events, want := loadLayout(t, name)
			if len(events) != len(want.Events) {
				t.Fatalf("%d events, want %d", len(events), len(want.Events))
			}
			for i := range events {
				checkLayoutEvent(t, f, &events[i], &want.Events[i])
			}
		})
	}
}

func checkLayoutEvent(t *testing.T, f *ftracetext.File, ev *event.Event, want *layoutEvent) {
	t.Helper()
	same := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("at %d: %s is %v, want %v", ev.Time, what, got, want)
		}
	}
	if want.TS != nil {
		same("time", ev.Time, event.Time(math.Round(*want.TS*1e6))*1000)
	}
	if want.TSNs != nil {
		same("time", ev.Time, event.Time(*want.TSNs))
	}
	if want.TUs != nil {
		same("time", ev.Time, event.Time(*want.TUs*1000))
	}
	if want.CPU != nil {
		same("CPU", ev.CPU, *want.CPU)
	}
	if want.CurComm != nil {
		same("comm", f.Names().String(ev.Comm), *want.CurComm)
	}
	if want.CurTID != nil {
		same("process", ev.TGID, *want.CurPID)
		same("thread", ev.PID, *want.CurTID)
	} else if want.CurPID != nil {
		same("pid", ev.PID, *want.CurPID)
	}
	if want.CurTGID != nil {
		tgid := event.NoPID
		if string(want.CurTGID) != "null" {
			_ = json.Unmarshal(want.CurTGID, &tgid)
		}
		same("tgid", ev.TGID, tgid)
	}
	if want.FlagsText != "" {
		same("flags", string(ftracetext.AppendFlags(nil, f.Layout(), ev)), want.FlagsText)
	}
	for key, v := range want.Flags {
		same(key, flagValue(ev, key), v)
	}
	if want.Event != "" {
		same("event", ev.Kind.String(), want.Event)
	}
	for key, v := range want.Fields {
		same(key, fieldValue(f.Names(), ev, key), v)
	}
	switch want.Kind {
	case "gap":
		same("kind", ev.Kind, event.Gap)
		same("meaning", "events lost: no claim may span 117.100500..117.900000 on CPU 3", want.Meaning)
		same("from", ev.From, event.Time(117_100_500_000))
		same("to", ev.Time, event.Time(117_900_000_000))
		same("lost", ev.Arg, int64(-1))
	case "function":
		same("kind", ev.Kind, event.FuncEntry)
		same("func", f.Names().String(ev.Func), want.Func)
	case "wakeup":
		same("kind", ev.Kind, event.SchedWakeup)
		same("woken", float64(ev.Task), want.Next["pid"])
		same("woken prio", float64(ev.TaskPrio), want.Next["kprio"])
		same("woken comm", f.Names().String(ev.TaskComm), want.Next["comm"])
		same("success", ev.Arg, int64(1))
	case "switch":
		same("kind", ev.Kind, event.SchedSwitch)
		same("prev", float64(ev.Task), want.Prev["pid"])
		same("prev prio", float64(ev.TaskPrio), want.Prev["kprio"])
		same("prev state", ev.State.String(), want.Prev["state"])
		same("next", float64(ev.Next), want.Next["pid"])
		same("next prio", float64(ev.NextPrio), want.Next["kprio"])
		same("next comm", f.Names().String(ev.NextComm), want.Next["comm"])
	}
}

// flagValue is a flag in the words of the layouts.
func flagValue(ev *event.Event, key string) any {
	switch key {
	case "irqs":
		if ev.Flags.Has(event.IRQsOff) {
			return "off"
		}
		return "on"
	case "need_resched":
		switch {
		case ev.Flags.Has(event.NeedResched | event.PreemptResched):
			return "N"
		case ev.Flags.Has(event.NeedResched):
			return "n"
		}
		return "."
	case "need_resched_lazy":
		if ev.Flags.Has(event.NeedReschedLazy) {
			return "L"
		}
		return "."
	case "ctx":
		if ev.Flags.Has(event.HardIRQ) {
			return "hardirq"
		}
		return "task"
	case "preempt_depth":
		return float64(ev.PreemptDepth)
	case "preempt_lazy_depth":
		return float64(ev.LazyDepth)
	case "migrate_disable":
		return float64(ev.MigrateDisable)
	}
	return "unknown flag " + key
}

// fieldValue is a field by the kernel's name.
func fieldValue(names *event.Names, ev *event.Event, key string) any {
	switch key {
	case "comm", "prev_comm":
		return names.String(ev.TaskComm)
	case "pid", "prev_pid":
		return float64(ev.Task)
	case "prio", "prev_prio":
		return float64(ev.TaskPrio)
	case "prev_state":
		return ev.State.String()
	case "next_comm":
		return names.String(ev.NextComm)
	case "next_pid":
		return float64(ev.Next)
	case "next_prio":
		return float64(ev.NextPrio)
	case "target_cpu":
		return float64(ev.Target)
	case "success", "runtime_ns":
		return float64(ev.Arg)
	}
	return "unknown field " + key
}

func TestLayoutHeaders(t *testing.T) {
	f, _, want := loadLayout(t, "L05_wakeup_rt_latency_5col")
	l, h := f.Latency(), want.Header
	if l == nil {
		t.Fatal("no latency header")
	}
	got := ftracetext.Latency{Tracer: h.Tracer, Kernel: "4.9.100-test", Latency: event.Time(h.LatencyUs) * 1000,
		Entries: h.Entries, Written: h.Entries, CPU: h.CPU, CPUs: h.NCPUs, Preempt: h.PreemptModel, Task: h.Task,
		PID: h.PID, Policy: h.Policy, RTPrio: h.RTPriority}
	if *l != got {
		t.Errorf("header %+v, want %+v", *l, got)
	}
	info := f.Info()
	if info.Format != "ftrace latency text" || info.Kernel != "4.9.100-test" || info.CPUs != 4 || info.Resolution != 1000 {
		t.Errorf("info %+v", info)
	}
	for name, want := range map[string]event.Info{
		"L01_ftrace_4flags":          {Format: "ftrace text", CPUs: 4, Resolution: 1000},
		"L09_tracecmd_report_plugin": {Format: "trace-cmd report", CPUs: 4, Resolution: 1000},
		"L11_perf_script_mixed":      {Format: "perf script", Resolution: 1000},
	} {
		f, _, _ := loadLayout(t, name)
		if i := f.Info(); i.Format != want.Format || i.CPUs != want.CPUs || i.Resolution != want.Resolution {
			t.Errorf("%s: info %+v, want %+v", name, i, want)
		}
	}
}

// TestThrottlingStory reads L25, whose right values are those of the analysis; the parse
// must give what these need.
func TestThrottlingStory(t *testing.T) {
	f, events, _ := loadLayout(t, "L25_rt_throttling_story")
	if len(events) != 9 {
		t.Fatalf("%d events, want 9", len(events))
	}
	woken, in := events[5], events[7]
	if woken.Kind != event.SchedWaking || woken.Task != 701 || woken.Time != 1000_955000_000 {
		t.Errorf("waking %+v", woken)
	}
	if in.Kind != event.SchedSwitch || in.Next != 701 || in.Time != 1001_000050_000 || in.State != event.StatePreempted ||
		f.Names().String(in.TaskComm) != "logd" || in.TaskPrio != 120 || in.NextPrio != 24 {
		t.Errorf("switch-in %+v", in)
	}
	if d := in.Time - woken.Time; d != 45_050_000 {
		t.Errorf("wait of %d ns, want 45050000", d)
	}
}
