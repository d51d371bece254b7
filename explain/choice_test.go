package explain_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/trace"
)

// writer writes a text trace of one CPU, wait by wait.
type writer struct {
	strings.Builder
	now int // µs
}

func (w *writer) line(who, format string, args ...any) {
	fmt.Fprintf(w, "%16s   [000] d..2   %d.%06d: %s\n", who, 100+w.now/1_000_000, w.now%1_000_000, fmt.Sprintf(format, args...))
}

func (w *writer) sw(prev string, pid, prio int, state, next string, nextPID, nextPrio int) {
	w.line(fmt.Sprintf("%s-%d", prev, pid), "sched_switch: prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d",
		prev, pid, prio, state, next, nextPID, nextPrio)
}

func (w *writer) wake(comm string, pid, prio int) { w.wakeBy("<idle>", 0, comm, pid, prio) }

func (w *writer) wakeBy(who string, whoPID int, comm string, pid, prio int) {
	for _, e := range []string{"sched_waking", "sched_wakeup"} {
		w.line(fmt.Sprintf("%s-%d", who, whoPID), "%s: comm=%s pid=%d prio=%d target_cpu=000", e, comm, pid, prio)
	}
}

// wakeup is a wakeup wait of us µs.
func (w *writer) wakeup(comm string, pid, prio, us int) {
	w.wake(comm, pid, prio)
	w.now += us
	w.sw("swapper/0", 0, 120, "R", comm, pid, prio)
	w.now += 5
	w.sw(comm, pid, prio, "S", "swapper/0", 0, 120)
	w.now += 100
}

// preempted is a preemption wait of us µs, after a wakeup wait of 1 µs.
func (w *writer) preempted(comm string, pid, prio, us int) {
	w.wake(comm, pid, prio)
	w.now++
	w.sw("swapper/0", 0, 120, "R", comm, pid, prio)
	w.now += 5
	w.sw(comm, pid, prio, "R", "hog", 999, 0)
	w.now += us
	w.sw("hog", 999, 0, "S", comm, pid, prio)
	w.now += 5
	w.sw(comm, pid, prio, "S", "swapper/0", 0, 120)
	w.now += 100
}

func (w *writer) explain(t *testing.T, o explain.Options) *result.Explain {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(path, []byte("# tracer: nop\n#\n"+w.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	o.From, o.To = event.NoTime, event.NoTime
	r, err := explain.Explain(src, o)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	return r
}

// told lists the lengths of the told waits of comm in µs, in the order of the answer.
func told(r *result.Explain, comm, kind string) (list []int) {
	for _, l := range r.Late {
		if l.Comm == comm && l.WaitKind == kind {
			list = append(list, int(l.LatenessNS/1000))
		}
	}
	return list
}

// down lists from, from−1, …, to.
func down(from, to int) (list []int) {
	for ; from >= to; from-- {
		list = append(list, from)
	}
	return list
}

// TestDefaultChoice: what is told without --over. Of each deadline or real-time user task,
// and each interrupt thread, the worst 20 wakeup waits of at least 50 µs and the worst 5
// preemption waits; the worst 20 of all fair tasks; the worst 20 of all threads of the
// kernel, real-time ones too; open waits of at least 1 ms.
func TestDefaultChoice(t *testing.T) {
	var w writer
	for us := 40; us < 75; us++ {
		w.wakeup("rt", 10, 19, us)
		w.wakeup("dl", 11, -1, us-10)
		w.wakeup("irq/9-eth0", 12, 49, us)
	}
	for us := 10; us < 18; us++ {
		w.preempted("rt", 10, 19, us)
	}
	for us := 10; us < 25; us++ {
		w.wakeup("fair", 20, 120, us)
		w.wakeup("nice", 21, 139, us+15)
		w.wakeup("kworker/0:1", 30, 120, us)
		w.wakeup("ktimers/0", 31, 98, us+15)
	}
	w.wake("longopen", 41, 19) // 1,100 µs till the end
	w.now += 150
	w.wake("open", 40, 19) // 950 µs
	w.now += 950
	w.line("<idle>-0", "cpu_idle: state=1 cpu_id=0")
	r := w.explain(t, explain.Options{})
	for _, c := range []struct {
		comm, kind string
		want       []int
	}{
		{"rt", "wakeup", down(74, 55)},
		{"rt", "preempted", down(17, 13)},
		{"dl", "wakeup", down(64, 50)},
		{"irq/9-eth0", "wakeup", down(74, 55)},
		{"nice", "wakeup", down(39, 25)}, // 15 of the 20 of all fair tasks
		{"fair", "wakeup", down(24, 20)},
		{"ktimers/0", "wakeup", down(39, 25)},
		{"kworker/0:1", "wakeup", down(24, 20)},
		{"open", "wakeup", nil},
		{"longopen", "wakeup", []int{1100}},
	} {
		if diff := cmp.Diff(c.want, told(r, c.comm, c.kind)); diff != "" {
			t.Errorf("%s waits of %s (-want +told):\n%s", c.kind, c.comm, diff)
		}
	}
}

// TestOrderForPeople: deadline and real-time user tasks first, then fair tasks, last the
// threads of the kernel however late; within each the most late first.
func TestOrderForPeople(t *testing.T) {
	var w writer
	w.wakeup("ktimers/0", 31, 98, 900)
	w.wakeup("kworker/0:1", 30, 120, 800)
	w.wakeup("fair", 20, 120, 700)
	w.wakeup("nice", 21, 139, 600)
	w.wakeup("rt", 10, 19, 50)
	w.wakeup("irq/9-eth0", 12, 49, 60)
	w.wakeup("dl", 11, -1, 55)
	var order []string
	for _, l := range w.explain(t, explain.Options{}).Late {
		order = append(order, l.Comm)
	}
	want := []string{"irq/9-eth0", "dl", "rt", "fair", "nice", "ktimers/0", "kworker/0:1"}
	if !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}

// TestOver: with --over every wait that is at least so late is told, whoever waited.
func TestOver(t *testing.T) {
	var w writer
	for us := 1; us <= 60; us++ {
		w.wakeup("fair", 20, 120, us)
	}
	r := w.explain(t, explain.Options{Over: 30_000})
	if diff := cmp.Diff(down(60, 30), told(r, "fair", "wakeup")); diff != "" {
		t.Errorf("(-want +told):\n%s", diff)
	}
}

// TestVerdictOfAWait: the weakest verdict among causes that make up at least 5 % of it.
func TestVerdictOfAWait(t *testing.T) {
	for _, c := range []struct {
		lingers int // µs of a likely cause before hog runs; the wait is 2,000 µs
		want    string
	}{{99, "proven"}, {100, "likely"}} {
		var w writer
		w.sw("swapper/0", 0, 120, "R", "bash", 20, 120)
		w.now += 10
		w.wakeBy("bash", 20, "motor", 10, 19)
		w.now += c.lingers // more than a switch takes
		w.sw("bash", 20, 120, "S", "hog", 999, 9)
		w.now += 2000 - c.lingers
		w.sw("hog", 999, 9, "S", "motor", 10, 19)
		r := w.explain(t, explain.Options{Over: 1})
		if len(r.Late) != 1 || r.Late[0].Verdict != c.want {
			t.Errorf("%d of 2000 µs likely: %+v, want %s", c.lingers, r.Late, c.want)
		}
	}
}
