package scenario_test

import (
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/trace"
	"github.com/whylate/whylate/workload"
)

const us, ms event.Time = 1_000, 1_000_000

// stretch is a time that a task had the CPU without another of the compared ones between,
// interrupted or not by all the rest.
type stretch struct {
	task  string
	slept bool // it left by itself
	at    event.Time
}

func (s stretch) String() string {
	if s.slept {
		return s.task + " sleeps"
	}
	return s.task + " makes way"
}

// stretches reads who of the named tasks ran, from from to to. The model adds an index to
// their names, which is taken off.
func stretches(t *testing.T, src explain.Source, from, to event.Time, names []string) []stretch {
	t.Helper()
	st, err := src.Events(event.Options{Want: event.Kinds(event.SchedSwitch)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	name := func(n event.Name) string {
		plain, _, _ := strings.Cut(src.Names().String(n), "-")
		if !slices.Contains(names, plain) {
			return ""
		}
		return plain
	}
	var list []stretch
	var open stretch
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		prev, next := name(ev.TaskComm), name(ev.NextComm)
		slept := prev != "" && prev == open.task && !ev.State.Runnable()
		if open.task != "" && (slept || next != "" && next != open.task) {
			if open.slept = slept; open.at >= from && open.at <= to {
				list = append(list, open)
			}
			open = stretch{}
		}
		if next != "" && open.task == "" {
			open = stretch{task: next, at: ev.Time}
		}
	}
}

// What the recording says of itself, on CLOCK_MONOTONIC: the log of rt-app and the
// expiries of timers in the trace.
const (
	// base is CLOCK_MONOTONIC when the model's clock is 0: a tick.
	base event.Time = 17_276_000 * us
	// monoAhead is CLOCK_MONOTONIC minus the trace's clock: now of hrtimer_expire_entry
	// minus its stamp, the largest.
	monoAhead event.Time = 149_552_487
	// timersZero is what all timers of the log count from: every expiry of fifo30, hilock
	// and lolock is a multiple of their periods after it.
	timersZero event.Time = 17_279_090_492
	// cancelled is when the main thread woke up to end the program.
	cancelled event.Time = 19_215_820_000
	// nsPerLoop10 is a tenth of the work of one of rt-app's loops: the shortest run of each
	// task in the log over its loops, 1016/5319, 305/1595, 2032/10638 µs, is 191.2 ns.
	nsPerLoop10 event.Time = 1912
	// pLoad is what rt-app believed a loop to take (out.txt).
	pLoad event.Time = 188
	// perRound is what a round takes beside its work (log, clock, system calls): a round
	// of fifo30 has the CPU for 1,029 µs when undisturbed, 1,016 of them work.
	perRound event.Time = 13 * us
)

// recordedStart is when each task began its first round, by the log, in µs.
var recordedStart = map[string]event.Time{"dl": 17_288_877, "fifo30": 17_279_499, "other": 17_285_762, "hilock": 17_279_141, "lolock": 17_280_586}

// recorded is the plan of the rt-app file, begun as the recorded run began. The machine's
// clock is CLOCK_MONOTONIC minus base, a multiple of the tick. With measured, work takes
// what it took on the recorded machine instead of what the file says.
func recorded(t *testing.T, measured bool) *scenario.Plan {
	t.Helper()
	plan, err := scenario.Open(shared.Path(t, "traces/rtapp-v61rt-smp1/rtapp.json"), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan.Kernel = "6.1-rt"
	for i := range plan.Load.Tasks {
		task := &plan.Load.Tasks[i]
		main := task.Phases[0]
		ops := main.Ops
		if measured {
			ops = []workload.Op{{Kind: workload.OpRun, NS: perRound}}
			for _, op := range main.Ops {
				if op.Kind == workload.OpRun {
					op.NS = op.NS / pLoad * nsPerLoop10 / 10
				}
				ops = append(ops, op)
			}
		}
		// The policy of its own comes with the first round; until then the fair ones and the
		// deadline task, which rt-app 1.0 makes one just before, wait at a low priority.
		main.Ops, main.Loop, main.Attr = ops, -1, task.Attr
		before := task.Attr
		if before.Policy == sched.Deadline {
			before = &sched.Attr{Policy: sched.FIFO, Priority: 1}
		}
		wait := workload.Op{Kind: workload.OpUnique, Ref: task.Timers, NS: recordedStart[task.Name]*us - timersZero}
		task.Timers++
		task.Attr, task.Loop = before, 1
		task.Phases = []workload.Phase{{Loop: 1, Ops: []workload.Op{wait}}, main}
	}
	return plan
}

// TestSequenceOfARealKernel compares who ran on a recorded 6.1-rt kernel and in the model,
// for the deadline and real-time tasks: the same stretches in the same order, to the end.
func TestSequenceOfARealKernel(t *testing.T) {
	for _, c := range []struct {
		name     string
		measured bool
		within   event.Time // of the recorded begin of each stretch
	}{{"work as the file has it", false, 250 * us}, {"work as it was measured", true, 50 * us}} {
		t.Run(c.name, func(t *testing.T) {
			real, model := bothStretches(t, recorded(t, c.measured))
			if len(real) < 900 {
				t.Fatalf("only %d stretches were recorded", len(real))
			}
			same, worst := 0, event.Time(0)
			for same < min(len(real), len(model)) && real[same].String() == model[same].String() {
				d := real[same].at + monoAhead - model[same].at - base
				worst = max(worst, d, -d)
				same++
			}
			t.Logf("%d stretches recorded, %d in the model, the first %d the same; begins differ by at most %d µs", len(real), len(model), same, worst/us)
			if same < len(real) || same < len(model) {
				t.Errorf("the first difference is at %d: recorded %v, model %v", same, at(real, same), at(model, same))
			}
			if worst > c.within {
				t.Errorf("a stretch begins %d µs from the recorded one", worst/us)
			}
		})
	}
}

// bothStretches returns who ran in the recording and in the model's run of plan.
func bothStretches(t *testing.T, plan *scenario.Plan) (real, model []stretch) {
	t.Helper()
	file, err := trace.Open(shared.Path(t, "traces/rtapp-v61rt-smp1/rtapp.dat"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	names := []string{"dl", "fifo30", "hilock", "lolock"}
	from := recordedStart["dl"]*us - 20*us // the last of them to begin
	real = stretches(t, file, from-monoAhead, cancelled-monoAhead, names)
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	src := begunAsRecorded(t, setup)
	return real, stretches(t, src, from-base, cancelled-base, names)
}

// begunAsRecorded starts the program so that its first thread, which sets the zero of all timers
// when it begins, does so at timersZero: which of the new threads begins first is the fair
// class's choice, and not that of the thread that made them.
func begunAsRecorded(t *testing.T, setup *scenario.Setup) *scenario.Source {
	t.Helper()
	setup.Start = timersZero - base
	for range 2 {
		src, err := scenario.NewSource(setup)
		if err != nil {
			t.Fatal(err)
		}
		zero := begins(t, src, "dl-0")
		if zero == timersZero-base {
			return src
		}
		setup.Start -= zero - (timersZero - base)
	}
	t.Fatal("the first thread does not begin when its timers should")
	return nil
}

// begins returns when the thread takes its name.
func begins(t *testing.T, src explain.Source, thread string) event.Time {
	t.Helper()
	st, err := src.Events(event.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := st.Next()
		if err != nil {
			t.Fatalf("%s never takes its name: %v", thread, err)
		}
		if ev.Kind == event.TaskRename && src.Names().String(ev.NextComm) == thread {
			return ev.Time
		}
	}
}

// TestFirstComeFirstServedIsNoExplanation is the baseline of the comparison: with the same
// load, but the CPU given to whoever waits longest, most of the order is another one.
func TestFirstComeFirstServedIsNoExplanation(t *testing.T) {
	plan := recorded(t, true)
	if err := plan.Change("task=* policy=fifo prio=50"); err != nil {
		t.Fatal(err)
	}
	real, model := bothStretches(t, plan)
	common := inOrder(real, model)
	t.Logf("baseline: %d of %d stretches in the recorded order", common, len(real))
	if common*100 > len(real)*90 {
		t.Errorf("first come, first served explains %d of %d stretches: the comparison shows nothing", common, len(real))
	}
}

// inOrder is how many stretches two lists have in common in the same order: their longest
// common subsequence.
func inOrder(a, b []stretch) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		before := 0
		for j, y := range b {
			here := row[j+1]
			if x.String() == y.String() {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			before = here
		}
	}
	return row[len(b)]
}

// at is the stretch with number i, or what is said where there is none.
func at(list []stretch, i int) string {
	if i >= len(list) {
		return "nothing more"
	}
	return list[i].String() + " from " + strconv.FormatInt(int64(list[i].at), 10)
}

// TestRecordedStartsAreThoseOfTheLog: the numbers above are not made up.
func TestRecordedStartsAreThoseOfTheLog(t *testing.T) {
	for name, file := range map[string]string{"dl": "rta-dl-0", "fifo30": "rta-fifo30-1", "other": "rta-other-2", "hilock": "rta-hilock-3", "lolock": "rta-lolock-4"} {
		text, err := os.ReadFile(shared.Path(t, "traces/rtapp-v61rt-smp1/logs/"+file+".log"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		columns := strings.Fields(lines[2])
		if got, want := columns[4], strconv.FormatInt(int64(recordedStart[name]), 10); got != want {
			t.Errorf("%s began at %s, the test says %s", name, got, want)
		}
		least, loops := int64(1<<62), int64(1)
		for _, line := range lines[2:] {
			if f := strings.Fields(line); len(f) > 3 {
				run, _ := strconv.ParseInt(f[2], 10, 64)
				loops, _ = strconv.ParseInt(f[1], 10, 64)
				least = min(least, run)
			}
		}
		if per := least * 10_000 / loops; per < 1900 || per > 1930 {
			t.Errorf("%s: a loop took %d/10 ns, the test says %d/10", name, per, nsPerLoop10)
		}
	}
}
