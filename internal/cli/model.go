package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/trace"
)

const runLong = `Run a scenario in the model of the scheduler and explain it like a recorded trace.

SCENARIO is a file in rt-app's JSON, - for standard input, which may have an object "whylate" for what rt-app
has no words for, or the name of a load that needs no file: cyclictest, schbench or daemons, with
the options of the real program after --.

The same scenario, seed and changes give the same bytes on every machine. What the model
does not know is refused or, where it only approximates, told with the answer.`

const runExamples = `  whylate run load.json
  whylate run load.json --kernel 6.1-rt,6.12-rt --task 'ctl-*'
  whylate run load.json --change 'task=logger policy=other' --change 'set HRTICK_DL=on'
  whylate run cyclictest -- -t 4 -p 80 -i 2000`

// runFlags are those of run beside selection and output.
type runFlags struct {
	kernels  []string
	variants []string
	changes  []string
	seed     uint64
	hasSeed  bool
	duration event.Time
	repeat   int
	dry      bool
	workgen  bool
	stdin    []byte // the scenario, where it came that way
	costs    string
	// decisions: what the scheduler chose from, one of decisionWords; "": not told.
	decisions string
	explainFlags
}

func newRun(std *streams) *cobra.Command {
	var sel selection
	var out output
	var flags runFlags
	cmd := &cobra.Command{
		Use:     "run SCENARIO [-- OPTION…]",
		Short:   "Run a scenario in the model and explain it",
		Long:    runLong,
		Example: runExamples,
		Args:    usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return std.run(cmd, args, &sel, &out, &flags)
		},
	}
	f := cmd.Flags()
	f.Func("kernel", "imitate the kernels of `LIST`, one after the other: 6.1-rt,6.12-rt (whylate list kernels)",
		into(&flags.kernels, parseWords))
	f.Func("variant", "run the variant `LIST` that the scenario names; several are compared side by side with the\nfirst: as-is,a,b; as-is is the scenario without any",
		into(&flags.variants, parseWords))
	f.Func("change", "run with `CHANGE`: 'task=NAME policy=fifo prio=80', 'set NAME=VALUE', 'cpus=4'\n(may be repeated)",
		appendInto(&flags.changes, func(s string) (string, error) { return s, nil }))
	f.Func("seed", "`N` of the random numbers (default that of the scenario, else 1)", func(s string) error {
		n, err := strconv.ParseUint(s, 0, 64)
		flags.seed, flags.hasSeed = n, true
		return err
	})
	f.Func("repeat", "run `N` times, with seeds that count on, and print the median of each task's wakeup waits\nwith a confidence interval; several variants are run 10 times without it", into(&flags.repeat, parseCount))
	f.Func("duration", "run for `DURATION` instead of what the scenario says: 500ms, 10s", into(&flags.duration, parsePositive))
	f.StringVar(&flags.costs, "costs", "", "what the machine's own work takes, from the table `NAME`: "+costNames())
	f.BoolVar(&flags.workgen, "workgen", false, "keep duplicate keys in their order, as rt-app's script workgen does; rt-app itself\nkeeps the last value")
	f.BoolVar(&flags.dry, "dry-run", false, "only check the scenario")
	f.StringVar(&flags.decisions, "decisions", "", "print, a line of JSON each, what no tracepoint tells: every pick, who could have run and the rule\nthat chose, then each late wait with the passes of the load balancer that could have ended it;\n`WHAT` is all, picks or balance: the answer as usual, with these passes (default all)")
	f.Lookup("decisions").NoOptDefVal = "all"
	completeWords(cmd, "decisions", decisionWords)
	sel.register(cmd, "sum up the blame by `WHAT`: task, comm, process, cgroup or cpu (default task)")
	flags.explainFlags.registerFor(cmd)
	registerDetail(cmd, &out)
	out.register(cmd)
	f.Lookup("output").Usage = "print to `FILE`; - is standard output. A name that ends in .dat or .txt (or those with\n.gz, .xz, .zst) gets the events as a trace, and the answer goes to standard output"
	return cmd
}

// registerFor adds the flags that choose waits, as explain has them.
func (e *explainFlags) registerFor(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Func("over", "tell every wait at least `DURATION` late: 100us, 1ms; a plain number is µs",
		into(&e.over, parsePositive))
	f.Func("top", "tell at most the `N` latest waits", into(&e.top, parseCount))
	f.Func("wait", "tell only the wait `ID`", into(&e.wait, parseWaitID))
}

// parseWords reads a list of words: "6.1-rt,6.12".
func parseWords(s string) ([]string, error) {
	words := strings.Split(s, ",")
	for _, w := range words {
		if w == "" {
			return nil, errors.New("a list of names with commas between them")
		}
	}
	return words, nil
}

// mostScenario bounds what is read of standard input: more than a scenario may have.
const mostScenario = 17 << 20

// asIs is the variant that changes nothing.
const asIs = "as-is"

// choice is one of the runs that the flags ask for.
type choice struct{ kernel, variant string }

// label is what the head of the answer says beside the scenario's name.
func (c choice) label() string {
	if c.variant == "" {
		return ""
	}
	return " [" + c.variant + "]"
}

// choices are all kernels for each variant.
func (f *runFlags) choices() []choice {
	kernels, variants := f.kernels, f.variants
	if len(kernels) == 0 {
		kernels = []string{""}
	}
	if len(variants) == 0 {
		variants = []string{""}
	}
	var list []choice
	for _, v := range variants {
		for _, k := range kernels {
			list = append(list, choice{k, v})
		}
	}
	return list
}

// run does what the verb says: one answer for each kernel and variant.
func (std *streams) run(cmd *cobra.Command, args []string, sel *selection, out *output, flags *runFlags) error {
	if err := out.check(args[0]); err != nil {
		return err
	}
	if args[0] == "-" {
		var err error
		if flags.stdin, err = io.ReadAll(io.LimitReader(std.in, mostScenario)); err != nil {
			return fmt.Errorf("reading the scenario: %w", err)
		}
	}
	choices := flags.choices()
	if flags.decisions != "" && !slices.Contains(decisionWords, flags.decisions) {
		return &usageError{"whylate run", fmt.Errorf("--decisions=%s: it is all, picks or balance", flags.decisions)}
	}
	if flags.decisions != "" && (len(choices) > 1 || flags.repeat > 1) {
		return errors.New("--decisions prints one run; ask for one kernel and variant at a time")
	}
	if flags.decisions == "all" || flags.decisions == "picks" {
		return std.tellDecisions(cmd, args, sel, out, flags, choices[0])
	}
	if len(flags.variants) > 1 {
		return std.compare(cmd, args, sel, out, flags, choices)
	}
	traceFile := ""
	if isTraceName(out.file) {
		if len(choices) > 1 {
			return fmt.Errorf("%s would hold the events of %d runs; ask for one at a time", out.file, len(choices))
		}
		traceFile, out.file = out.file, "-"
	}
	if traceFile != "" && flags.repeat > 1 {
		return fmt.Errorf("%s would hold the events of %d runs; ask for one at a time", traceFile, flags.repeat)
	}
	var answers []*answer
	for _, c := range choices {
		a, err := std.runChoice(cmd, args, sel, out, flags, c, traceFile)
		if err != nil {
			return err
		}
		answers = append(answers, a)
	}
	if flags.dry {
		return nil
	}
	return out.print(together(answers), std.out)
}

// runChoice runs one kernel and variant, as often as asked, and writes its events.
func (std *streams) runChoice(cmd *cobra.Command, args []string, sel *selection, out *output, flags *runFlags, c choice, traceFile string) (*answer, error) {
	plan, setup, err := flags.setup(args, c)
	if err != nil {
		return nil, err
	}
	if flags.dry {
		return nil, std.tellPlan(plan, setup)
	}
	o := sel.options()
	o.Over, o.Top, o.WaitID, o.Evidence, o.File = flags.over, flags.top, flags.wait, out.verbose, args[0]+c.label()
	var answers []*answer
	for n := range max(flags.repeat, 1) {
		src, err := scenario.NewSource(setup.Reseeded(uint64(n)))
		if err != nil {
			return nil, err
		}
		var used []scenario.GroupUse
		src.OnGroups = func(list []scenario.GroupUse) { used = list }
		p := newProgress(std.err, out.quiet)
		o.Progress = p.update
		a, err := askExplain(explain.Interruptible(cmd.Context(), src), o)
		p.erase()
		if err != nil {
			return nil, err
		}
		if x, ok := a.value.(*result.Explain); ok {
			x.Groups = groupsOf(used)
			if flags.decisions == "balance" {
				if err := experiment.TellPasses(src, x, cmd.Context().Err); err != nil {
					return nil, err
				}
			}
		}
		answers = append(answers, a)
		if traceFile != "" {
			if err := writeTrace(cmd.Context(), traceFile, src, src.Snapshot()); err != nil {
				return nil, err
			}
		}
	}
	if flags.repeat > 1 {
		return repeat(answers), nil
	}
	return answers[0], nil
}

// groupsOf is what the answer says of control groups.
func groupsOf(list []scenario.GroupUse) []result.Group {
	var out []result.Group
	for i := range list {
		g := &list[i]
		out = append(out, result.Group{CGroup: g.Path, QuotaNS: int64(g.Quota), PeriodNS: int64(g.Period), BurstNS: int64(g.Burst), UsageNS: int64(g.Usage),
			NrPeriods: g.Periods, NrThrottled: g.Throttled, ThrottledNS: int64(g.ThrottledTime), NrBursts: g.Bursts, BurstTimeNS: int64(g.BurstTime)})
	}
	return out
}

// tellPlan says what would run, and what the file or the model has to say about it.
func (std *streams) tellPlan(p *scenario.Plan, s *scenario.Setup) error {
	return flushed(std.out, func(w io.Writer) error {
		for _, d := range s.Limits {
			fmt.Fprintf(w, "%s: %s\n", d.Kind, d.Text)
		}
		_, err := fmt.Fprintf(w, "%s can run: %d threads on %d CPUs, kernel %s\n", p.Name, p.Threads(), s.Machine.Sched.CPUs, s.Kernel.Profile.Name)
		return err
	})
}

// isTraceName reports whether name is that of a trace that package trace can write.
func isTraceName(name string) bool {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".xz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.HasSuffix(name, ".dat") || strings.HasSuffix(name, ".txt")
}

// writeTrace runs the model once more and writes its events to a file, with the snapshot of
// the machine, nil: there is none.
func writeTrace(ctx context.Context, file string, src explain.Source, machine *sysinfo.Snapshot) error {
	w, err := trace.Create(file, *src.Info(), src.Names())
	if err != nil {
		return err
	}
	return errors.Join(w.SetSnapshot(machine), copyEvents(ctx, w, src, event.NoTime, event.NoTime), w.Close())
}

// copyEvents writes the events of src from from to to, NoTime: all.
func copyEvents(ctx context.Context, w trace.Writer, src explain.Source, from, to event.Time) error {
	events, err := explain.Interruptible(ctx, src).Events(event.Options{})
	if err != nil {
		return err
	}
	defer events.Close()
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if from.Valid() && ev.Time < from {
			continue
		}
		if to.Valid() && ev.Time > to {
			return nil
		}
		if err := w.Write(ev); err != nil {
			return err
		}
	}
}

// setup reads the scenario anew and applies the flags to it.
func (f *runFlags) setup(args []string, c choice) (*scenario.Plan, *scenario.Setup, error) {
	plan, err := scenario.Open(args[0], scenario.Options{Args: args[1:], Workgen: f.workgen, Stdin: bytes.NewReader(f.stdin)})
	if err != nil {
		return nil, nil, err
	}
	if c.variant != "" && c.variant != asIs {
		if err := plan.Vary(c.variant); err != nil {
			return nil, nil, err
		}
	}
	if c.kernel != "" {
		plan.Kernel = c.kernel
	}
	if f.hasSeed {
		plan.Load.Seed = f.seed
	}
	if f.duration > 0 {
		plan.Load.Duration = f.duration
	}
	if f.costs != "" {
		if err := plan.UseCosts(f.costs); err != nil {
			return nil, nil, fmt.Errorf("--costs: %w", err)
		}
	}
	for _, text := range f.changes {
		if err := plan.Change(text); err != nil {
			return nil, nil, err
		}
	}
	setup, err := plan.Setup()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return plan, setup, nil
}

// costNames lists the tables that --costs takes.
func costNames() string {
	var names []string
	for _, t := range scenario.CostTables() {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// runs is what --json prints for several kernels.
type runs struct {
	Schema string `json:"schema"`
	Runs   []any  `json:"runs"`
}

// together makes one answer of those of several kernels.
func together(list []*answer) *answer {
	if len(list) == 1 {
		return list[0]
	}
	all := &answer{}
	r := runs{Schema: "whylate.runs/1"}
	for _, a := range list {
		r.Runs = append(r.Runs, a.value)
		all.diagnostics = append(all.diagnostics, a.diagnostics...)
	}
	all.value, all.input = r, result.Input{}
	all.text = func(w io.Writer, o report.Options) error {
		for i, a := range list {
			if i > 0 {
				if _, err := io.WriteString(w, "\n"); err != nil {
					return err
				}
			}
			if err := a.text(w, o); err != nil {
				return err
			}
		}
		return nil
	}
	return all
}

var _ explain.Source = (*scenario.Source)(nil)
