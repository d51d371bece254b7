package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// usualRuns is how many seeds a comparison runs where --repeat does not say: enough for a
// confidence of 95 % and for a test to show what the runs hardly overlap in.
const usualRuns = 10

// compare runs several variants side by side.
func (std *streams) compare(cmd *cobra.Command, args []string, sel *selection, out *output, flags *runFlags, choices []choice) error {
	if err := flags.comparable(sel, out); err != nil {
		return err
	}
	if flags.dry {
		for _, c := range choices {
			plan, setup, err := flags.setup(args, c)
			if err != nil {
				return err
			}
			if err := std.tellPlan(plan, setup); err != nil {
				return err
			}
		}
		return nil
	}
	x := &experiment.Experiment{Scenario: args[0], Seeds: flags.repeat, Tasks: sel.tasks}
	if x.Seeds == 0 {
		x.Seeds = usualRuns
	}
	for _, c := range choices {
		v := experiment.Variant{Name: c.variant}
		if len(flags.kernels) > 1 {
			v.Name += "@" + c.kernel
		}
		plan, _, err := flags.setup(args, c)
		if err != nil {
			return err
		}
		v.Changes = flags.changesOf(plan, c)
		v.Plan = func() (*scenario.Plan, error) {
			p, _, err := flags.setup(args, c)
			return p, err
		}
		x.Variants = append(x.Variants, v)
	}
	p := newProgress(std.err, out.quiet)
	p.what = "running"
	got, err := experiment.Run(cmd.Context(), []*experiment.Experiment{x}, experiment.Options{Progress: p.update})
	p.erase()
	if err != nil {
		return err
	}
	r := &result.Compare{Schema: "whylate.compare/1", Comparison: got[0].Comparison, Diagnostics: got[0].Diagnostics}
	return out.print(&answer{value: r, diagnostics: r.Diagnostics, text: func(w io.Writer, o report.Options) error { return report.Compare(w, r, o) }}, std.out)
}

// changesOf lists what makes the variant c of plan, as --change would take it.
func (f *runFlags) changesOf(plan *scenario.Plan, c choice) []string {
	var list []string
	for _, v := range plan.Variants {
		if v.Name == c.variant {
			list = append(list, v.Changes...)
		}
	}
	if c.kernel != "" {
		list = append(list, "kernel="+c.kernel)
	}
	return append(list, f.changes...)
}

// comparable refuses what a comparison has no place for.
func (f *runFlags) comparable(sel *selection, out *output) error {
	switch {
	case isTraceName(out.file):
		return fmt.Errorf("%s would hold the events of several runs; ask for one variant at a time", out.file)
	case f.wait != "" || f.over > 0 || f.top > 0:
		return errors.New("--wait, --over and --top choose waits of one run; ask for one variant at a time")
	case len(sel.pids) > 0 || len(sel.cpus) > 0 || sel.span.from.Valid() || sel.span.to.Valid() || sel.by != "task":
		return errors.New("several variants are compared task by task: of the selections only --task works; ask for one variant at a time for others")
	}
	return nil
}
