package explain_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
//	sysinfo  the snapshot of the machine, optional
//	by       rows of the answer, optional; show has the word tasks then
//	want     a line for each late wait, the causes indented below it (see tell)
//	show     optional: what else want tells, words of cpu detail due elsewhere balancing needs tasks waker
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
	if text := parts["sysinfo"]; text != "" {
		if err := os.WriteFile(trace.SidecarOf(path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if parts["sysinfo"] != "" && src.Snapshot() == nil {
		t.Fatal("the snapshot cannot be read")
	}
	o := explain.Options{Kernel: strings.TrimSpace(parts["kernel"]), From: event.NoTime, To: event.NoTime, Over: 1, By: explain.By(strings.TrimSpace(parts["by"]))}
	r, err := explain.Explain(src, o)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	l, err := explain.Latency(src, o)
	if err != nil {
		t.Fatal(err)
	}
	checkSameWaits(t, r.Tasks, l.Tasks)
	if diff := cmp.Diff(strings.TrimSpace(parts["want"]), strings.TrimSpace(tell(r, strings.Fields(parts["show"])...))); diff != "" {
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

// checkSameWaits holds the two verbs to each other: they count the same waits.
func checkSameWaits(t *testing.T, explained, latency []result.Task) {
	t.Helper()
	type waits struct{ Wakeup, Preempted result.Waits }
	byTask := func(tasks []result.Task) map[string]waits {
		m := map[string]waits{}
		for _, t := range tasks {
			m[fmt.Sprintf("%s/%d %s %d %s", t.Comm, t.PID, t.Class, t.Prio, t.Group)] = waits{t.Wakeup, t.Preempted}
		}
		return m
	}
	if diff := cmp.Diff(byTask(explained), byTask(latency)); diff != "" {
		t.Errorf("explain and latency count different waits (-explain +latency):\n%s", diff)
	}
}

// tell prints an answer for comparison, times in µs:
//
//	motor/2501@812.001000 rt 19 wakeup 2450.0 proven
//	  higher_prio hog/2600 2450.0 proven
//	! broken_chain 1
//
// The words of show add to it: tasks a line for each task in front; due, waker,
// elsewhere and needs a line for each wait; cpu and detail the end of each cause; balancing
// the end of each line of elsewhere: from when to when the CPU idled, seen from the wait, how
// often, and what shows of the balancer.
func tell(r *result.Explain, show ...string) string {
	var b strings.Builder
	shows := func(word string) bool { return slices.Contains(show, word) }
	for _, t := range r.Tasks {
		if shows("tasks") {
			name := fmt.Sprintf("%s/%d %s %d", t.Comm, t.PID, t.Class, t.Prio)
			if t.Group != "" {
				name = t.Group
			}
			if t.CGroup != "" {
				name += " in " + t.CGroup
			}
			fmt.Fprintf(&b, "%s: %d wakeups %s, %d preempted %s\n", name,
				t.Wakeup.Waits, micros(t.Wakeup.TotalNS), t.Preempted.Waits, micros(t.Preempted.TotalNS))
		}
	}
	for i := range r.Late {
		tellWait(&b, &r.Late[i], shows)
	}
	for _, d := range r.Diagnostics {
		fmt.Fprintf(&b, "! %s %d\n", d.Kind, d.Count)
	}
	return b.String()
}

func micros(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e3) }

func tellWait(b *strings.Builder, l *result.Late, shows func(string) bool) {
	fmt.Fprintf(b, "%s/%s %s %d %s %s", l.Comm, l.ID, l.Class, l.Prio, l.WaitKind, micros(l.WaitNS))
	if l.LatenessNS != l.WaitNS {
		fmt.Fprintf(b, " late %s", micros(l.LatenessNS))
	}
	if l.OnCPUNS == nil {
		b.WriteString(" open")
	}
	fmt.Fprintf(b, " %s\n", l.Verdict)
	if l.DueNS != nil && shows("due") {
		fmt.Fprintf(b, "  due %s before the wake, %s: %s\n", micros(l.WokenNS-*l.DueNS), l.DueVerdict, l.DueDetail)
	}
	if shows("waker") {
		fmt.Fprintf(b, "  woken by %s/%d in %s\n", l.Waker.Comm, l.Waker.PID, l.Waker.Context)
	}
	for _, c := range l.Causes {
		tellCause(b, &c, shows)
	}
	for _, e := range l.IdleElsewhere {
		if shows("elsewhere") {
			fmt.Fprintf(b, "  CPU %d idle %s %s", e.CPU, micros(e.NS), e.Verdict)
			if shows("balancing") {
				tellBalancing(b, l, &e)
			}
			b.WriteByte('\n')
		}
	}
	for _, n := range l.Needs {
		if shows("needs") {
			fmt.Fprintf(b, "  needs %s\n", n)
		}
	}
}

func tellBalancing(b *strings.Builder, l *result.Late, e *result.IdleElsewhere) {
	since := "?"
	if e.SinceNS != nil {
		since = micros(*e.SinceNS - l.WokenNS)
	}
	fmt.Fprintf(b, ", %d from %s to %s", e.Stays, since, micros(e.UntilNS-l.WokenNS))
	x := e.Balancing
	if x == nil {
		return
	}
	fmt.Fprintf(b, "; balancing %s: %d, %d by %v, needs %v", x.Verdict, x.Softirqs, x.ByOthers, x.Others, x.Needs)
	for _, p := range x.Pulled {
		fmt.Fprintf(b, "; got %s/%d from %d by %d at %s: %s", p.Comm, p.PID, p.FromCPU, p.ByCPU, micros(p.AtNS-l.WokenNS), p.How)
	}
}

func tellCause(b *strings.Builder, c *result.Cause, shows func(string) bool) {
	fmt.Fprintf(b, "  %s", c.Kind)
	if c.PID >= 0 {
		fmt.Fprintf(b, " %s/%d", c.Comm, c.PID)
	} else if c.Comm != "" {
		fmt.Fprintf(b, " %s", c.Comm)
	}
	fmt.Fprintf(b, " %s %s", micros(c.NS), c.Verdict)
	if shows("cpu") {
		fmt.Fprintf(b, " on CPU %d", c.CPU)
	}
	if c.Detail != "" && shows("detail") {
		fmt.Fprintf(b, ": %s", c.Detail)
	}
	b.WriteByte('\n')
}
