package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/whatif"
)

const whatifLong = `Predict what would have become of the late waits of a trace with something changed: the
recorded load runs in a model of the scheduler, as it was and with the change.

  task=NAME policy=fifo|rr|other prio=N cpus=0-3    task=NAME policy=deadline runtime=µs period=µs
  irq=NAME policy=other                             remove task=NAME
  set sched_rt_runtime_us=980000                    exit_teardown ×0.25
  mutex=NAME pi=on|off                              kernel=6.12-rt   cpus=4

(whylate list changes has them all.) Several --change are made together; --alone also asks
each by itself. For each late wait stand what was recorded, what the unchanged replay makes of
it, and what is predicted. Where the unchanged replay is off by more than 20 % and 50 µs the
answer is withheld: unknown, with the reason. Waits of fair tasks are
predicted where the snapshot of the machine tells their virtual run times, or the change is one of their class.
Without --over, --top or --wait the late waits are those that explain tells.`

const whatifExample = `  whylate whatif trace.dat --change 'task=logger policy=other'
  whylate whatif trace.dat --change 'set sched_rt_runtime_us=980000' --change 'task=hog prio=1' --alone
  whylate whatif trace.dat --change 'exit_teardown ×0.25' --wait 311@290.333201
  whylate whatif trace.dat --change 'remove task=hog' --out without.dat`

// whatifFlags are those of whatif beside input, selection and output.
type whatifFlags struct {
	explainFlags
	changes []string
	alone   bool
	trace   string
	page    page
}

func newWhatif(std *streams) *cobra.Command {
	var in input
	var sel selection
	var out output
	var flags whatifFlags
	cmd := &cobra.Command{
		Use:     "whatif [FILE] --change CHANGE…",
		Short:   "Predict what a change would have made of late waits",
		Long:    whatifLong,
		Example: whatifExample,
		Args:    usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd, &out); err != nil {
				return err
			}
			o := sel.options()
			o.Over, o.Top, o.WaitID = flags.over, flags.top, flags.wait
			if !out.json && !out.all {
				o.Floor = textFloor
			}
			return std.answer(cmd, args, &in, &out, o, askWhatif(cmd, &flags, out.strict))
		},
	}
	in.register(cmd)
	sel.register(cmd, "sum up the blame in --json by `WHAT`: task, comm, process, cgroup or cpu (default task)")
	f := cmd.Flags()
	f.Func("change", "make `CHANGE`, as above (may be repeated: they are made together)", appendInto(&flags.changes, parseChange))
	f.BoolVar(&flags.alone, "alone", false, "ask each change by itself as well")
	flags.registerFor(cmd)
	registerTraceOut(cmd, &flags.trace, "the events of the replay with all changes")
	registerDetail(cmd, &out)
	flags.page.register(cmd)
	out.register(cmd)
	f.Lookup("verbose").Usage = "print what was assumed, and all whom it harms"
	f.Lookup("all").Usage = "print every wait and every task"
	return cmd
}

// parseChange checks the grammar, so that a mistake is told before the trace is read.
func parseChange(s string) (string, error) {
	_, err := scenario.ParseChange(s)
	return s, err
}

func (w *whatifFlags) check(cmd *cobra.Command, out *output) error {
	if len(w.changes) == 0 {
		return &usageError{cmd.CommandPath(), errors.New("no change; write --change 'task=NAME policy=other' (whylate list changes), or let whylate explain advise some")}
	}
	if err := w.page.check(cmd, out); err != nil {
		return err
	}
	return checkTraceOut(cmd, w.trace, out.force)
}

// sets are the changes together, and each alone if wanted.
func (w *whatifFlags) sets() [][]string {
	sets := [][]string{w.changes}
	if w.alone && len(w.changes) > 1 {
		for _, c := range w.changes {
			sets = append(sets, []string{c})
		}
	}
	return sets
}

func askWhatif(cmd *cobra.Command, flags *whatifFlags, strict bool) question {
	return func(src explain.Source, o explain.Options) (*answer, error) {
		r, study, err := whatif.Predict(cmd.Context(), src, o, flags.sets())
		if err != nil {
			return nil, err
		}
		if err := someTask(o, len(r.Tasks)); err != nil {
			return nil, err
		}
		switch {
		case flags.trace == "":
		case r.Changes[0].Refused != "":
			r.Diagnostics = append(r.Diagnostics, result.Diagnostic{Kind: "not_written", Count: 1,
				Text: fmt.Sprintf("%s is not written: there is no replay with a change that the kernel refuses", flags.trace)})
		default:
			changed, err := study.Changed(flags.changes)
			if err != nil {
				return nil, err
			}
			run, err := changed.Source()
			if err != nil {
				return nil, err
			}
			if err := writeTrace(cmd.Context(), flags.trace, run, sysinfo.Of(src)); err != nil {
				return nil, fmt.Errorf("writing the replay's events: %w", err)
			}
		}
		a := &answer{value: r, input: r.Input, diagnostics: r.Diagnostics}
		if strict {
			a.verdict = unanswered(r)
		}
		flags.page.fill(a, func(w io.Writer, ro report.Options) error { return report.WhatIf(w, r, ro) })
		return a, nil
	}
}

// unanswered is what --strict ends with where an answer of a real-time wait is withheld, nil:
// none is.
func unanswered(r *result.WhatIf) error {
	n, all := 0, 0
	for i := range r.Changes {
		for j := range r.Changes[i].Late {
			why := r.Changes[i].Late[j].Withheld
			if class := r.Late[j].Class; class != "rt" && class != "dl" || why == whatif.RemovedTask {
				continue
			}
			all++
			if why != "" {
				n++
			}
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of %d answers are withheld", errUnreliable, n, all)
}
