package replay

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOtherRecordingsRunAsTheyDid: the recordings by which the model's own predictions were checked,
// of kernels with and without PREEMPT_RT, low-resolution timers, other settings. None was looked at
// before reading was finished for those of the shared folder; docs/fidelity.md says what they then
// showed. Of the late real-time and deadline waits nineteen of twenty are met well enough for an
// answer, but those behind a disk in PIO mode (ata-*), whose interrupts depend on each other.
func TestOtherRecordingsRunAsTheyDid(t *testing.T) {
	var files []string
	for _, p := range []string{"learned/*.dat", "predicted/*.dat.xz"} {
		list, err := filepath.Glob(filepath.Join("..", "scenario", "testdata", filepath.FromSlash(p)))
		if err != nil {
			t.Fatal(err)
		}
		// Those of disks are looked at in TestARecordedDiskIsClosedLoop.
		files = append(files, slices.DeleteFunc(list, func(f string) bool { return strings.HasPrefix(filepath.Base(f), "ata-") })...)
	}
	if len(files) < 40 {
		t.Fatalf("%d recordings, there were 40 and more once", len(files))
	}
	var table strings.Builder
	late, answerable, long, within := 0, 0, 0, 0
	for _, path := range files {
		l := recorded(t, path)
		r, err := l.Run(RunOptions{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, c := range Compare(Match(l.Recorded, r.Waits)).Classes {
			if c.Class != "rt" && c.Class != "dl" {
				continue
			}
			late, answerable, long, within = late+c.Late, answerable+c.Answerable, long+len(c.Long), within+c.Within
			if c.Answerable < c.Late || c.Within < len(c.Long) {
				fmt.Fprintf(&table, "%-32s %-3s %4d of %4d late ones answerable, %4d of %4d long ones within 5 %%\n", brief(path), c.Class, c.Answerable, c.Late, c.Within, len(c.Long))
			}
		}
	}
	t.Logf("not all of these:\n%stogether %d of %d late ones answerable, %d of %d long ones within 5 %%", table.String(), answerable, late, within, long)
	if answerable*20 < late*19 {
		t.Errorf("%d of %d late real-time and deadline waits are answerable", answerable, late)
	}
}
