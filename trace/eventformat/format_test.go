package eventformat

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
)

// TestParseReadsEveryKindOfField: the declarations that kernels from 2.6.32 on write.
func TestParseReadsEveryKindOfField(t *testing.T) {
	text := formatText("test", 321, commonText, []string{
		"char comm[16];8;16;1",
		"unsigned long caller[8];24;64;0",
		"__data_loc char[] name;88;4;1",
		"__rel_loc unsigned long[] cpus;92;4;0",
		"const char * reason;96;8;0",
		"char[TASK_COMM_LEN] odd;104;16;1",
		"enum hrtimer_mode mode;120;4;0",
		"struct sockaddr_storage addr;124;128;0",
		"u32 buf[];252;0;0",
		"char old;252;0",
		"u64 delay;256;8", // no "signed:": before 2.6.33
		"pid_t pid;264;4",
	}, `"x", REC->comm`)
	f, err := Parse("sys", []byte(text), 8)
	if err != nil {
		t.Fatal(err)
	}
	want := []Field{
		{"common_type", "unsigned short", 0, 2, false, Inline, false, 2},
		{"common_flags", "unsigned char", 2, 1, false, Inline, false, 1},
		{"common_preempt_count", "unsigned char", 3, 1, false, Inline, false, 1},
		{"common_pid", "int", 4, 4, true, Inline, false, 4},
		{"comm", "char", 8, 16, true, Inline, true, 1},
		{"caller", "unsigned long", 24, 64, false, Inline, true, 8},
		{"name", "char", 88, 4, true, DataLoc, true, 1},
		{"cpus", "unsigned long", 92, 4, false, RelLoc, true, 8},
		{"reason", "const char *", 96, 8, false, Inline, false, 8},
		{"odd", "char", 104, 16, true, Inline, true, 1},
		{"mode", "enum hrtimer_mode", 120, 4, false, Inline, false, 4},
		{"addr", "struct sockaddr_storage", 124, 128, false, Inline, false, 128},
		{"buf", "u32", 252, 0, false, Inline, true, 4},
		{"old", "char", 252, 0, true, Inline, true, 1},
		{"delay", "u64", 256, 8, false, Inline, false, 8},
		{"pid", "pid_t", 264, 4, true, Inline, false, 4},
	}
	if diff := cmp.Diff(want, f.Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if f.Name != "test" || f.ID != 321 || f.System != "sys" || f.PrintFmt != `"x", REC->comm` {
		t.Errorf("%+v", f)
	}
}

func TestParseRefusesWhatIsNoFormat(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":         "",
		"no name":         "ID: 5\n",
		"no ID":           "name: x\n",
		"ID of 17 bits":   "name: x\nID: 65536\n",
		"ID of no number": "name: x\nID: five\n",
		"no offset":       "name: x\nID: 5\n\tfield:int a;\tsize:4;\n",
		"negative size":   "name: x\nID: 5\n\tfield:int a;\toffset:0;\tsize:-4;\n",
		"size of 2^60":    "name: x\nID: 5\n\tfield:int a;\toffset:0;\tsize:1152921504606846976;\n",
		"no type":         "name: x\nID: 5\n\tfield:a;\toffset:0;\tsize:4;\n",
		"open bracket":    "name: x\nID: 5\n\tfield:int a[4;\toffset:0;\tsize:4;\n",
	} {
		t.Run(name, func(t *testing.T) {
			var format *event.FormatError
			if f, err := Parse("s", []byte(text), 8); !errors.As(err, &format) {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

func TestHeaderPageTellsTheKernelsLong(t *testing.T) {
	const of32 = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n" +
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n"
	h, err := ParseHeaderPage([]byte(of32))
	if err != nil || h != (HeaderPage{8, 4, 12, 4084}) {
		t.Errorf("%+v, %v", h, err)
	}
	for _, text := range []string{"", "\tfield: char data;\toffset:0;\tsize:4084;\n", "\tfield: local_t commit;\toffset:8;\tsize:3;\n"} {
		var format *event.FormatError
		if _, err := ParseHeaderPage([]byte(text)); !errors.As(err, &format) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestUsersEventsAreNotInterpreted: who makes a kprobe may call it as he likes.
func TestUsersEventsAreNotInterpreted(t *testing.T) {
	for system, want := range map[string]event.Kind{"sched": event.SchedSwitch, "kprobes": event.Other, "synthetic": event.Other} {
		s := &Set{LongSize: 8}
		if err := s.Add(system, []byte(formatText("sched_switch", 7, commonText, nil, `""`))); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Kind(7); got != want || !ok {
			t.Errorf("%s:sched_switch is %v", system, got)
		}
	}
}
