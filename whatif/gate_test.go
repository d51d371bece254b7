package whatif

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/trace"
)

// everything chooses the whole trace.
func everything(file string) explain.Options {
	return explain.Options{File: file, From: event.NoTime, To: event.NoTime}
}

func open(t *testing.T, file string) explain.Source {
	t.Helper()
	src, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// written writes a trace of one CPU in ftrace's text: lines are "SECONDS what", where what is
// an event with its fields.
func written(t *testing.T, lines []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n")
	comm, pid := "<idle>", "0"
	for _, l := range lines {
		at, what, _ := strings.Cut(l, " ")
		if at == "LOST" {
			fmt.Fprintf(&b, "CPU:0 [LOST %s EVENTS]\n", what)
			continue
		}
		flags := "d..2."
		if strings.HasPrefix(what, "hrtimer_expire_entry") || strings.HasPrefix(what, "sched_waking") {
			flags = "d.h2."
		}
		who := fmt.Sprintf("%16s-%-6s  [000]", comm, pid)
		if strings.HasSuffix(what, "target_cpu=001") { // by a CPU that nothing else is told of
			who, what = "          <idle>-0       [001]", strings.TrimSuffix(what, "1")+"0"
		}
		fmt.Fprintf(&b, "%s %s   %s: %s\n", who, flags, at, what)
		if _, next, ok := strings.Cut(what, "==> next_comm="); ok {
			comm, next, _ = strings.Cut(next, " next_pid=")
			if pid, _, _ = strings.Cut(next, " "); pid == "0" {
				comm = "<idle>"
			}
		}
	}
	file := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func waking(us int64, comm string, pid, prio int) string {
	return fmt.Sprintf("%d.%06d sched_waking: comm=%s pid=%d prio=%d target_cpu=000", us/1e6, us%1e6, comm, pid, prio)
}

// runs is a switch from one task to another, each "comm/pid/prio".
func runs(us int64, prev, state, next string) string {
	p, n := strings.Split(prev, "/"), strings.Split(next, "/")
	return fmt.Sprintf("%d.%06d sched_switch: prev_comm=%s prev_pid=%s prev_prio=%s prev_state=%s ==> next_comm=%s next_pid=%s next_prio=%s",
		us/1e6, us%1e6, p[0], p[1], p[2], state, n[0], n[1], n[2])
}

// timer is the start and the expiry of a sleep of the current task.
func timer(start, expires int64) []string {
	return []string{
		fmt.Sprintf("%d.%06d hrtimer_start: hrtimer=0xffffc900 function=hrtimer_wakeup expires=%d000 softexpires=%d000 mode=ABS", start/1e6, start%1e6, expires, expires),
		fmt.Sprintf("%d.%06d hrtimer_expire_entry: hrtimer=0xffffc900 function=hrtimer_wakeup now=%d000", expires/1e6, expires%1e6, expires),
	}
}

// swapper/0 has a slash in its name, so the idle task goes through runs by another.
func toIdle(us int64, prev, state string) string {
	return strings.Replace(runs(us, prev, state, "IDLE/0/120"), "IDLE", "swapper/0", 1)
}

func fromIdle(us int64, next string) string {
	return strings.Replace(runs(us, "IDLE/0/120", "R", next), "IDLE", "swapper/0", 1)
}

// cycles is a task ctl (RT 80) that a timer wakes every 10 ms: it waits 5 µs and works 1 ms,
// in round long 12 ms.
func cycles(rounds, long int) []string {
	var list []string
	sleep := int64(1_000_000)
	list = append(list, fromIdle(sleep-10, "ctl/311/19"))
	for n := range rounds {
		due := int64(1_010_000) + int64(n)*10_000
		if n > 0 && n-1 == long {
			continue // its job went on beyond this one
		}
		t := timer(sleep-5, due)
		work := int64(1000)
		if n == long {
			work = 12_000
		}
		list = append(list, t[0], toIdle(sleep, "ctl/311/19", "S"), t[1], waking(due+1, "ctl", 311, 19), fromIdle(due+6, "ctl/311/19"))
		sleep = due + 6 + work
	}
	return append(list, toIdle(sleep, "ctl/311/19", "S"))
}

func gate(t *testing.T, file string, conditions ...string) *result.Gate {
	t.Helper()
	r, err := Gate(open(t, file), everything(file), parsed(t, conditions))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parsed(t *testing.T, texts []string) []*Condition {
	t.Helper()
	var list []*Condition
	for _, s := range texts {
		c, err := ParseCondition(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// TestJobs: a job of 12 ms in a period of 10 misses; its response counts from when the timer
// was due.
func TestJobs(t *testing.T) {
	r := gate(t, written(t, cycles(30, 17)), "deadline_misses==0", "response.max<12.007ms", "response.max<=12.006ms", "response.p50<=1006us", "lateness.max<=6us", "max<=5us", "preempted.waits==0")
	want := []string{"failed", "ok", "ok", "ok", "ok", "ok", "ok"}
	for i, b := range r.Budgets {
		if len(b.Tasks) != 1 || b.Tasks[0].Comm != "ctl" {
			t.Fatalf("%s: asked %+v", b.Budget, b.Tasks)
		}
		if b.Status != want[i] {
			t.Errorf("%s: %s, %+v", b.Budget, b.Status, b.Tasks[0])
		}
	}
	if m := r.Budgets[0].Tasks[0]; m.Value != 1 || m.Waits != 28 || m.Wait != "311@1.180001" {
		t.Errorf("misses: %+v", m)
	}
	r = gate(t, written(t, cycles(30, -1)), "deadline_misses==0")
	if r.Status != StatusOK || r.Budgets[0].Tasks[0].Waits != 29 {
		t.Errorf("without a long job: %+v", r.Budgets[0])
	}
}

// TestDeadlinesOfTheSnapshot: a deadline task has the deadline that the machine's snapshot says,
// and rt-app's is 2,061.6 µs late in the worst of 192 jobs (its own log: 2 ms of work).
func TestDeadlinesOfTheSnapshot(t *testing.T) {
	const file = "../testdata/rtapp.dat"
	for deadline, want := range map[int64]int64{2_061_500: 1, 2_061_700: 0, 1: 192} {
		src := open(t, file)
		src.(interface{ SetSnapshot(*sysinfo.Snapshot) }).SetSnapshot(&sysinfo.Snapshot{Tasks: []sysinfo.Task{
			{PID: 132, Comm: "dl", Policy: sysinfo.Deadline, RuntimeNS: 1, DeadlineNS: deadline, PeriodNS: 1e9}}})
		r, err := Gate(src, everything(file), parsed(t, []string{"dl:deadline_misses==0"}))
		if err != nil {
			t.Fatal(err)
		}
		if j := r.Budgets[0].Tasks[0]; j.Value != want || j.Waits != 192 || j.Why != "" {
			t.Errorf("a deadline of %d ns: %+v, want %d misses", deadline, j, want)
		}
	}
}

// TestFewWaitsProveNothing: a condition that holds is unreliable if it had to be able to break
// in a wait that is too rare for so few; one that breaks has broken.
func TestFewWaitsProveNothing(t *testing.T) {
	file := written(t, cycles(100, -1))
	for text, want := range map[string]string{"p99<6us": "ok", "p99.9<6us": "unreliable", "p99.9<5us": "failed", "p99.1<6us": "unreliable", "p100<6us": "ok", "max<6us": "ok"} {
		r := gate(t, file, text)
		j := r.Budgets[0].Tasks[0]
		if r.Status != want || want == "unreliable" && !strings.HasPrefix(j.Why, "n=100 needs 1") {
			t.Errorf("%s: %s (%s), want %s", text, r.Status, j.Why, want)
		}
	}
}

// TestLostEventsProveNothing: what holds in a trace with holes may not have held.
func TestLostEventsProveNothing(t *testing.T) {
	lines := cycles(100, -1)
	lines = append(lines[:200:200], append([]string{"LOST 12"}, lines[200:]...)...)
	file := written(t, lines)
	if r := gate(t, file, "max<1ms", "max<1us"); r.Budgets[0].Status != StatusUnreliable || r.Budgets[1].Status != StatusFailed || len(r.Holes) == 0 {
		t.Errorf("%+v", r)
	}
}

// TestAWaitThatDoesNotEnd is as long as the trace shows, at least.
func TestAWaitThatDoesNotEnd(t *testing.T) {
	lines := append(cycles(10, -1), waking(1_200_000, "ctl", 311, 19), fromIdle(1_200_000, "hog/5/9"), runs(1_203_000, "hog/5/9", "R", "hog/5/9"))
	r := gate(t, written(t, lines), "ctl:max<2ms", "ctl:max<5ms")
	if j := r.Budgets[0].Tasks[0]; j.Status != StatusFailed || !j.AtLeast || j.Value != 3_000_000 || j.Wait != "311@1.200000" {
		t.Errorf("%+v", j)
	}
	if r.Budgets[1].Status != StatusOK {
		t.Errorf("%+v", r.Budgets[1])
	}
}

// TestUnknownCausesMayBeAnything: that nothing was throttled is not shown by time without a
// known cause.
func TestUnknownCausesMayBeAnything(t *testing.T) {
	lines := append(cycles(10, -1), strings.Replace(waking(1_200_000, "ctl", 311, 19), "=000", "=001", 1), fromIdle(1_203_000, "ctl/311/19"), toIdle(1_203_500, "ctl/311/19", "S"))
	r := gate(t, written(t, lines), "ctl:rt_throttled==0", "ctl:rt_throttled.max<5ms", "ctl:unknown.max<1ms")
	for i, want := range []string{"unreliable", "ok", "failed"} {
		if r.Budgets[i].Status != want {
			t.Errorf("%s: %+v, want %s", r.Budgets[i].Budget, r.Budgets[i].Tasks, want)
		}
	}
}

func TestGateRefuses(t *testing.T) {
	file := written(t, cycles(30, -1))
	for text, says := range map[string]string{
		"cltr:p99<1us": `matches "cltr"`, "p99>+10%": "diff compares",
	} {
		if _, err := Gate(open(t, file), everything(file), parsed(t, []string{text})); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	fair := written(t, []string{waking(1_000_000, "a", 5, 120), fromIdle(1_000_005, "a/5/120"), toIdle(1_000_100, "a/5/120", "S")})
	for text, says := range map[string]string{"p99<1us": "no deadline or real-time user task", "deadline_misses==0": "no timer shows the period"} {
		if _, err := Gate(open(t, fair), everything(fair), parsed(t, []string{text})); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestGateOfARecording: the true answers of the recording of real-time throttling, and that a
// task's waits from before it was real-time are not its own.
func TestGateOfARecording(t *testing.T) {
	file := shared.Path(t, "traces/rt-throttle-v61rt-smp1/throttle950000.dat")
	r := gate(t, file, "hi25:max<39.844ms", "hi25:max<=39.8441ms", "hi25:rt_throttled.max<39.843ms", "hi25:rt_throttled.waits==1", "hi25:p99<7us", "deadline_misses==0")
	for i, want := range []string{"failed", "ok", "failed", "ok", "ok", "failed"} {
		if r.Budgets[i].Status != want {
			t.Errorf("%s: %+v, want %s", r.Budgets[i].Budget, r.Budgets[i].Tasks, want)
		}
	}
	off := shared.Path(t, "traces/rt-throttle-v61rt-smp1/throttle-off.dat")
	r = gate(t, off, "hi25:max<8us", "hi25:rt_throttled==0")
	if r.Status != StatusOK || len(r.Budgets[0].Tasks) != 1 || !strings.Contains(fmt.Sprint(r.Diagnostics), "not_judged") {
		t.Errorf("%+v", r)
	}
}
