package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/whylate/whylate/result"
)

func TestExitCodes(t *testing.T) {
	ctx := context.Background()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		code int
		says string
	}{
		"answered":     {ctx, nil, ExitOK, ""},
		"error":        {ctx, errors.New("no such thing"), ExitError, "whylate: no such thing"},
		"usage":        {ctx, &usageError{"whylate info", errors.New("what?")}, ExitUsage, "Run 'whylate info -h'"},
		"unreliable":   {ctx, fmt.Errorf("%w: holes", errUnreliable), ExitUnreliable, "holes"},
		"reader left":  {ctx, fmt.Errorf("writing: %w", syscall.EPIPE), ExitOK, ""},
		"interrupted":  {ended, errors.New("stream ended"), ExitInterrupted, "interrupted"},
		"done by then": {ended, nil, ExitOK, ""},
	} {
		var stderr bytes.Buffer
		if got := exitCode(c.ctx, c.err, &stderr); got != c.code {
			t.Errorf("%s: code %d, want %d", name, got, c.code)
		}
		if !strings.Contains(stderr.String(), c.says) || c.says == "" && stderr.Len() > 0 {
			t.Errorf("%s: said %q, want %q", name, stderr.String(), c.says)
		}
	}
}

// TestInterruptedCase: a case that has yet much to do ends soon, and says why.
func TestInterruptedCase(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	var stdout, stderr bytes.Buffer
	began := time.Now()
	code := Run(ctx, []string{"case", "throttle"}, nil, &stdout, &stderr)
	if code != ExitInterrupted || !strings.Contains(stderr.String(), "interrupted") || stdout.Len() > 0 {
		t.Errorf("code %d, said %q, printed %d bytes", code, stderr.String(), stdout.Len())
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestStandardInputOfTheCaller(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var stdout, stderr bytes.Buffer
	dir := t.TempDir()
	if err := writeDemo(dir + "/demo.dat"); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(dir + "/demo.dat")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	code := Run(context.Background(), []string{"latency", "-", "--task", "hi25"}, io.MultiReader(in), &stdout, &stderr)
	if code != ExitOK || !strings.Contains(stdout.String(), "hi25") {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left behind: %v %v", left, err)
	}
}

// endless is a standard input that never ends.
type endless struct{ block chan struct{} }

func (e endless) Read([]byte) (int, error) { <-e.block; return 0, io.EOF }

func TestInterruptedWhileInputBlocks(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	in := endless{make(chan struct{})}
	defer close(in.block)
	if code := Run(ctx, []string{"info", "-"}, in, io.Discard, io.Discard); code != ExitInterrupted {
		t.Errorf("code %d, want %d", code, ExitInterrupted)
	}
}

func TestProgressIsSilentAtFirstAndLeavesNothing(t *testing.T) {
	var screen bytes.Buffer
	clock := time.Unix(0, 0)
	p := &progress{w: &screen, now: func() time.Time { return clock }, next: clock.Add(progressDelay)}
	p.update(1e6, 10e6)
	p.erase()
	if screen.Len() > 0 {
		t.Errorf("wrote %q within the first second", screen.String())
	}
	clock = clock.Add(progressDelay)
	p.update(5e6, 10e6)
	p.update(6e6, 10e6) // at once: too early to rewrite
	if got, want := screen.String(), "\rreading 10 MB: 50 %\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.erase()
	if !strings.HasSuffix(screen.String(), "\r\x1b[K") {
		t.Errorf("not erased: %q", screen.String())
	}
	if q := newProgress(&screen, false); q.w != nil {
		t.Error("a buffer is no terminal")
	}
}

func TestHoles(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		holes  bool
	}{
		"clean":    {answer{}, false},
		"inferred": {answer{diagnostics: []result.Diagnostic{{Kind: "inferred", Count: 3}}}, false},
		"unknown":  {answer{input: result.Input{Lost: -1}}, true},
		"lost":     {answer{diagnostics: []result.Diagnostic{{Kind: "lost_events", Count: 3}}}, true},
		"broken":   {answer{diagnostics: []result.Diagnostic{{Kind: "broken_chain", Count: 1}}}, true},
		"cut":      {answer{diagnostics: []result.Diagnostic{{Kind: "truncated", Count: 1}}}, true},
		"corrupt":  {answer{diagnostics: []result.Diagnostic{{Kind: "corrupt_page", Count: 1}}}, true},
	} {
		if err := c.answer.holes(); errors.Is(err, errUnreliable) != c.holes {
			t.Errorf("%s: %v, want holes %v", name, err, c.holes)
		}
	}
}
