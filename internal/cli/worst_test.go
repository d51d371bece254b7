package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAnInterruptedWorstGoesOn: Ctrl-C ends with 130 and leaves the state; the same command then
// answers as if nothing had been.
func TestAnInterruptedWorstGoesOn(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	args := []string{"worst", "cyclictest", "--task", "cyclictest-0", "--duration", "50ms", "--budget", "600", "--vary", "all", "--json"}
	load := []string{"--", "-t", "2", "-p", "80", "-a"}
	run := func(ctx context.Context, more ...string) (int, string, string) {
		var out, err bytes.Buffer
		code := Run(ctx, append(append(args[:len(args):len(args)], more...), load...), nil, &out, &err)
		return code, out.String(), err.String()
	}
	code, want, said := run(context.Background())
	if code != ExitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(state); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	code, out, said := run(ctx, "--resume", state)
	if code != ExitInterrupted || out != "" || said != "whylate: interrupted\n" {
		t.Fatalf("interrupted: exit code %d, %q, %q", code, out, said)
	}
	code, got, said := run(context.Background(), "--resume", state)
	if code != ExitOK {
		t.Fatalf("resumed: exit code %d: %s", code, said)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-through +resumed)\n%s", d)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
