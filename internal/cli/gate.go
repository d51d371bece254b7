package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/whatif"
)

const gateLong = `Ask conditions of the waits of a trace and exit with 2 if one does not hold.

  [TASK:][SERIES.]NUMBER OP LIMIT    p99.9<100us   hi25:max<50us   hi25:preempted.max<1ms
  [TASK:]CAUSE[.NUMBER] OP LIMIT     rt_throttled==0   'ctl-*:irq.max<50us'
  [TASK:]deadline_misses OP N        deadline_misses==0

TASK is a shell pattern of names. Without it a number of waits is asked of every deadline
and real-time user task by itself, causes and misses of every task.
SERIES is wakeup (if left out), preempted, lateness (from when the wake was due, where that
is known) or response (from there until the task sleeps again). NUMBER is p50 to p99.999,
max, mean, total or waits; of a cause total (if left out), max (in one wait), mean or waits.
CAUSE is a kind of cause (whylate list causes). OP is < <= > >= == or !=. LIMIT has a unit,
ns, us, ms or s, else it is µs; waits and misses have none.

A condition that holds may be worth little: p99.9 of 50 waits is their maximum, events may
be lost. Then it is unreliable, and --strict exits with 3.`

const gateExample = `  whylate gate trace.dat 'p99.9<100us' 'max<1ms' 'hi25:p99<50us' 'rt_throttled==0'
  whylate gate trace.dat --budget latency.budget --strict --summary "$GITHUB_STEP_SUMMARY"
  whylate gate - --json 'deadline_misses==0' < trace.dat`

// gateFlags are those of gate beside input, selection and output.
type gateFlags struct {
	budgets []string
	junit   string
	page    page
}

func newGate(std *streams) *cobra.Command {
	var in input
	var sel selection
	var out output
	var flags gateFlags
	cmd := &cobra.Command{
		Use:     "gate [FILE] CONDITION…",
		Short:   "Check a trace against latency budgets",
		Long:    gateLong,
		Example: gateExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.page.check(cmd, &out); err != nil {
				return err
			}
			file, list, err := flags.conditions(cmd, &in, args)
			if err != nil {
				return err
			}
			return std.answer(cmd, file, &in, &out, sel.options(), askGate(list, &out, &flags))
		},
	}
	in.register(cmd)
	sel.register(cmd, "judge by `WHAT`: task, comm, process, cgroup or cpu (default task)")
	f := cmd.Flags()
	f.Func("budget", "read conditions from `FILE` (may be repeated): JSON with comments, a list of conditions as\nabove or of objects with task, series or kind, measure, limit, note", appendInto(&flags.budgets, func(s string) (string, error) { return s, nil }))
	f.StringVar(&flags.junit, "junit", "", "write JUnit's XML to `FILE`, beside what is printed; an existing one is replaced")
	flags.page.register(cmd)
	out.register(cmd)
	return cmd
}

// conditions takes the file and the conditions apart, and reads budget files.
func (g *gateFlags) conditions(cmd *cobra.Command, in *input, args []string) ([]string, []*whatif.Condition, error) {
	var file []string
	if in.file == "" && len(args) > 0 && !isCondition(args[0]) {
		file, args = args[:1], args[1:]
	}
	var list []*whatif.Condition
	for _, name := range g.budgets {
		more, err := readBudget(name)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, more...)
	}
	for _, text := range args {
		c, err := whatif.ParseCondition(text)
		if err != nil {
			return nil, nil, &usageError{cmd.CommandPath(), err}
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, nil, &usageError{cmd.CommandPath(), errors.New("no condition; write 'p99.9<100us' or --budget FILE")}
	}
	return file, list, nil
}

// isCondition tells a condition from the name of a file.
func isCondition(s string) bool {
	if !strings.ContainsAny(s, "<>=!≤≥") {
		return false
	}
	_, err := os.Stat(s)
	return err != nil
}

func readBudget(name string) ([]*whatif.Condition, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading budgets: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, whatif.MostBudget+1))
	if err != nil {
		return nil, fmt.Errorf("reading budgets: %w", err)
	}
	list, err := whatif.ParseBudget(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

func askGate(list []*whatif.Condition, out *output, flags *gateFlags) question {
	return func(src explain.Source, o explain.Options) (*answer, error) {
		r, err := whatif.Gate(src, o, list)
		if err != nil {
			return nil, err
		}
		a := &answer{value: r, input: r.Input, diagnostics: r.Diagnostics, verdict: gateVerdict(r, out.strict)}
		flags.page.fill(a, func(w io.Writer, ro report.Options) error { return report.Gate(w, r, ro) })
		flags.alsoJUnit(a, r)
		return a, nil
	}
}

// alsoJUnit makes the answer write JUnit's XML where that was asked.
func (g *gateFlags) alsoJUnit(a *answer, r *result.Gate) {
	if g.junit == "" {
		return
	}
	before := a.also
	a.also = func() error {
		f, err := os.Create(g.junit)
		if err != nil {
			return fmt.Errorf("writing JUnit's XML: %w", err)
		}
		err = errors.Join(flushed(f, func(w io.Writer) error { return report.GateJUnit(w, r) }), f.Close())
		if before != nil {
			err = errors.Join(err, before())
		}
		return err
	}
}

// gateVerdict is what the verb ends with.
func gateVerdict(r *result.Gate, strict bool) error {
	n := make(map[string]int)
	for i := range r.Budgets {
		n[r.Budgets[i].Status]++
	}
	switch {
	case n[whatif.StatusFailed] > 0:
		return fmt.Errorf("%w: %d of %d failed", errCondition, n[whatif.StatusFailed], len(r.Budgets))
	case strict && n[whatif.StatusUnreliable] > 0:
		return fmt.Errorf("%w: %d of %d conditions hold, but prove nothing", errUnreliable, n[whatif.StatusUnreliable], len(r.Budgets))
	}
	return nil
}
