package explain_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/trace"
)

// TestStories reads each testdata/stories/*.txtar: the story, a trace as text, and the
// answer that follows from the definitions. The files are:
//
//	kernel   release of the kernel, optional
//	trace    the events as text
//	want     a line for each late wait, the causes indented below it (see tell)
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { story(t, file) })
	}
}

func story(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range a.Files {
		parts[f.Name] = string(f.Data)
	}
	path := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(path, []byte(parts["trace"]), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := explain.Explain(src, explain.Options{Kernel: strings.TrimSpace(parts["kernel"]),
		From: event.NoTime, To: event.NoTime, Over: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	if diff := cmp.Diff(strings.TrimSpace(parts["want"]), strings.TrimSpace(tell(r))); diff != "" {
		t.Errorf("%s(-want +got):\n%s", a.Comment, diff)
	}
}

// checkSums holds every answer to the first contract: causes sum to the lateness.
func checkSums(t *testing.T, r *result.Explain) {
	t.Helper()
	for _, l := range r.Late {
		var sum int64
		for _, c := range l.Causes {
			sum += c.NS
		}
		if sum != l.LatenessNS {
			t.Errorf("wait %s: causes sum to %d ns, lateness is %d ns", l.ID, sum, l.LatenessNS)
		}
	}
}

// tell prints an answer for comparison, times in µs:
//
//	motor/2501@812.001000 rt 19 wakeup 2450.0 proven
//	  higher_prio hog/2600 2450.0 proven
//	! broken_chain 1
func tell(r *result.Explain) string {
	var b strings.Builder
	us := func(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e3) }
	for _, l := range r.Late {
		fmt.Fprintf(&b, "%s/%s %s %d %s %s", l.Comm, l.ID, l.Class, l.Prio, l.WaitKind, us(l.WaitNS))
		if l.LatenessNS != l.WaitNS {
			fmt.Fprintf(&b, " late %s", us(l.LatenessNS))
		}
		if l.OnCPUNS == nil {
			b.WriteString(" open")
		}
		fmt.Fprintf(&b, " %s\n", l.Verdict)
		for _, c := range l.Causes {
			who := ""
			if c.PID >= 0 {
				who = fmt.Sprintf(" %s/%d", c.Comm, c.PID)
			} else if c.Comm != "" {
				who = " " + c.Comm
			}
			fmt.Fprintf(&b, "  %s%s %s %s\n", c.Kind, who, us(c.NS), c.Verdict)
		}
	}
	for _, d := range r.Diagnostics {
		fmt.Fprintf(&b, "! %s %d\n", d.Kind, d.Count)
	}
	return b.String()
}
