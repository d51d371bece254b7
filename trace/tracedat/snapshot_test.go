package tracedat

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
)

// someMachine is a snapshot with so many tasks that it is compressed where many is true.
func someMachine(many bool) *sysinfo.Snapshot {
	s := &sysinfo.Snapshot{Kernel: sysinfo.Kernel{Release: "6.1.0-50-rt-amd64"}, Settings: []sysinfo.Setting{{Name: "HZ", Value: "250"}}}
	for pid := range int32(100) {
		if many {
			s.Tasks = append(s.Tasks, sysinfo.Task{PID: pid, TGID: pid, Comm: fmt.Sprintf("task%d", pid), Policy: sysinfo.FIFO, Priority: int(pid)})
		}
	}
	return s
}

func packed(t *testing.T, s *sysinfo.Snapshot) []byte {
	t.Helper()
	data, err := sysinfo.Pack(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSnapshotInEveryShapeOfFile: version, byte order and compression do not matter to it, and
// trace-cmd passes over it without a word.
func TestSnapshotInEveryShapeOfFile(t *testing.T) {
	for shape, f := range shapes() {
		for _, many := range []bool{false, true} {
			want := someMachine(many)
			f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(5)).bytes()}}}}}
			f.options = nil
			without := f.file(t)
			f.options = []testOption{{optSysinfo, packed(t, want)}}
			data := f.file(t)
			file := openBytes(t, data)
			if diff := cmp.Diff(want, file.Snapshot()); diff != "" || len(file.Diagnostics()) > 0 {
				t.Errorf("%s: %v, %s", shape, file.Diagnostics(), diff)
			}
			main, err := file.Buffer("")
			if err != nil || sysinfo.Of(main) != file.Snapshot() {
				t.Errorf("%s: the main buffer has another snapshot (%v)", shape, err)
			}
			got, _ := lines(t, file, event.Options{})
			same, _ := lines(t, openBytes(t, without), event.Options{})
			if diff := cmp.Diff(same, got); diff != "" {
				t.Errorf("%s: events (-without +with):\n%s", shape, diff)
			}
			if asked[shape] && many {
				saysTheSame(t, shape, without, data)
			}
		}
	}
}

// saysTheSame compares all that trace-cmd says about two files, with its complaints.
func saysTheSame(t *testing.T, shape string, without, with []byte) {
	if _, err := exec.LookPath("trace-cmd"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("trace-cmd is promised in CI: ", err)
		}
		t.Skip("trace-cmd is not installed")
	}
	path := filepath.Join(t.TempDir(), "trace.dat")
	for _, verb := range [][]string{{"report", "-t", "-R"}, {"report", "--events"}, {"dump", "--summary"}} {
		var said [2]string
		for i, data := range [][]byte{without, with} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("trace-cmd", append(verb, "-i", path)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%s: trace-cmd %v: %v: %s", shape, verb, err, out)
			}
			said[i] = string(out)
		}
		if verb[0] == "dump" { // it counts what there is
			if !strings.Contains(said[1], "Tracing") && !strings.Contains(said[1], "options") {
				t.Errorf("%s: trace-cmd %v says %q", shape, verb, said[1])
			}
			continue
		}
		if said[0] != said[1] {
			t.Errorf("%s: trace-cmd %v (-without +with):\n%s", shape, verb, cmp.Diff(said[0], said[1]))
		}
	}
}

func TestADamagedSnapshotCostsOnlyItself(t *testing.T) {
	good := packed(t, someMachine(true))
	for name, data := range map[string][]byte{
		"nothing": nil, "cut": good[:len(good)/2], "noise": []byte("no snapshot"), "later": []byte(`{"schema": "whylate.sysinfo/2"}`)} {
		f := testFile{version: 6, options: []testOption{{optSysinfo, data}}}
		f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(5)).bytes()}}}}}
		file := openBytes(t, f.file(t))
		got, diags := lines(t, file, event.Options{})
		if file.Snapshot() != nil || len(got) != 1 || len(diags) != 1 || diags[0].Kind != "sysinfo" {
			t.Errorf("%s: %v, %v, %v", name, file.Snapshot(), got, diags)
		}
	}
	f := testFile{version: 7, options: []testOption{{optSysinfo, good}, {optSysinfo, packed(t, someMachine(false))}}}
	f.buffers = []testBuffer{{cpus: []testCPU{{0, [][]byte{f.page(1000).add(1, f.wakingRecord(5)).bytes()}}}}}
	file := openBytes(t, f.file(t))
	if s := file.Snapshot(); s == nil || len(s.Tasks) != 100 || len(file.Diagnostics()) != 1 {
		t.Errorf("of two snapshots %+v is taken, said is %v", s, file.Diagnostics())
	}
}

func TestTheWriterKeepsTheSnapshot(t *testing.T) {
	names := event.NewNames()
	write := func(s *sysinfo.Snapshot) []byte {
		var out bytes.Buffer
		w := NewWriter(&out, event.Info{CPUs: 1}, names)
		if err := w.SetSnapshot(s); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for _, want := range []*sysinfo.Snapshot{nil, someMachine(false), someMachine(true)} {
		data := write(want)
		if diff := cmp.Diff(want, openBytes(t, data).Snapshot()); diff != "" {
			t.Error(diff)
		}
		if !bytes.Equal(data, write(want)) {
			t.Error("the same snapshot gives other bytes")
		}
	}
	w := NewWriter(&bytes.Buffer{}, event.Info{}, names)
	if err := w.SetSnapshot(&sysinfo.Snapshot{Tasks: []sysinfo.Task{{PID: -1}}}); err == nil {
		t.Error("a task −1 is taken")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
