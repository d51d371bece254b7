package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/scenario"
)

const worstLong = `Search for the arrivals of a task of a scenario at which it is latest.

Thousands of runs of the model differ in when the task starts and in how much later than its
period says each of its first arrivals comes. First the arrivals are made to meet whatever
else happens, then a swarm goes on from the worst found. The answer says what the time went
by, as explain does, which arrivals make it, and what was tried: all of a grid is a proof on
that grid, and not between its points. Where response-time analysis has a bound, the gap to
it is told.

A job is what the task does between two of its own sleeps. What it does before the first of
them is the start of the program and does not count. The same scenario, flags and seed give
the same answer on any number of processors, and after an interruption.`

const worstExamples = `  whylate worst load.json --task ctl
  whylate worst load.json --task ctl -o worst.json && whylate run worst.json --task 'ctl*' --over 100
  whylate worst load.json --task ctl --vary all --budget 50000 --resume search.state
  whylate worst load.json --task ctl --measure lateness --change 'task=logger policy=other'`

// worstFlags are those of worst.
type worstFlags struct {
	run     runFlags // the scenario
	kernel  string
	variant string
	task    string
	vary    string
	measure string
	grid    event.Time
	budget  int
	limit   event.Time
	seed    uint64
	resume  string
	jobs    int
	write   string // file of the found scenario
	out     output // how it is printed; always to standard output
}

func newWorst(std *streams) *cobra.Command {
	f := worstFlags{vary: "arrivals", measure: "response", seed: 1}
	cmd := &cobra.Command{
		Use:     "worst SCENARIO --task TASK [-- OPTION…]",
		Short:   "Search for the arrivals at which a task is latest",
		Long:    worstLong,
		Example: worstExamples,
		Args:    usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.task == "" {
				return &usageError{cmd.CommandPath(), errors.New("whose arrivals? --task TASK names a task of the scenario")}
			}
			return std.worst(cmd, args, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.task, "task", "", "search for the worst of `TASK`, by its name in the scenario")
	words := []string{"response", "lateness", "wait"}
	flags.Func("measure", "what is longest: `WHAT` is response (from the release to the end of the job), lateness (from\nwhen the timer is due until it has the CPU) or wait (from the wake until it has the CPU)\n(default response)", into(&f.measure, oneOf(words...)))
	completeWords(cmd, "measure", words)
	varies := []string{"phase", "arrivals", "all"}
	flags.Func("vary", "what is chosen: `WHAT` is phase (when the task starts), arrivals (that, and how much later its\nfirst arrivals come) or all (that, and when other tasks and interrupts start)\n(default arrivals)", into(&f.vary, oneOf(varies...)))
	completeWords(cmd, "vary", varies)
	flags.Func("budget", "do at most `N` runs (default as many as the grid needs, from 2000 to 20000)", into(&f.budget, parseCount))
	flags.Func("time", "end after `DURATION`, with what was found until then", into(&f.limit, parsePositive))
	flags.Func("resolution", "distance `DURATION` of the starts that are tried in a cycle of the task (default a cycle has\nat most 256)", into(&f.grid, parsePositive))
	flags.Func("seed", "`N` of the search (default 1); that of the scenario is its own", func(s string) (err error) {
		f.seed, err = strconv.ParseUint(s, 0, 64)
		return err
	})
	flags.StringVar(&f.resume, "resume", "", "write the state of the search to `FILE` as it goes, and go on from there if it exists")
	flags.Func("jobs", "do `N` runs at once (default one for each processor)", into(&f.jobs, parseCount))
	flags.StringVar(&f.kernel, "kernel", "", "imitate the kernel `NAME` (whylate list kernels)")
	flags.StringVar(&f.variant, "variant", "", "the variant `NAME` of the scenario")
	flags.Func("change", "with `CHANGE`: 'task=NAME policy=fifo prio=80', 'set NAME=VALUE', 'cpus=4'\n(may be repeated)",
		appendInto(&f.run.changes, func(s string) (string, error) { return s, nil }))
	flags.Func("duration", "run for `DURATION` each time instead of what the scenario says: 500ms, 10s", into(&f.run.duration, parsePositive))
	flags.StringVar(&f.run.costs, "costs", "", "what the machine's own work takes, from the table `NAME`: "+costNames())
	flags.BoolVar(&f.run.workgen, "workgen", false, "keep duplicate keys in their order, as rt-app's script workgen does")
	flags.BoolVar(&f.out.json, "json", false, "print JSON, all times in ns")
	flags.BoolVarP(&f.out.nano, "nano", "n", false, "print whole ns instead of µs")
	flags.BoolVarP(&f.out.verbose, "verbose", "v", false, "print each wait of the job with each of its intervals")
	flags.BoolVarP(&f.out.quiet, "quiet", "q", false, "no progress on standard error")
	flags.StringVarP(&f.write, "output", "o", "", "write the scenario with the arrivals that were found to `FILE`, which run takes")
	flags.BoolVarP(&f.out.force, "force", "f", false, "overwrite the file of --output")
	f.out.file, f.out.color = "-", "auto"
	flags.Func("color", "emphasis: `WHEN` is auto, always or never", into(&f.out.color, oneOf("auto", "always", "never")))
	completeWords(cmd, "color", []string{"auto", "always", "never"})
	return cmd
}

// worst does what the verb says.
func (std *streams) worst(cmd *cobra.Command, args []string, f *worstFlags) error {
	text, err := f.read(std, args)
	if err != nil {
		return err
	}
	c := choice{f.kernel, f.variant}
	plan, _, err := f.run.setup(args, c)
	if err != nil {
		return err
	}
	p := newProgress(std.err, f.out.quiet)
	h := experiment.Hunt{Plan: plan, Task: f.task, Resolution: f.grid, Budget: f.budget, Seed: f.seed, Workers: f.jobs, State: f.resume, Key: f.key(text, args)}
	h.Vary = map[string]experiment.Vary{"phase": experiment.VaryPhase, "arrivals": experiment.VaryArrivals, "all": experiment.VaryAll}[f.vary]
	h.What = map[string]experiment.What{"response": experiment.Response, "lateness": experiment.Lateness, "wait": experiment.Wait}[f.measure]
	if f.limit > 0 {
		end := time.Now().Add(time.Duration(f.limit))
		h.Enough = func() bool { return time.Now().After(end) }
	}
	h.Progress = func(at experiment.Progress) {
		rate := float64(at.Done) / max(at.Elapsed.Seconds(), 1e-3)
		p.what = fmt.Sprintf("run %d of %d, %.0f runs/s, worst %d.%d µs", at.Runs, at.Budget, rate, at.Best/1000, at.Best%1000/100)
		p.update(int64(at.Runs), int64(at.Budget))
	}
	r, err := h.Run(cmd.Context())
	p.erase()
	if err != nil {
		return err
	}
	r.Replay = f.again(args, r.Arrivals.Changes)
	if f.write != "" {
		if err := f.keep(text, args[0], f.changes(plan, r.Arrivals.Changes)); err != nil {
			return err
		}
	}
	show := func(w io.Writer, o report.Options) error { return report.Worst(w, r, o) }
	return f.out.print(&answer{value: r, diagnostics: r.Notes, text: show}, std.out)
}

// read returns the text of the scenario; nil of a load that needs no file.
func (f *worstFlags) read(std *streams, args []string) ([]byte, error) {
	var text []byte
	var err error
	if args[0] == "-" {
		if text, err = io.ReadAll(io.LimitReader(std.in, mostScenario)); err != nil {
			return nil, fmt.Errorf("reading the scenario: %w", err)
		}
		f.run.stdin = text
	} else if text, err = os.ReadFile(args[0]); err != nil {
		text = nil // setup says why
	}
	if f.write == "" {
		return text, nil
	}
	if text == nil && scenario.IsTemplate(args[0]) {
		return nil, fmt.Errorf("%s is no file into which arrivals could be written; the answer has a command that shows them again", args[0])
	}
	there, err := os.Stat(f.write)
	if err != nil {
		return text, nil
	}
	if in, err := os.Stat(args[0]); err == nil && os.SameFile(in, there) {
		return nil, fmt.Errorf("%s is the scenario itself; name another file with -o", f.write)
	}
	if !f.out.force {
		return nil, fmt.Errorf("%s exists; -f overwrites it", f.write)
	}
	return text, nil
}

// key names what is searched, so that no state of something else is gone on with.
func (f *worstFlags) key(text []byte, args []string) string {
	if text == nil {
		text = []byte(args[0])
	}
	return fmt.Sprintf("%s\x00%q\x00%q\x00%q\x00%q\x00%d\x00%q\x00%v", text, args[1:], f.kernel, f.variant, f.run.changes, f.run.duration, f.run.costs, f.run.workgen)
}

// changes are all that the file of -o has to make, in their order.
func (f *worstFlags) changes(p *scenario.Plan, found []string) []string {
	list := append([]string{}, p.Always...)
	list = append(list, f.run.changesOf(p, choice{f.kernel, f.variant})...)
	return append(list, found...)
}

// keep writes the scenario with the arrivals.
func (f *worstFlags) keep(text []byte, name string, changes []string) error {
	text, err := scenario.Amend(name, text, changes, f.run.costs, f.run.workgen)
	if err != nil {
		return err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if f.out.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(f.write, mode, 0o666)
	if err != nil {
		return fmt.Errorf("writing the scenario: %w", err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing the scenario: %w", err)
	}
	return nil
}

// again is the command that runs the scenario with what was found.
func (f *worstFlags) again(args, found []string) string {
	words := []string{"whylate run", shellWord(args[0])}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, shellWord(value))
		}
	}
	add("--kernel", f.kernel)
	add("--variant", f.variant)
	add("--costs", f.run.costs)
	if f.run.duration > 0 {
		add("--duration", time.Duration(f.run.duration).String())
	}
	if f.run.workgen {
		words = append(words, "--workgen")
	}
	for _, c := range append(append([]string{}, f.run.changes...), found...) {
		add("--change", c)
	}
	if len(args) > 1 {
		words = append(words, "--")
		for _, a := range args[1:] {
			words = append(words, shellWord(a))
		}
	}
	return strings.Join(words, " ")
}

// shellWord is a word as a shell takes it for one.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=@%+-"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
