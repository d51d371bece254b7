//go:build linux

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/whylate/whylate/internal/shared"
)

// TestLatencyBesideItsPeer compares `whylate latency` with `trace-cmd report` on the same
// trace of 2.5 million events, in one run: a quarter of its wall time at most, and at most
// 96 MiB. The better of two rounds counts for each, since machines are shared.
func TestLatencyBesideItsPeer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	file := shared.Path(t, "traces/big-v61-smp4/hackbench.dat")
	peer, err := exec.LookPath("trace-cmd")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("trace-cmd is not installed")
	}
	binary := filepath.Join(t.TempDir(), "whylate")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/whylate/whylate/cmd/whylate").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	var ours, theirs time.Duration
	for range 2 {
		theirs = better(theirs, run(t, 0, peer, "report", file))
		ours = better(ours, run(t, 96<<20, binary, "latency", file))
	}
	t.Logf("latency takes %.2f of what trace-cmd report takes", float64(ours)/float64(theirs))
	if ours*4 > theirs {
		t.Errorf("latency takes %v, trace-cmd report %v: more than a quarter", ours, theirs)
	}
}

func better(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// run returns the wall time of a command whose peak memory must stay within most bytes;
// 0: no bound.
func run(t *testing.T, most int64, name string, args ...string) time.Duration {
	t.Helper()
	cmd := exec.Command(name, args...)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	took := time.Since(start)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if ok && most > 0 && usage.Maxrss<<10 > most {
		t.Errorf("%s %v needs %d MiB, more than %d", filepath.Base(name), args, usage.Maxrss>>10, most>>20)
	}
	return took
}
