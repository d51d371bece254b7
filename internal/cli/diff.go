package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/whatif"
)

const diffLong = `Compare the waits of two recordings: task by task, and which kind of cause grew.

A and B are traces, also those that run writes from the model, or several of each with
commas between them. Tasks are matched by name (and by pid, where several bear a name and
the same pids occur everywhere). With at least six recordings on each side the tests
compare recordings; with fewer they compare stretches, ten of each recording, and know
nothing of what differs from one recording to the next without any change.

--fail-on takes the conditions of gate (whylate gate -h), which here say what must not be:
of B, as rt_throttled>0, or of the change, as p99>+10% or max>+100us. Exits with 2 if one
holds.`

const diffExample = `  whylate diff before.dat after.dat
  whylate diff before.dat after.dat --task 'ctl-*' --fail-on 'p99>+10%' --fail-on 'rt_throttled>0'
  whylate diff a1.dat,a2.dat b1.dat,b2.dat --json`

// diffFlags are those of diff beside selection and output.
type diffFlags struct {
	a, b   []string
	in     input // of all of them: its kernel and its snapshot
	failOn []*whatif.Condition
	shown  bool
	page   page
}

func newDiff(std *streams) *cobra.Command {
	var sel selection
	var out output
	var flags diffFlags
	cmd := &cobra.Command{
		Use:     "diff A B",
		Short:   "Compare the waits of two recordings",
		Long:    diffLong,
		Example: diffExample,
		Args:    usage(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.files(cmd, args); err != nil {
				return err
			}
			return std.diff(cmd, &sel, &out, &flags)
		},
	}
	f := cmd.Flags()
	f.Func("a", "read the traces `LIST` as side A, instead of as the first argument (may be repeated)", appendAllInto(&flags.a, parseWords))
	f.Func("b", "read the traces `LIST` as side B", appendAllInto(&flags.b, parseWords))
	f.StringVar(&flags.in.kernel, "kernel", "", "the kernel's `RELEASE` (uname -r), for text traces, which do not say it")
	f.StringVar(&flags.in.sysinfo, "sysinfo", "", "take the snapshot of the machine of all recordings from `FILE`, not from them or from what lies beside them")
	f.Func("fail-on", "exit with 2 if `CONDITION` holds: 'p99>+10%', 'hi25:max>+100us', 'rt_throttled>0'\n(may be repeated)",
		appendInto(&flags.failOn, whatif.ParseCondition))
	f.BoolVar(&flags.shown, "shown", false, "a change of --fail-on counts only where a test shows it")
	sel.register(cmd, "compare by `WHAT`: task, comm, process, cgroup or cpu (default task)")
	f.BoolVarP(&out.all, "all", "a", false, "print all tasks and causes")
	flags.page.register(cmd)
	out.register(cmd)
	return cmd
}

// files takes the two sides from the arguments where the flags do not name them.
func (d *diffFlags) files(cmd *cobra.Command, args []string) error {
	for _, side := range []*[]string{&d.a, &d.b} {
		if len(*side) > 0 || len(args) == 0 {
			continue
		}
		list, err := parseWords(args[0])
		if err != nil {
			return &usageError{cmd.CommandPath(), fmt.Errorf("%q: %w", args[0], err)}
		}
		*side, args = list, args[1:]
	}
	switch {
	case len(args) > 0:
		return &usageError{cmd.CommandPath(), fmt.Errorf("%s is one too many: A and B are named already", args[0])}
	case len(d.a) == 0 || len(d.b) == 0:
		return &usageError{cmd.CommandPath(), errors.New("two recordings are compared: name A and B")}
	}
	if all := strings.Split(strings.Join(append(d.a[:len(d.a):len(d.a)], d.b...), ","), ","); countOf(all, "-") > 1 {
		return &usageError{cmd.CommandPath(), errors.New("standard input can be read once")}
	}
	return nil
}

func countOf(list []string, word string) (n int) {
	for _, s := range list {
		if s == word {
			n++
		}
	}
	return n
}

// diff opens all recordings, compares them and prints.
func (std *streams) diff(cmd *cobra.Command, sel *selection, out *output, flags *diffFlags) (err error) {
	if err := flags.page.check(cmd, out); err != nil {
		return err
	}
	var open []explain.Source
	defer func() {
		for _, src := range open {
			err = errors.Join(err, src.Close())
		}
	}()
	sides := make([][]whatif.Recording, 2)
	for i, files := range [][]string{flags.a, flags.b} {
		for _, file := range files {
			if err := out.check(file); err != nil {
				return err
			}
			src, err := std.openInput(&flags.in, file)
			if err != nil {
				return err
			}
			open = append(open, src)
			sides[i] = append(sides[i], whatif.Recording{File: file, Source: explain.Interruptible(cmd.Context(), src)})
		}
	}
	o := whatif.DiffOptions{Options: sel.options(), FailOn: flags.failOn, Shown: flags.shown}
	o.Kernel = flags.in.kernel
	p := newProgress(std.err, out.quiet)
	o.Progress = p.update
	r, err := whatif.Diff(sides[0], sides[1], o)
	p.erase()
	if err != nil {
		return err
	}
	if len(r.Tasks) == 0 {
		return errors.New("no task waits in the chosen part of either; `whylate latency` lists the tasks of a trace")
	}
	a := &answer{value: r, input: result.Input{}, diagnostics: r.Diagnostics, verdict: diffVerdict(r)}
	for _, in := range append(r.A.Inputs[:len(r.A.Inputs):len(r.A.Inputs)], r.B.Inputs...) {
		if in.Lost != 0 {
			a.input.Lost = in.Lost
		}
	}
	flags.page.fill(a, func(w io.Writer, ro report.Options) error { return report.Diff(w, r, ro) })
	return out.print(a, std.out)
}

// diffVerdict is what the verb ends with.
func diffVerdict(r *result.Diff) error {
	n := 0
	for i := range r.Conditions {
		if r.Conditions[i].Status == whatif.StatusFailed {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of %d of --fail-on", errCondition, n, len(r.Conditions))
}
