package tracedat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
)

// openBytes opens a file that a test built.
func openBytes(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)), event.NewNames())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// lines prints the events of a source: "CPU time kind pid", or "CPU from-time gap lost".
func lines(t testing.TB, src event.Source, o event.Options) (out []string, diags []event.Diagnostic) {
	t.Helper()
	s, err := src.Events(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		e, err := s.Next()
		if err == io.EOF {
			return out, s.Diagnostics()
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case event.Gap:
			from := fmt.Sprint(e.From)
			if !e.From.Valid() {
				from = "start"
			}
			out = append(out, fmt.Sprintf("%d %s-%d gap %d", e.CPU, from, e.Time, e.Arg))
		case event.SchedSwitch:
			out = append(out, fmt.Sprintf("%d %d switch %d>%d %v", e.CPU, e.Time, e.Task, e.Next, e.State))
		case event.Other:
			out = append(out, fmt.Sprintf("%d %d %s %s", e.CPU, e.Time, s.Names().String(e.Name), s.Names().String(e.Text)))
		case event.Print:
			out = append(out, fmt.Sprintf("%d %d print %s", e.CPU, e.Time, s.Names().String(e.Text)))
		default:
			out = append(out, fmt.Sprintf("%d %d %v %d", e.CPU, e.Time, e.Kind, e.Task))
		}
	}
}

// builtFiles are situations of a trace with the events that must come out, written by
// hand. Where known is set, trace-cmd is asked as well.
var builtFiles = []struct {
	name  string
	build func(f *testFile)
	want  []string
	peer  bool   // trace-cmd report prints the same
	diags string // the kinds of the diagnostics
}{
	{"two CPUs are merged by time, then CPU", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{
			{0, [][]byte{f.page(1000).add(0, f.wakingRecord(1)).add(10, f.switchRecord(2, 3, 0x100)).add(5, f.wakingRecord(4)).bytes(),
				f.page(2000).add(7, f.switchRecord(3, 2, 1)).bytes()}},
			{1, [][]byte{f.page(900).add(99, f.wakingRecord(5)).add(11, f.wakingRecord(6)).add(5, f.wakingRecord(7)).bytes()}},
		}}}
	}, []string{"1 999 sched_waking 5", "0 1000 sched_waking 1", "0 1010 switch 2>3 R+", "1 1010 sched_waking 6",
		"0 1015 sched_waking 4", "1 1015 sched_waking 7", "0 2007 switch 3>2 S"}, true, ""},

	{"CPU numbers have holes", func(f *testFile) {
		f.tableCPUs = 9
		f.buffers = []testBuffer{{cpus: []testCPU{
			{2, [][]byte{f.page(10).add(0, f.wakingRecord(1)).bytes()}},
			{5, [][]byte{f.page(20).add(0, f.wakingRecord(2)).bytes()}},
		}}}
	}, []string{"2 10 sched_waking 1", "5 20 sched_waking 2"}, true, ""},

	{"a time extend and long records", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(1)).extend(1<<27+5).add(1, f.wakingRecord(2)).
			add(2, f.printRecord(strings.Repeat("long ", 40))).add(3, f.wakingRecord(3)).bytes()}}}}}
	}, []string{"0 1001 sched_waking 1", "0 134218735 sched_waking 2", "0 134218737 print " + strings.Repeat("long ", 40), "0 134218740 sched_waking 3"}, true, ""},

	{"absolute time stamps", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(1)).absolute(5000000123).add(0, f.wakingRecord(2)).
			add(4, f.wakingRecord(3)).bytes()}}}}}
	}, []string{"0 1001 sched_waking 1", "0 5000000123 sched_waking 2", "0 5000000127 sched_waking 3"}, true, ""},

	{"an absolute stamp has only 59 bits", func(f *testFile) {
		const high = 1 << 59
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(high+1000).absolute(2000).add(1, f.wakingRecord(1)).bytes()}}}}}
	}, []string{"0 576460752303425489 sched_waking 1"}, true, ""},

	{"discarded records cost only their time", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(1)).discard(10, 40).add(1, f.wakingRecord(2)).bytes()}}}}}
	}, []string{"0 1001 sched_waking 1", "0 1012 sched_waking 2"}, true, ""},

	{"lost events are counted where the kernel did", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(1)).bytes(),
			f.page(2000).lose(12).add(5, f.wakingRecord(2)).bytes(),
			f.page(3000).lose(-1).add(6, f.wakingRecord(3)).bytes()}}}}}
	}, []string{"0 1001 sched_waking 1", "0 1001-2005 gap 12", "0 2005 sched_waking 2", "0 2005-3006 gap -1", "0 3006 sched_waking 3"}, true, "lost_events lost_events"},

	{"events lost before the first page", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).lose(7).add(1, f.wakingRecord(1)).bytes()}}}}}
	}, []string{"0 start-1001 gap 7", "0 1001 sched_waking 1"}, true, "lost_events"},

	{"pages without events", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{make([]byte, orElse(f.pageSize, 4096)), f.page(1000).add(1, f.wakingRecord(1)).bytes(),
			make([]byte, orElse(f.pageSize, 4096)), f.page(2000).add(1, f.wakingRecord(2)).bytes(), make([]byte, orElse(f.pageSize, 4096))}}}}}
	}, []string{"0 1001 sched_waking 1", "0 2001 sched_waking 2"}, false, ""},

	{"zeroes behind the last record", func(f *testFile) {
		p := f.page(1000).add(1, f.wakingRecord(1))
		p.data = append(p.data, make([]byte, 12)...) // the length of the page covers them
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{p.bytes(), f.page(2000).add(1, f.wakingRecord(2)).bytes()}}}}}
	}, []string{"0 1001 sched_waking 1", "0 2001 sched_waking 2"}, false, ""},

	{"an event that the file does not describe", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.common(700, 1)).add(1, f.wakingRecord(1)).add(1, f.testRecord(-5)).bytes()}}}}}
	}, []string{"0 1001  ", "0 1002 sched_waking 1", "0 1003 whylate_test value=-5"}, false, ""},

	{"DATE is microseconds, OFFSET is nanoseconds", func(f *testFile) {
		f.options = []testOption{{1, []byte("0x10\x00")}, {7, []byte("100\x00")}}
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(1)).bytes()}}}}}
	}, []string{"0 17101 sched_waking 1"}, true, ""},

	{"options that nobody knows", func(f *testFile) {
		f.options = []testOption{{77, []byte("?")}, {8, []byte("no number at all")}, {6, nil}, {1000, make([]byte, 5000)}}
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(1)).bytes()}}}}}
	}, []string{"0 1001 sched_waking 1"}, false, "unknown_option unknown_option unknown_option"},

	{"a record ends before its fields", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(1)[:28]).add(1, f.wakingRecord(2)).bytes()}}}}}
	}, []string{"0 1001 sched_waking 1", "0 1002 sched_waking 2"}, false, "corrupt_record"},

	{"stamps that run backwards are held", func(f *testFile) {
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(1)).bytes(), f.page(500).add(1, f.wakingRecord(2)).bytes(),
			f.page(2000).add(1, f.wakingRecord(3)).bytes()}}}}}
	}, []string{"0 1001 sched_waking 1", "0 1001 sched_waking 2", "0 2001 sched_waking 3"}, false, "clock"},

	{"no events at all", func(f *testFile) { f.tableCPUs = 2; f.buffers = []testBuffer{{}} }, nil, false, ""},
}

// shapes are the forms that a file may have.
func shapes() map[string]testFile {
	all := map[string]testFile{}
	for _, version := range []string{"6", "7 none", "7 zlib", "7 zstd"} {
		number, codec, _ := strings.Cut(version, " ")
		for _, big := range []bool{false, true} {
			for _, long := range []int{4, 8} {
				f := testFile{version: int(number[0] - '0'), codec: strings.TrimPrefix(codec, "none"), big: big, kernelLong: long, userLong: long}
				all[fmt.Sprintf("v%s long %d big %t", version, long, big)] = f
			}
		}
	}
	all["v6 kernel 32 bits, user 64"] = testFile{version: 6, kernelLong: 4, userLong: 8}
	all["v7 zstd kernel 64 bits, user 32"] = testFile{version: 7, codec: "zstd", kernelLong: 8, userLong: 4}
	all["v7 zstd sub-buffers of 16 KiB"] = testFile{version: 7, codec: "zstd", pageSize: 16384}
	all["v7 none sub-buffers of 8 KiB"] = testFile{version: 7, pageSize: 8192}
	return all
}

// asked are the shapes for which trace-cmd is asked too; it is slow to start.
var asked = map[string]bool{"v6 long 8 big false": true, "v6 long 4 big true": true, "v7 zstd long 8 big false": true,
	"v7 none long 8 big true": true, "v7 zstd sub-buffers of 16 KiB": true}

func TestBuiltFiles(t *testing.T) {
	for shape, base := range shapes() {
		for _, test := range builtFiles {
			t.Run(shape+"/"+test.name, func(t *testing.T) {
				f := base
				test.build(&f)
				data := f.file(t)
				got, diags := lines(t, openBytes(t, data), event.Options{OtherText: true})
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Fatalf("events (-want +got):\n%s", diff)
				}
				if got := diagnosticKinds(diags); got != test.diags {
					t.Errorf("diagnostics %q, want %q: %v", got, test.diags, diags)
				}
				if test.peer && asked[shape] {
					compareWithPeer(t, data, test.want)
				}
			})
		}
	}
}

func diagnosticKinds(diags []event.Diagnostic) string {
	var kinds []string
	for _, d := range diags {
		kinds = append(kinds, d.Kind)
	}
	return strings.Join(kinds, " ")
}

// compareWithPeer asks trace-cmd for the same file: CPU and time of each line and how
// many events it says were lost.
func compareWithPeer(t *testing.T, data []byte, want []string) {
	path := filepath.Join(t.TempDir(), "trace.dat")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var got, ours []string
	report(t, path, []string{"-R"}, func(r reportLine) bool {
		if r.name == "" {
			got = append(got, fmt.Sprintf("gap %d %s", r.cpu, strings.TrimPrefix(r.lost, "-1")))
		} else {
			got = append(got, fmt.Sprintf("%d %d", r.cpu, r.time))
		}
		return true
	})
	for _, line := range want {
		words := strings.Fields(line)
		if words[2] == "gap" {
			ours = append(ours, fmt.Sprintf("gap %s %s", words[0], strings.TrimPrefix(words[3], "-1")))
		} else {
			ours = append(ours, words[0]+" "+words[1])
		}
	}
	if diff := cmp.Diff(got, ours); diff != "" {
		t.Errorf("trace-cmd report prints something else (-trace-cmd +want):\n%s", diff)
	}
}

// TestStampsOfTSCAreConverted: with the option TSC2NSEC stamps are cycles.
func TestStampsOfTSCAreConverted(t *testing.T) {
	f := testFile{version: 7}
	option := binary.LittleEndian.AppendUint32(nil, 3<<20) // mult
	option = binary.LittleEndian.AppendUint32(option, 21)  // shift: × 1.5
	option = binary.LittleEndian.AppendUint64(option, 1000)
	f.options = []testOption{{14, option}}
	f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1<<62).add(2, f.wakingRecord(1)).bytes(),
		f.page(1<<62+1000).add(2, f.wakingRecord(2)).bytes()}}}}}
	data := f.file(t)
	got, _ := lines(t, openBytes(t, data), event.Options{})
	want := []string{"0 6917529027641081859 sched_waking 1", "0 6917529027641083359 sched_waking 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	compareWithPeer(t, data, want)
}

// TestTableOfProcesses: the private option 8 of a changed trace-cmd.
func TestTableOfProcesses(t *testing.T) {
	f := testFile{version: 6}
	f.options = []testOption{{8, []byte("1 700\n12 13\n")}}
	f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(5)).add(1, f.switchRecord(3, 1, 0)).bytes()}}}}}
	s, err := openBytes(t, f.file(t)).Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, want := range []event.PID{700, event.NoPID} { // recorded by pid 1, then by pid 3
		if e, err := s.Next(); err != nil || e.TGID != want {
			t.Errorf("process %d, want %d (%v)", e.TGID, want, err)
		}
	}
}

// TestInstancesAreSeparate: the main buffer is the default, the others have names.
func TestInstancesAreSeparate(t *testing.T) {
	for shape, f := range shapes() {
		t.Run(shape, func(t *testing.T) {
			one := func(pid int) []testCPU {
				return []testCPU{{1, [][]byte{f.page(1000).add(1, f.wakingRecord(pid)).bytes()}}}
			}
			f.buffers = []testBuffer{{cpus: one(1)}, {name: "foo", cpus: one(2)}, {name: "bar baz", cpus: one(3)}}
			file := openBytes(t, f.file(t))
			if diff := cmp.Diff([]string{"", "foo", "bar baz"}, file.Info().Buffers); diff != "" {
				t.Error("buffers (-want +got):\n", diff)
			}
			if got, _ := lines(t, file, event.Options{}); len(got) != 1 || got[0] != "1 1001 sched_waking 1" {
				t.Errorf("main buffer has %q", got)
			}
			for pid, name := range file.Info().Buffers {
				src, err := file.Buffer(name)
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := lines(t, src, event.Options{}); len(got) != 1 || got[0] != fmt.Sprint("1 1001 sched_waking ", pid+1) {
					t.Errorf("buffer %q has %q", name, got)
				}
			}
			if _, err := file.Buffer("no such"); err == nil {
				t.Error("a buffer that is not there was opened")
			}
		})
	}
}

// TestWantedKindsOnly: other kinds are left out, gaps never.
func TestWantedKindsOnly(t *testing.T) {
	f := testFile{version: 7, codec: "zstd"}
	f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{
		f.page(1000).add(1, f.wakingRecord(1)).add(1, f.switchRecord(2, 3, 0)).add(1, f.testRecord(1)).bytes(),
		f.page(2000).lose(3).add(1, f.wakingRecord(2)).add(1, f.switchRecord(3, 2, 0)).bytes(),
		f.page(3000).lose(4).add(1, f.switchRecord(2, 3, 0)).bytes()}}}}}
	got, _ := lines(t, openBytes(t, f.file(t)), event.Options{Want: event.Kinds(event.SchedSwitch)})
	want := []string{"0 1002 switch 2>3 R", "0 1003-2001 gap 3", "0 2002 switch 3>2 R", "0 2002-3001 gap 4", "0 3001 switch 2>3 R"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	got, _ = lines(t, openBytes(t, f.file(t)), event.Options{Want: event.Kinds(event.Other), OtherText: true})
	want = []string{"0 1003 whylate_test value=1", "0 1003-2001 gap 3", "0 2002-3001 gap 4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
