package trace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/trace"
)

func snapshotOf(release string) *sysinfo.Snapshot {
	return &sysinfo.Snapshot{Kernel: sysinfo.Kernel{Release: release}, Settings: []sysinfo.Setting{{Name: "HZ", Value: "250"}}}
}

// recorded writes one event and the snapshot inside to dir/name.
func recorded(t *testing.T, dir, name, kernel string, inside *sysinfo.Snapshot) string {
	t.Helper()
	names := event.NewNames()
	path := filepath.Join(dir, name)
	w, err := trace.Create(path, event.Info{CPUs: 1, Kernel: kernel}, names)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SetSnapshot(inside); err != nil {
		t.Fatal(err)
	}
	writeTo(t, w, allKinds(names)[:1])
	return path
}

// beside writes text into the sidecar of path.
func beside(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(trace.SidecarOf(path), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// opened returns the snapshot of the trace at path and what is told about snapshots.
func opened(t *testing.T, path string, set *sysinfo.Snapshot) (*sysinfo.Snapshot, string) {
	t.Helper()
	f, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if set != nil {
		f.SetSnapshot(set)
	}
	st, err := f.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for {
		if _, err := st.Next(); err != nil {
			break
		}
	}
	var told []string
	for _, d := range st.Diagnostics() {
		if d.Kind == "sysinfo" {
			told = append(told, d.Text)
		}
	}
	b, err := f.Buffer("")
	if err != nil || sysinfo.Of(b) != f.Snapshot() {
		t.Errorf("the buffer has another snapshot than its file (%v)", err)
	}
	return sysinfo.Of(f), strings.Join(told, "; ")
}

const besideText = `{"schema": "whylate.sysinfo/1", "kernel": {"release": "6.1"}, "settings": [{"name": "HZ", "value": "250"}]}`

func TestWhereASnapshotIsFound(t *testing.T) {
	dir := t.TempDir()
	want := snapshotOf("6.1")
	for _, c := range []struct {
		name   string
		inside *sysinfo.Snapshot
		beside string
		set    *sysinfo.Snapshot
		want   *sysinfo.Snapshot
		told   string
	}{
		{name: "none.dat"},
		{name: "inside.dat", inside: want, want: want},
		{name: "packed.dat.zst", inside: want, want: want},
		{name: "text.txt", inside: want, want: want},
		{name: "text.txt.xz", inside: want, want: want},
		{name: "beside.dat", beside: besideText, want: want},
		{name: "both.dat", inside: snapshotOf("6.1"), beside: strings.Replace(besideText, "250", "100", 1), want: want},
		{name: "set.dat", inside: snapshotOf("6.1"), set: snapshotOf("6.12"), want: snapshotOf("6.12"), told: "is of kernel 6.12, the trace of 6.1:"},
		{name: "foreign.dat", beside: strings.Replace(besideText, "6.1", "6.12", 1), told: "it is left out, --sysinfo"},
		{name: "broken.dat", beside: besideText[:20], told: "is left out: "},
	} {
		path := recorded(t, dir, c.name, "6.1", c.inside)
		if c.beside != "" {
			beside(t, path, c.beside)
		}
		got, told := opened(t, path, c.set)
		if diff := cmp.Diff(c.want, got); diff != "" || !strings.Contains(told, c.told) || (c.told == "") != (told == "") {
			t.Errorf("%s: told %q, want %q; snapshot (-want +got):\n%s", c.name, told, c.told, diff)
		}
	}
}

// TestATextThatIsOverwrittenLosesItsSnapshot: one that stayed would be taken for the new one's.
func TestATextThatIsOverwrittenLosesItsSnapshot(t *testing.T) {
	dir := t.TempDir()
	path := recorded(t, dir, "a.txt", "6.1", snapshotOf("6.1"))
	recorded(t, dir, "a.txt", "6.1", nil)
	if s, _ := opened(t, path, nil); s != nil {
		t.Errorf("there still is %+v", s)
	}
}

// TestOldSidecar: the machine beside a trace that was overwritten is not taken for the new one's.
func TestOldSidecar(t *testing.T) {
	for _, name := range []string{"t.dat", "t.txt", "t.dat.gz"} {
		path := filepath.Join(t.TempDir(), name)
		beside(t, path, `{"schema": "whylate.sysinfo/1", "kernel": {"release": "6.1.0"}}`)
		names := event.NewNames()
		w, err := trace.Create(path, event.Info{CPUs: 4, Kernel: "6.1.0", Machine: "x86_64"}, names)
		if err != nil {
			t.Fatal(err)
		}
		writeTo(t, w, allKinds(names))
		if s, told := opened(t, path, nil); s != nil || told != "" {
			t.Errorf("%s: %+v, %s", name, s, told)
		}
	}
}
