package ftracetext_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace/ftracetext"
)

// one reads a text of one event line, behind head.
func one(t *testing.T, head, line string) (event.Event, *event.Names) {
	t.Helper()
	f := openText(t, []byte(head+line+"\n"))
	events, diags := readAll(t, f, event.Options{OtherText: true})
	if len(events) != 1 {
		t.Fatalf("%q: %d events, want 1; %+v", line, len(events), diags)
	}
	return events[0], f.Names()
}

// TestAwkwardNames reads names that look like the text around them.
func TestAwkwardNames(t *testing.T) {
	names := []string{"a b", "a:b c", "[abc]", "(x)", "a-1", "x-12 [003]", "-", "--", "7", "a=b", "pid=3", "==>",
		"CPU 0/KVM", "irq/25-virtio0-", "a [120]", "x:1 [120] R ==>", "]", "kworker/u8:2-ev", "日本語"}
	for _, name := range names {
		for _, form := range []string{
			"%[1]s-42 [001] d..2. 12.345678: sched_switch: prev_comm=%[1]s prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=%[1]s next_pid=43 next_prio=98",
			"%[1]s-42 (   42) [001] d..2. 12.345678: sched_switch: prev_comm=%[1]s prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=%[1]s next_pid=43 next_prio=98",
			"%[1]s-42   [001]    12.345678: sched_switch:         %[1]s:42 [120] S ==> %[1]s:43 [98]",
			"%[1]s-42   [001]    12.345678: sched_switch:          prev_comm=%[1]s prev_pid=42 prev_prio=120 prev_state=1 next_comm=%[1]s next_pid=43 next_prio=98",
			"%16[1]s    42 [001] 12.345678:   sched:sched_switch: prev_comm=%[1]s prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=%[1]s next_pid=43 next_prio=98",
			"%16[1]s 41/42 [001] 12.345678:   sched:sched_switch: %[1]s:42 [120] S ==> %[1]s:43 [98]",
		} {
			line := fmt.Sprintf(form, name)
			ev, n := one(t, "", line)
			if ev.Kind != event.SchedSwitch || ev.PID != 42 || ev.CPU != 1 || ev.Time != 12_345_678_000 ||
				ev.Task != 42 || ev.TaskPrio != 120 || ev.State != event.StateSleeping || ev.Next != 43 || ev.NextPrio != 98 {
				t.Errorf("%s:\n%+v", line, ev)
				continue
			}
			for _, got := range []event.Name{ev.Comm, ev.TaskComm, ev.NextComm} {
				if n.String(got) != name {
					t.Errorf("%s:\nname %q, want %q", line, n.String(got), name)
				}
			}
		}
	}
}

// TestFields reads the fields of each kind in the forms that kernels and tools print.
func TestFields(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"sched_wakeup: comm=a pid=7 prio=4294967295 success=0 target_cpu=002", "Task=7 TaskPrio=-1 Arg=0 Target=2"},
		{"sched_wakeup: comm=a pid=7 prio=-1 target_cpu=002", "Task=7 TaskPrio=-1 Arg=1 Target=2"},
		{"sched_wakeup: a:7 [-1] CPU:002", "Task=7 TaskPrio=-1 Arg=1 Target=2"},
		{"sched_wakeup: comm=Binder_5 pid=679 prio=120 success=1 target_cpu=001 state=W|m", "Task=679 TaskPrio=120 Arg=1 Target=1"},
		{"sched_waking: comm=a pid=7 prio=98 target_cpu=003", "Task=7 TaskPrio=98 Target=3"},
		{"sched_migrate_task: comm=a pid=7 prio=98 orig_cpu=1 dest_cpu=0", "Task=7 TaskPrio=98 Orig=1 Target=0"},
		{"sched_stat_runtime: comm=a pid=7 runtime=578104 [ns] vruntime=202889459556 [ns]", "Task=7 Arg=578104 Arg2=202889459556"},
		{"sched_stat_runtime: comm=a pid=7 runtime=578104 vruntime=202889459556", "Task=7 Arg=578104 Arg2=202889459556"},
		{"sched_stat_runtime: comm=a pid=7 runtime=578104 [ns]", "Task=7 Arg=578104"},
		{"sched_pi_setprio: comm=a pid=7 oldprio=120 newprio=9", "Task=7 TaskPrio=120 NextPrio=9"},
		{"sched_process_fork: comm=a pid=7 child_comm=b child_pid=8", "Task=7 Next=8"},
		{"sched_process_fork: parent_comm=a parent_pid=7 child_comm=b child_pid=8", "Task=7 Next=8"},
		{"sched_process_exec: filename=/bin/my prog pid=7 old_pid=6", "Task=7 Arg=6 Text=/bin/my prog"},
		{"sched_process_exit: comm=a pid=7 prio=120 group_dead=true", "Task=7 TaskPrio=120"},
		{"task_newtask: pid=7 comm=a clone_flags=1200000 oom_score_adj=-100", "Task=7 Arg=18874368"},
		{"task_rename: pid=7 oldcomm=a newcomm=b c oom_score_adj=0", "Task=7 NextComm=b c"},
		{"task_rename: oldcomm=a newcomm=b c oom_score_adj=0", "Task=1 NextComm=b c"},
		{"signal_generate: sig=17 errno=0 code=1 comm=a pid=7 grp=1 res=0", "Task=7 Arg=17"},
		{"signal_deliver: sig=9 errno=0 code=1 sa_handler=0 sa_flags=0", "Arg=9"},
		{"irq_handler_entry: irq=25 name=my irq", "Arg=25 Text=my irq"},
		{"irq_handler_exit: irq=25 ret=handled", "Arg=25"},
		{"local_timer_entry: vector=236", "Arg=236"},
		{"softirq_entry: vec=1 [action=TIMER]", "Arg=1"},
		{"softirq_raise: vec=9", "Arg=9"},
		{"hrtimer_start: hrtimer=0xffff88807d9a35c0 function=tick_sched_timer/0x0 expires=4600000000 softexpires=4600000001",
			"Arg=-131389532260928 Arg2=4600000001 Arg3=4600000000 Func=tick_sched_timer"},
		{"hrtimer_expire_entry: hrtimer=(____ptrval____) function=hrtimer_wakeup now=96936000362", "Arg2=96936000362 Func=hrtimer_wakeup"},
		{"hrtimer_expire_entry: hrtimer=00000000948e40b1 now=5 function=f", "Arg=2492350641 Arg2=5 Func=f"},
		{"hrtimer_cancel: hrtimer=0x10", "Arg=16"},
		{"cpu_idle: state=4294967295 cpu_id=3", "Arg=4294967295 Target=3"},
		{"cpu_idle: state=1 cpu_id=3", "Arg=1 Target=3"},
		{"ipi_raise: target_mask=00000000,00000001 (Function call interrupts)", "Target=0 Text=Function call interrupts"},
		{"ipi_raise: target_mask=00000010,00000000 (Rescheduling interrupts)", "Target=36 Text=Rescheduling interrupts"},
		{"ipi_raise: target_mask=00000003 (Rescheduling interrupts)", "Text=Rescheduling interrupts"},
		{"ipi_send_cpu: cpu=3 callsite=on_each_cpu_cond_mask+0x20/0x60 callback=generic_smp_call_function_single_interrupt+0x0/0x10",
			"Target=3 Func=generic_smp_call_function_single_interrupt"},
		{"ipi_send_cpu: cpu=1 callsite=check_preempt_curr+0x30/0x70 callback=0x0", "Target=1"},
		{"ipi_send_cpumask: cpumask=0,2-3 callsite=smp_call_function_many_cond+0x2a0/0x500 callback=do_flush_tlb_all+0x0/0x40",
			"Func=do_flush_tlb_all"},
		{"ipi_send_cpumask: cpumask=2 callsite=smp_call_function_many_cond+0x2a0/0x500 callback=do_flush_tlb_all+0x0/0x40",
			"Target=2 Func=do_flush_tlb_all"},
		{"ipi_send_cpumask: cpumask=00000000,00000004 callsite=smp_call_function_many_cond+0x2a0/0x500 callback=do_flush_tlb_all+0x0/0x40",
			"Target=2 Func=do_flush_tlb_all"},
		{"ipi_raise: target_cpus=ARRAY[02, 00, 00, 00, 00, 00, 00, 00] reason=Function call interrupts", "Text=Function call interrupts"},
		{"ipi_entry: (Rescheduling interrupts)", "Text=Rescheduling interrupts"},
		{"sched_wake_idle_without_ipi: cpu=3", "Target=3"},
		{"irq_disable: caller=schedule+0x10/0x90 parent=0x0", "Func=schedule"},
		{"preempt_enable: caller=foo parent=bar", "Func=foo"},
		{"sys_enter: NR 231 (0, 1, 2, 3, 4, 5)", "Arg=231"},
		{"sys_exit: NR 1 = -11", "Arg=1"},
		{"sys_exit_group(error_code: 0)", "Arg=-1 Name=sys_enter_exit_group"},
		{"sys_read -> 0x340", "Arg=-1 Name=sys_exit_read"},
		{"sys_enter_read: fd: 0x00000003, buf: 0x7ffc, count: 0x00000340", "Arg=-1 Name=sys_enter_read"},
		{"schedule <-do_idle", "Func=schedule Name=function"},
		{"function:             schedule <-- do_idle", "Func=schedule Name=function"},
		{"funcgraph_entry:                   |  mmput() {", "Func=mmput"},
		{"funcgraph_exit:       + 17.441 us  |    }", "Arg=17441"},
		{"funcgraph_exit:       ! 153.4 us  |    } /* exit_mmap */", "Arg=153400 Func=exit_mmap"},
		{"funcgraph_exit:        func=exit_mmap depth=4 overrun=0 calltime=b24005b2b rettime=b2400612f", "Arg=1540 Func=exit_mmap"},
		{"tracing_mark_write: B|18926|Record View: draw()", "Text=B|18926|Record View: draw()"},
		{"print:                tracing_mark_write: hello: world", "Text=hello: world"},
		{"bprint:               0xc044504c: cpu_load: cpu: 3", "Text=cpu_load: cpu: 3"},
		{"bputs:                my_func: text", "Text=text"},
		{"sched_util_est: cpu=1 value=3", "Text=cpu=1 value=3 Name=sched_util_est"},
		// What is not the event's print stays uninterpreted.
		{"sched_switch: prev_comm=a prev_pid=7 prev_prio=120", "Name=sched_switch Text=prev_comm=a prev_pid=7 prev_prio=120"},
		{"sched_wakeup: comm=a pid=x prio=120 target_cpu=0", "Name=sched_wakeup Text=comm=a pid=x prio=120 target_cpu=0"},
		{"sched_wakeup: comm=a pid=99999999999 prio=120 target_cpu=0", "Name=sched_wakeup Text=comm=a pid=99999999999 prio=120 target_cpu=0"},
		{"sys_enter: ", "Name=sys_enter"},
	} {
		ev, names := one(t, "", "      a-1       [000] d..2.    12.345678: "+c.body)
		if got := describe(&ev, names, strings.Contains(c.want, "Name=")); got != words(c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.body, got, c.want)
		}
	}
}

// describe lists the fields that hold something, in a fixed order.
func describe(ev *event.Event, names *event.Names, withName bool) string {
	var s []string
	add := func(key string, v any) { s = append(s, fmt.Sprintf("%s=%v", key, v)) }
	if ev.Task != event.NoPID {
		add("Task", ev.Task)
	}
	if ev.TaskPrio != event.NoPrio {
		add("TaskPrio", ev.TaskPrio)
	}
	if ev.Next != event.NoPID {
		add("Next", ev.Next)
	}
	if ev.NextPrio != event.NoPrio {
		add("NextPrio", ev.NextPrio)
	}
	for i, v := range []int64{ev.Arg, ev.Arg2, ev.Arg3} {
		if v != event.NoArg {
			add([]string{"Arg", "Arg2", "Arg3"}[i], v)
		}
	}
	if ev.Orig != event.NoCPU {
		add("Orig", ev.Orig)
	}
	if ev.Target != event.NoCPU {
		add("Target", ev.Target)
	}
	if ev.NextComm != 0 && ev.Kind == event.TaskRename {
		add("NextComm", names.String(ev.NextComm))
	}
	if ev.Func != 0 {
		add("Func", names.String(ev.Func))
	}
	if ev.Text != 0 {
		add("Text", names.String(ev.Text))
	}
	if withName {
		add("Name", names.String(ev.Name))
	}
	return words(strings.Join(s, " "))
}

// words puts "Key=value …" into a fixed order.
func words(s string) string {
	var list []string
	for _, key := range []string{"Task", "TaskPrio", "Next", "NextPrio", "NextComm", "Arg", "Arg2", "Arg3", "Orig", "Target",
		"Func", "Name", "Text"} {
		at := strings.Index(" "+s, " "+key+"=")
		if at < 0 {
			continue
		}
		rest := s[at:]
		end := len(rest)
		for _, next := range []string{"Task", "TaskPrio", "Next", "NextPrio", "NextComm", "Arg", "Arg2", "Arg3", "Orig",
			"Target", "Func", "Name", "Text"} {
			if i := strings.Index(rest, " "+next+"="); i >= 0 && i < end {
				end = i
			}
		}
		list = append(list, rest[:end])
	}
	return strings.Join(list, ", ")
}

// TestLatencyRows reads the glued CPU, of one to three digits, and both kinds of time.
func TestLatencyRows(t *testing.T) {
	const head = "# tracer: wakeup_rt\n#\n# wakeup_rt latency trace v1.1.5 on 6.1.0-50-rt-amd64\n" +
		"# latency: 1910 us, #119/130, CPU#12 | (M:preempt_rt VP:0, KP:0, SP:0 HP:0 #P:16)\n" +
		"#    | task: my-task (1)-19 (uid:1000 nice:-5 policy:1 rt_prio:1)\n" +
		"#                  _--------=> CPU#\n#                 / _-------=> irqs-off/BH-disabled\n" +
		"#                | / _------=> need-resched\n#                || / _-----=> need-resched-lazy\n" +
		"#                ||| / _----=> hardirq/softirq\n#                |||| / _---=> preempt-depth\n" +
		"#                ||||| / _--=> preempt-lazy-depth\n#                |||||| / _-=> migrate-disable\n"
	for _, c := range []struct {
		line string
		cpu  event.CPU
		time event.Time
	}{
		{"  <idle>-0      12dn.h5.1    1us : try_to_wake_up <-wake_up_process", 12, 1000},
		{"  <idle>-0       2dn.h5.1   33us!: try_to_wake_up <-wake_up_process", 2, 33000},
		{"  <idle>-0     112dn.h5.1 1910us#: try_to_wake_up <-wake_up_process", 112, 1910000},
	} {
		ev, names := one(t, head, c.line)
		if ev.CPU != c.cpu || ev.Time != c.time || ev.Kind != event.FuncEntry || ev.PreemptDepth != 5 ||
			ev.MigrateDisable != 1 || !ev.Flags.Has(event.IRQsOff|event.NeedResched|event.HardIRQ) ||
			names.String(ev.Func) != "try_to_wake_up" {
			t.Errorf("%s:\n%+v", c.line, ev)
		}
	}
	l := openText(t, []byte(head)).Latency()
	want := ftracetext.Latency{Tracer: "wakeup_rt", Kernel: "6.1.0-50-rt-amd64", Latency: 1910000, Entries: 119, Written: 130,
		CPU: 12, CPUs: 16, Preempt: "preempt_rt", Task: "my-task (1)", PID: 19, UID: 1000, Nice: -5, Policy: 1, RTPrio: 1}
	if *l != want {
		t.Errorf("header %+v, want %+v", *l, want)
	}
}

// TestGaps checks where the loss of events shows: between the last stamp before and the
// first after, on that CPU only.
func TestGaps(t *testing.T) {
	text := `# tracer: nop
##### CPU 1 buffer started ####
  a-1 [001] ..... 1.000001: x: 1
  a-1 [000] ..... 1.000002: x: 2
CPU:0 [LOST 123 EVENTS]
CPU:0 [LOST 7 EVENTS]
  a-1 [001] ..... 1.000003: x: 3
  a-1 [000] ..... 1.000004: x: 4
CPU:1 [LOST EVENTS]
CPU:1 [LOST 5 EVENTS]
  a-1 [001] ..... 1.000005: x: 5
CPU:0 [9601 EVENTS DROPPED]
`
	events, diags := readAll(t, openText(t, []byte(text)), event.Options{Want: event.Kinds(event.SchedSwitch)})
	want := []struct {
		cpu      event.CPU
		from, to event.Time
		lost     int64
	}{
		{1, event.NoTime, 1_000_001_000, -1},
		{0, 1_000_002_000, 1_000_004_000, 130},
		{1, 1_000_003_000, 1_000_005_000, -1},
		{0, 1_000_004_000, 1_000_005_000, 9601},
	}
	if len(events) != len(want) {
		t.Fatalf("%d events, want %d gaps: %+v", len(events), len(want), events)
	}
	for i, w := range want {
		ev := events[i]
		if ev.Kind != event.Gap || ev.CPU != w.cpu || ev.From != w.from || ev.Time != w.to || ev.Arg != w.lost {
			t.Errorf("gap %d: %+v, want %+v", i, ev, w)
		}
	}
	var lost int64
	for _, d := range diags {
		if d.Kind == "lost_events" {
			lost += d.Count
		}
	}
	if lost != 130+5+9601+2 { // two of them without a number
		t.Errorf("%d lost events in %+v", lost, diags)
	}
}

// TestOrder checks that stamps are sorted within a window, stably, and that what comes
// too late is told.
func TestOrder(t *testing.T) {
	var b strings.Builder
	for _, us := range []int{5, 3, 4, 3, 1, 9} {
		fmt.Fprintf(&b, "  a-%d [000] ..... 1.%06d: x: 1\n", us, us)
	}
	events, diags := readAll(t, openText(t, []byte(b.String())), event.Options{})
	last := event.Time(0)
	for _, ev := range events {
		if ev.Time < last {
			t.Errorf("%d after %d", ev.Time, last)
		}
		last = ev.Time
	}
	if len(events) != 6 || hasDiag(diags, "out_of_order") {
		t.Errorf("%d events, %+v", len(events), diags)
	}

	b.Reset()
	for i := range 1000 {
		fmt.Fprintf(&b, "  a-%d [000] ..... 1.000001: x: 1\n", i)
	}
	b.WriteString("  a-1000 [000] ..... 0.900000: x: 1\n")
	events, diags = readAll(t, openText(t, []byte(b.String())), event.Options{})
	for i := range 900 - 128 {
		if events[i].PID != event.PID(i) {
			t.Fatalf("event %d has pid %d: equal stamps must keep the order of the file", i, events[i].PID)
		}
	}
	if !hasDiag(diags, "out_of_order") {
		t.Errorf("no out_of_order in %+v", diags)
	}
	late := slices.IndexFunc(events, func(ev event.Event) bool { return ev.PID == 1000 })
	if len(events) != 1001 || late < 0 || events[late].Time != events[0].Time {
		t.Errorf("of %d events the late one is number %d, of another time than that before: a stream is in order", len(events), late)
	}
}

func hasDiag(diags []event.Diagnostic, kind string) bool {
	for _, d := range diags {
		if d.Kind == kind {
			return true
		}
	}
	return false
}

// TestLeafFunctions checks that a leaf of the function graph gives entry and exit, and
// that the exit never lies behind the next event of its CPU.
func TestLeafFunctions(t *testing.T) {
	text := "cpus=2\n" +
		"  a-1   [000]     1.000000100: funcgraph_entry:        1.540 us   |  leaf();\n" +
		"  b-2   [001]     1.000000200: sched_wake_idle_without_ipi: cpu=3\n" +
		"  b-2   [001]     1.000001900: sched_wake_idle_without_ipi: cpu=3\n" +
		"  a-1   [000]     1.000002000: funcgraph_entry:      + 99.000 us   |  leaf2();\n" +
		"  a-1   [000]     1.000003000: sched_wake_idle_without_ipi: cpu=3\n"
	f := openText(t, []byte(text))
	events, _ := readAll(t, f, event.Options{})
	var got []string
	for _, ev := range events {
		got = append(got, fmt.Sprintf("%d %v %s", ev.Time-1e9, ev.Kind, f.Names().String(ev.Func)))
	}
	want := []string{"100 funcgraph_entry leaf", "200 sched_wake_idle_without_ipi ", "1640 funcgraph_exit leaf",
		"1900 sched_wake_idle_without_ipi ", "2000 funcgraph_entry leaf2", "3000 funcgraph_exit leaf2",
		"3000 sched_wake_idle_without_ipi "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	exits, _ := readAll(t, f, event.Options{Want: event.Kinds(event.FuncExit)})
	if len(exits) != 2 || exits[0].Time-1e9 != 1640 {
		t.Errorf("exits alone: %+v", exits)
	}
	text = "cpus=2\n" +
		"  a-1   [000]     1.000000100: funcgraph_entry:        1.000 us   |  leaf();\n" +
		"  b-2   [001]     1.000000200: sched_wake_idle_without_ipi: cpu=3\n"
	events, _ = readAll(t, openText(t, []byte(text)), event.Options{})
	if len(events) != 3 || events[2].Kind != event.FuncExit || events[2].Time-1e9 != 1100 {
		t.Errorf("at the end of the file: %+v", events)
	}
}

// TestEmptyTraces opens traces without events, which are no error.
func TestEmptyTraces(t *testing.T) {
	for _, text := range []string{
		"# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:2\n#\n# a comment of mine\n",
		"cpus=4\n", "version = 6\nCPU 0 is empty\ncpus=1\n",
	} {
		if events, _ := readAll(t, openText(t, []byte(text)), event.Options{}); len(events) != 0 {
			t.Errorf("%q: %+v", text, events)
		}
	}
}

// endless is a file of any size that repeats one text, with growing stamps.
type endless struct {
	line string
	size int64
}

func (e endless) ReadAt(b []byte, off int64) (int, error) {
	n := 0
	for n < len(b) && off < e.size {
		i := off / int64(len(e.line))
		line := strings.Replace(e.line, "@@@@@@@", fmt.Sprintf("%07d", i%1e7), 1)
		c := copy(b[n:], line[off%int64(len(e.line)):])
		n, off = n+c, off+int64(c)
	}
	if off >= e.size {
		return n, io.EOF
	}
	return n, nil
}

// TestMemory reads 300 MB and looks at what the reader held.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	e := endless{line: "  marker-1234    [000] .....     1.000001: tracing_mark_write: text number @@@@@@@ " +
		strings.Repeat("x", 200) + "\n", size: 300 << 20}
	f, err := ftracetext.Open(e, e.size, event.NewNames())
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if n := drain(t, f, event.Options{}); n < 1_000_000 {
		t.Fatalf("%d events", n)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 32<<20 {
		t.Errorf("%d MB held for text that never repeats", held>>20)
	}
	runtime.KeepAlive(f)
}

// TestLongLine skips a line that no kernel writes and reads on behind it.
func TestLongLine(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("  a-1 [000] ..... 1.000001: x: 1\n")
	b.WriteString(strings.Repeat("y", 3<<20) + "\n")
	b.WriteString("  a-1 [000] ..... 1.000002: x: 1")
	events, diags := readAll(t, openText(t, b.Bytes()), event.Options{})
	if len(events) != 2 || !hasDiag(diags, "long_line") {
		t.Errorf("%d events, %+v", len(events), diags)
	}
}
