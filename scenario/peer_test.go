package scenario_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/workload"
)

// rounds is what a thread did: how many rounds, and the work and the periods that it was
// told to do in them, in µs.
type rounds struct {
	Rounds, Work, Periods int64
}

// turn is the end of a round.
type turn struct {
	task string
	at   event.Time
}

// TestThreadsDoWhatTheyDoInRtApp runs each file of testdata/peer through rt-app on this
// machine and through the model: every thread ends, after the same rounds with the same
// work and periods.
func TestThreadsDoWhatTheyDoInRtApp(t *testing.T) {
	program, err := exec.LookPath("rt-app")
	if err != nil {
		t.Skip("rt-app is not installed")
	}
	if exec.Command("chrt", "-f", "1", "true").Run() != nil {
		t.Skip("this user may not make real-time tasks")
	}
	files, err := filepath.Glob("testdata/peer/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			real, turns := runRtApp(t, program, file)
			model, _ := runModel(t, file)
			if diff := cmp.Diff(real, model); diff != "" {
				t.Errorf("rounds (-rt-app +model):\n%s", diff)
			}
			checkOrder(t, file, turns)
		})
	}
}

// runRtApp returns what the logs of rt-app say, by the name of the thread.
func runRtApp(t *testing.T, program, file string) (map[string]rounds, []turn) {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, path)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("rt-app: %v\n%s", err, out)
	}
	logs, err := filepath.Glob(filepath.Join(cmd.Dir, "peer-*.log"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]rounds{}
	var order []turn
	for _, log := range logs {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(log), "peer-"), ".log")
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		var r rounds
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) != 11 || strings.HasPrefix(f[0], "#") {
				continue
			}
			work, _ := strconv.ParseInt(f[8], 10, 64)
			period, _ := strconv.ParseInt(f[9], 10, 64)
			r = rounds{r.Rounds + 1, r.Work + work, r.Periods + period}
			end, _ := strconv.ParseInt(f[5], 10, 64)
			order = append(order, turn{name, event.Time(end) * us})
		}
		all[name] = r
	}
	slices.SortStableFunc(order, func(a, b turn) int { return int(a.at - b.at) })
	return all, order
}

// runModel returns the same of a run in the model on two CPUs, and the ends of all rounds
// in their order.
func runModel(t *testing.T, file string) (map[string]rounds, []turn) {
	t.Helper()
	plan, err := scenario.Open(file, scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan.CPUs = max(plan.CPUs, 2)
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	names := event.NewNames()
	m := machine.New(setup.Machine, names, nil)
	run, err := workload.Load(m, setup.Load)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]rounds{}
	var order []turn
	run.OnVerdict = func(err error) { t.Errorf("the kernel refused: %v", err) }
	run.OnLoop = func(l workload.Loop) {
		name := names.String(l.Comm)
		r := all[name]
		all[name] = rounds{r.Rounds + 1, r.Work + int64(l.CRun/us), r.Periods + int64(l.CPeriod/us)}
		order = append(order, turn{name, l.End})
	}
	if err := m.RunUntil(10_000 * ms); err != nil {
		t.Fatal(err)
	}
	if !run.Done() {
		t.Error("the model's threads have not ended")
	}
	return all, order
}

// TestOrderThatTheSemanticsFix: where tasks wait for each other, the order of their rounds
// is no matter of speed.
func TestOrderThatTheSemanticsFix(t *testing.T) {
	for _, file := range []string{"testdata/peer/08-turns.json", "testdata/peer/09-barrier.json"} {
		_, order := runModel(t, file)
		checkOrder(t, file, order)
	}
}

// checkOrder holds the ends of rounds against what a file fixes.
func checkOrder(t *testing.T, file string, order []turn) {
	t.Helper()
	var got []string
	done := map[string]int{}
	for _, o := range order {
		got = append(got, o.task)
		done[o.task]++
		// Nobody passes a barrier for which another one of the three has yet to come.
		for other, n := range done {
			if strings.Contains(file, "barrier") && (len(done) < 3 && done[o.task] > 1 || done[o.task] > n+1) {
				t.Errorf("%s ends its round %d at %d, %s is at %d", o.task, done[o.task], o.at, other, n)
			}
		}
	}
	// Each resumes the other and is then suspended until that one's round is over.
	want := slices.Repeat([]string{"pong-1", "ping-0"}, 10)
	if strings.Contains(file, "turns") && !slices.Equal(got, want) {
		t.Errorf("rounds end in the order %v, want %v", got, want)
	}
}
