package eventformat

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
)

// field puts a value into a record: an int of size bytes, or text at its offset.
type field struct {
	off, size int
	value     any
}

// kindTests has an event of each kind with a record of it, and what must come out.
// Offsets and sizes are those of the format next to it.
var kindTests = []struct {
	name     string
	system   string
	event    string
	fields   []string
	values   []field
	size     int
	want     event.Event // kind and the fields that the record fills
	comm     string      // TaskComm
	next     string      // NextComm
	text     string      // Text
	function string      // Func
}{
	{name: "switch with fields moved by an -rt kernel", system: "sched", event: "sched_switch",
		fields: []string{"char prev_comm[16];12;16;1", "pid_t prev_pid;28;4;1", "int prev_prio;32;4;1", "long prev_state;40;8;1",
			"char next_comm[16];48;16;1", "pid_t next_pid;64;4;1", "int next_prio;68;4;1"},
		values: []field{{12, 16, "burn22"}, {28, 4, 134}, {32, 4, 77}, {48, 16, "sh"}, {64, 4, 133}, {68, 4, 120}}, size: 72,
		want: event.Event{Kind: event.SchedSwitch, Task: 134, TaskPrio: 77, Next: 133, NextPrio: 120, State: event.StateRunnable},
		comm: "burn22", next: "sh"},
	{name: "wakeup of 3.x with success", system: "sched", event: "sched_wakeup",
		fields: []string{"char comm[16];8;16;1", "pid_t pid;24;4;1", "int prio;28;4;1", "int success;32;4;1", "int target_cpu;36;4;1"},
		values: []field{{8, 16, "sh"}, {24, 4, 7}, {28, 4, 120}, {36, 4, 3}}, size: 40,
		want: event.Event{Kind: event.SchedWakeup, Task: 7, TaskPrio: 120, Target: 3, Arg: 0}, comm: "sh"},
	{name: "wakeup without success counts as successful", system: "sched", event: "sched_wakeup",
		fields: []string{"char comm[16];8;16;1", "pid_t pid;24;4;1", "unsigned int prio;28;4;0", "int target_cpu;32;4;1"},
		values: []field{{8, 16, "dl"}, {24, 4, 7}, {28, 4, -1}, {32, 4, 3}}, size: 36,
		want: event.Event{Kind: event.SchedWakeup, Task: 7, TaskPrio: event.PrioDeadline, Target: 3, Arg: 1}, comm: "dl"},
	{name: "migration of 6.18, where comm is a __data_loc", system: "sched", event: "sched_migrate_task",
		fields: []string{"__data_loc char[] comm;8;4;0", "pid_t pid;12;4;1", "int prio;16;4;1", "int orig_cpu;20;4;1", "int dest_cpu;24;4;1"},
		values: []field{{8, 4, 6<<16 | 28}, {12, 4, 9}, {16, 4, 120}, {20, 4, 1}, {24, 4, 2}, {28, 6, "kwork"}}, size: 36,
		want: event.Event{Kind: event.SchedMigrateTask, Task: 9, TaskPrio: 120, Orig: 1, Target: 2}, comm: "kwork"},
	{name: "text behind a __rel_loc", system: "sched", event: "sched_pi_setprio",
		fields: []string{"__rel_loc char[] comm;8;4;0", "pid_t pid;12;4;1", "int oldprio;16;4;1", "int newprio;20;4;1"},
		values: []field{{8, 4, 3<<16 | 12}, {12, 4, 9}, {16, 4, 120}, {20, 4, 49}, {24, 3, "ab"}}, size: 28,
		want: event.Event{Kind: event.SchedPISetprio, Task: 9, TaskPrio: 120, NextPrio: 49}, comm: "ab"},
	{name: "runtime without vruntime", system: "sched", event: "sched_stat_runtime",
		fields: []string{"__data_loc char[] comm;8;4;0", "pid_t pid;12;4;1", "u64 runtime;16;8;0"},
		values: []field{{8, 4, 2<<16 | 24}, {12, 4, 9}, {16, 8, 4000000}, {24, 2, "x"}}, size: 28,
		want: event.Event{Kind: event.SchedStatRuntime, Task: 9, Arg: 4000000}, comm: "x"},
	{name: "fork", system: "sched", event: "sched_process_fork",
		fields: []string{"char parent_comm[16];8;16;1", "pid_t parent_pid;24;4;1", "char child_comm[16];28;16;1", "pid_t child_pid;44;4;1"},
		values: []field{{8, 16, "sh"}, {24, 4, 7}, {28, 16, "sh2"}, {44, 4, 8}}, size: 48,
		want: event.Event{Kind: event.SchedProcessFork, Task: 7, Next: 8}, comm: "sh", next: "sh2"},
	{name: "rename by the current task only", system: "task", event: "task_rename",
		fields: []string{"char oldcomm[16];8;16;1", "char newcomm[16];24;16;1"},
		values: []field{{8, 16, "sh"}, {24, 16, "sleep"}}, size: 40,
		want: event.Event{Kind: event.TaskRename, Task: 42}, comm: "sh", next: "sleep"},
	{name: "idle exit is -1 as u32", system: "power", event: "cpu_idle",
		fields: []string{"u32 state;8;4;0", "u32 cpu_id;12;4;0"}, values: []field{{8, 4, -1}, {12, 4, 3}}, size: 16,
		want: event.Event{Kind: event.CPUIdle, Target: 3, Arg: event.IdleExit}},
	{name: "idle state in a signed field", system: "power", event: "cpu_idle",
		fields: []string{"int state;8;4;1", "int cpu_id;12;4;1"}, values: []field{{8, 4, -1}, {12, 4, 3}}, size: 16,
		want: event.Event{Kind: event.CPUIdle, Target: 3, Arg: event.IdleExit}},
	{name: "IPI to one CPU", system: "ipi", event: "ipi_raise",
		fields: []string{"__data_loc unsigned long[] target_cpus;8;4;0", "const char * reason;16;8;0"},
		values: []field{{8, 4, 16<<16 | 24}, {16, 8, uint64(0xffffffff82000010)}, {24, 8, 0}, {32, 8, 1 << 9}}, size: 40,
		want: event.Event{Kind: event.IPIRaise, Target: 73}, text: "Rescheduling interrupts"},
	{name: "IPI to several CPUs", system: "ipi", event: "ipi_raise",
		fields: []string{"__data_loc unsigned long[] target_cpus;8;4;0", "const char * reason;16;8;0"},
		values: []field{{8, 4, 8<<16 | 24}, {16, 8, 0x55}, {24, 8, 6}}, size: 32,
		want: event.Event{Kind: event.IPIRaise, Target: event.NoCPU}},
	{name: "vector", system: "irq_vectors", event: "local_timer_entry",
		fields: []string{"int vector;8;4;1"}, values: []field{{8, 4, 236}}, size: 12, want: event.Event{Kind: event.VectorEntry, Arg: 236}},
	{name: "system call by number", system: "raw_syscalls", event: "sys_enter",
		fields: []string{"long id;8;8;1", "unsigned long args[6];16;48;0"}, values: []field{{8, 8, 231}}, size: 64,
		want: event.Event{Kind: event.SysEnter, Arg: 231}},
	{name: "system call by name", system: "syscalls", event: "sys_enter_exit_group",
		fields: []string{"int __syscall_nr;8;4;1", "int error_code;16;8;0"}, values: []field{{8, 4, 231}}, size: 24,
		want: event.Event{Kind: event.SysEnter, Arg: 231}},
	{name: "system call without a number", system: "syscalls", event: "sys_exit_futex",
		fields: []string{"long ret;8;8;1"}, size: 16, want: event.Event{Kind: event.SysExit, Arg: -1}},
	{name: "preemptirq, relative to _stext", system: "preemptirq", event: "irq_disable",
		fields: []string{"s32 caller_offs;8;4;1", "s32 parent_offs;12;4;1"}, values: []field{{8, 4, 0x200}}, size: 16,
		want: event.Event{Kind: event.IRQDisable}, function: "hrtimer_wakeup"},
	{name: "graph exit, packed", system: "ftrace", event: "funcgraph_exit",
		fields: []string{"unsigned long func;12;8;0", "int depth;20;4;1", "unsigned int overrun;24;4;0",
			"unsigned long long calltime;28;8;0", "unsigned long long rettime;36;8;0"},
		values: []field{{12, 8, uint64(0xffffffff81000210)}, {28, 8, 1000}, {36, 8, 3500}}, size: 44,
		want: event.Event{Kind: event.FuncExit, Arg: 2500}, function: "hrtimer_wakeup"},
	{name: "graph exit with a duration", system: "ftrace", event: "funcgraph_exit",
		fields: []string{"unsigned long func;8;8;0", "u64 duration;16;8;0"}, values: []field{{8, 8, 0x10}, {16, 8, 77}}, size: 24,
		want: event.Event{Kind: event.FuncExit, Arg: 77}, function: "0x10"},
	{name: "function", system: "ftrace", event: "function",
		fields: []string{"unsigned long ip;8;8;0", "unsigned long parent_ip;16;8;0"}, values: []field{{8, 8, uint64(0xffffffff81000300)}}, size: 24,
		want: event.Event{Kind: event.FuncEntry}, function: "tick_sched_timer"},
	{name: "timer", system: "timer", event: "hrtimer_start",
		fields: []string{"void * hrtimer;8;8;0", "void * function;16;8;0", "s64 expires;24;8;1", "s64 softexpires;32;8;1"},
		values: []field{{8, 8, 0x1234}, {16, 8, uint64(0xffffffff81000200)}, {24, 8, 1050}, {32, 8, 1000}}, size: 40,
		want: event.Event{Kind: event.HrtimerStart, Arg: 0x1234, Arg2: 1000, Arg3: 1050}, function: "hrtimer_wakeup"},
	{name: "trace_marker", system: "ftrace", event: "print",
		fields: []string{"unsigned long ip;8;8;0", "char buf[];16;0;0"}, values: []field{{16, 16, "hello\nworld\n"}}, size: 32,
		want: event.Event{Kind: event.Print}, text: "hello\nworld"},
	{name: "bputs", system: "ftrace", event: "bputs",
		fields: []string{"unsigned long ip;8;8;0", "const char * str;16;8;0"}, values: []field{{16, 8, uint64(0xffffffff82000010)}}, size: 24,
		want: event.Event{Kind: event.Print}, text: "Rescheduling interrupts"},
}

const kallsymsText = "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _stext\nffffffff81000300 t tick_sched_timer\n" +
	"ffffffff81000200 t hrtimer_wakeup\t[core]\nffffffff81000200 T alias\nfffffffz81000200 T bad\nshort\n"

func TestDecodeFillsTheEvent(t *testing.T) {
	strings := ParseStrings([]byte("0xffffffff82000010 : \"Rescheduling interrupts\"\n"))
	for _, order := range []byteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, test := range kindTests {
			t.Run(fmt.Sprint(order, "/", test.name), func(t *testing.T) {
				d, names := one(t, test.system, formatText(test.event, 99, commonText, test.fields, `""`), order == byteOrder(binary.BigEndian), 8,
					Context{Bits: CommonBits{LazyWithCount: 0x20, MigrateDisable: true}, Symbols: NewSymbols(func() []byte { return []byte(kallsymsText) }), Strings: strings,
						Comms: map[event.PID]event.Name{}})
				rec := recordOf(order, 99, 0x09, 0x21, 42, test.size)
				for _, v := range test.values {
					put(order, rec, v)
				}
				var got event.Event
				if err := d.Decode(&got, rec); err != nil {
					t.Fatal(err)
				}
				want := test.want
				fillAbsent(&want)
				want.PID, want.Flags = 42, event.FlagsKnown|event.IRQsOff|event.HardIRQ
				want.PreemptDepth, want.MigrateDisable = 1, 2
				want.Name, want.TaskComm, want.NextComm = names.Intern(test.event), names.Intern(test.comm), names.Intern(test.next)
				want.Text, want.Func = names.Intern(test.text), names.Intern(test.function)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("event (-want +got):\n%s", diff)
				}
				for n := range rec { // a record that ends early
					var e event.Event
					if err := d.Decode(&e, rec[:n]); err == nil && n < 8 {
						t.Errorf("%d bytes are no error", n)
					}
				}
			})
		}
	}
}

// fillAbsent marks what a test leaves out as not in the record.
func fillAbsent(e *event.Event) {
	var none event.Event
	none.Reset()
	kind := e.Kind
	has := func(kinds ...event.Kind) bool { return event.Kinds(kinds...).Has(kind) }
	if e.Task == 0 {
		e.Task = none.Task
	}
	if e.Next == 0 {
		e.Next = none.Next
	}
	if e.TaskPrio == 0 {
		e.TaskPrio = none.TaskPrio
	}
	if e.NextPrio == 0 {
		e.NextPrio = none.NextPrio
	}
	if e.Orig == 0 {
		e.Orig = none.Orig
	}
	if e.Target == 0 {
		e.Target = none.Target
	}
	if e.Arg == 0 && !has(event.SchedWakeup) {
		e.Arg = none.Arg
	}
	if e.Arg2 == 0 {
		e.Arg2 = none.Arg2
	}
	if e.Arg3 == 0 {
		e.Arg3 = none.Arg3
	}
	e.From, e.TGID = none.From, none.TGID
}

func put(o byteOrder, rec []byte, f field) {
	switch v := f.value.(type) {
	case string:
		copy(rec[f.off:f.off+f.size], v)
	case int:
		switch f.size {
		case 4:
			o.PutUint32(rec[f.off:], uint32(v))
		case 8:
			o.PutUint64(rec[f.off:], uint64(v))
		}
	case uint64:
		o.PutUint64(rec[f.off:], v)
	}
}

func TestLazyDepthAndMigrateDisableOfRT(t *testing.T) {
	const rt = commonText + "\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;\n" +
		"\tfield:unsigned short common_migrate_disable;\toffset:10;\tsize:2;\tsigned:0;\n"
	d, _ := one(t, "irq", formatText("softirq_entry", 9, rt, []string{"unsigned int vec;12;4;0"}, `""`), false, 8, Context{Bits: CommonBits{LazyWithCount: 0x80}})
	rec := recordOf(binary.LittleEndian, 9, 0x80, 0x12, 1, 16)
	rec[8], rec[10], rec[12] = 3, 4, 1
	var e event.Event
	if err := d.Decode(&e, rec); err != nil {
		t.Fatal(err)
	}
	if e.LazyDepth != 3 || e.MigrateDisable != 4 || e.PreemptDepth != 0x12 || e.Arg != event.SoftirqTimer || !e.Flags.Has(event.NeedReschedLazy) {
		t.Errorf("%+v", e)
	}
}

// TestFlagBits: a lazy bit means what the kernel's facts say, depending on the field that
// marks the old PREEMPT_LAZY; all other bits keep their meaning.
func TestFlagBits(t *testing.T) {
	for _, test := range []struct {
		name      string
		common    CommonBits
		lazyCount bool
		bits      [3]event.Flags // 0x02, 0x20, 0x80
	}{
		{"no lazy reschedule", CommonBits{}, false, [3]event.Flags{event.IRQsNoSupport, event.PreemptResched, event.BHOff}},
		{"5.10-rt", CommonBits{LazyWithCount: 0x80}, true, [3]event.Flags{event.IRQsNoSupport, event.PreemptResched, event.NeedReschedLazy}},
		{"6.1-rt", CommonBits{LazyWithCount: 0x20}, true, [3]event.Flags{event.IRQsNoSupport, event.NeedReschedLazy, event.BHOff}},
		{"6.1", CommonBits{LazyWithCount: 0x20}, false, [3]event.Flags{event.IRQsNoSupport, event.PreemptResched, event.BHOff}},
		{"6.13", CommonBits{LazyWithCount: 0x20, Lazy: 0x02}, false, [3]event.Flags{event.NeedReschedLazy, event.PreemptResched, event.BHOff}},
	} {
		table := flagTable(test.common, test.lazyCount)
		for i, raw := range []int{0x02, 0x20, 0x80} {
			if got, want := table[raw], event.FlagsKnown|test.bits[i]; got != want {
				t.Errorf("%s: %#x is %#x, want %#x", test.name, raw, got, want)
			}
		}
		for raw, want := range map[int]event.Flags{0x01: event.IRQsOff, 0x04: event.NeedResched, 0x08: event.HardIRQ,
			0x10: event.SoftIRQ, 0x40: event.NMI} {
			if got := table[raw]; got != event.FlagsKnown|want {
				t.Errorf("%s: %#x is %#x, want %#x", test.name, raw, got, want)
			}
		}
	}
}
