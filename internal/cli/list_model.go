package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/scenario"
)

// kernelRow is one line of list kernels.
type kernelRow struct {
	Name     string `json:"name"`
	RT       bool   `json:"preempt_rt"`
	Verified bool   `json:"verified"`
	Default  bool   `json:"default"`
}

// settingRow is one line of list settings.
type settingRow struct {
	Name    string `json:"name"`
	Values  string `json:"values"`
	Default string `json:"default"`
	Meaning string `json:"meaning"`
}

// newListKernels lists what run --kernel takes.
func newListKernels(std *streams) *cobra.Command {
	rows := []kernelRow{}
	for _, p := range kernel.Profiles {
		rows = append(rows, kernelRow{p.Name, p.RT, p.Verified, p.Name == scenario.DefaultKernel})
	}
	return newListOf(std, "kernels", "List the kernels that the model imitates",
		"List the kernels that run --kernel takes. Unverified ones were never compared with a trace\nor a document of that kernel.",
		struct {
			Schema  string      `json:"schema"`
			Kernels []kernelRow `json:"kernels"`
		}{"whylate.kernels/1", rows},
		func(w io.Writer) {
			fmt.Fprintln(w, "KERNEL\tVERIFIED\t")
			for _, r := range rows {
				verified, note := "unverified", ""
				if r.Verified {
					verified = "verified"
				}
				if r.Default {
					note = "default"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, verified, note)
			}
		})
}

// changeRow is one line of list changes.
type changeRow struct {
	Change  string `json:"change"`
	Meaning string `json:"meaning"`
}

// changeRows is the grammar of scenario.ParseChange, for people.
var changeRows = []changeRow{
	{"task=NAME policy=fifo|rr|other|batch|idle prio=N nice=N", "policy and priority of tasks: prio is rt_priority, 1 to 99"},
	{"task=NAME policy=deadline runtime=µs deadline=µs period=µs", "SCHED_DEADLINE"},
	{"task=NAME cpus=0-3,5", "the CPUs that they may use"},
	{"task=NAME work=×0.5", "how much they have to do"},
	{"task=NAME cgroup=PATH", "the control group that they are in, / the root; scenarios only"},
	{"task=NAME exit_normalize=off|rt|all", "what they become before they exit"},
	{"remove task=NAME", "they are not there; whom they woke is woken all the same"},
	{"irq=NAME policy=other prio=N cpus=0-3", "the thread of an interrupt, or where the interrupt goes"},
	{"mutex=NAME pi=on|off", "priority inheritance"},
	{"mutex=NAME held=×0.5", "how long locks are held; held=outside: the work is done without the lock"},
	{"cgroup=/web cpu.max=\"50000 100000\"", "a control group's quota (max: none), cpu.max.burst, cpu.weight, cpu.weight.nice, cpu.idle"},
	{"arrivals=NAME delay=D later=N:D,N:D", "of a scenario: when a task starts, or irq/NAME; how much longer its Nth sleeps are"},
	{"exit_teardown ×0.25", "how long it takes to free the memory of whoever exits"},
	{"set NAME=VALUE", "a setting of the kernel (whylate list settings): sched_rt_runtime_us, fair_server_runtime_ns, …"},
	{"kernel=PROFILE", "another kernel (whylate list kernels)"},
	{"cpus=N", "another number of CPUs"},
}

// newListChanges lists what --change takes.
func newListChanges(std *streams) *cobra.Command {
	return newListOf(std, "changes", "List the changes that --change takes",
		"List the changes that --change of run and whatif takes, and that explain advises. NAME is a\nname, a pid, NAME/PID or a shell pattern; a value with blanks stands in double quotes.",
		struct {
			Schema  string      `json:"schema"`
			Changes []changeRow `json:"changes"`
		}{"whylate.changes/1", changeRows},
		func(w io.Writer) {
			fmt.Fprintln(w, "CHANGE\tMEANING")
			for _, r := range changeRows {
				fmt.Fprintf(w, "%s\t%s\n", r.Change, r.Meaning)
			}
		})
}

// newListSettings lists what run --change 'set …' takes.
func newListSettings(std *streams) *cobra.Command {
	rows := []settingRow{}
	for _, s := range scenario.Settings() {
		rows = append(rows, settingRow{s.Name, s.Values, s.Default, s.Meaning})
	}
	return newListOf(std, "settings", "List the settings that the model knows",
		"List the settings that run --change 'set NAME=VALUE' takes and scenarios may have, by the\nkernel's own names.",
		struct {
			Schema   string       `json:"schema"`
			Settings []settingRow `json:"settings"`
		}{"whylate.settings/1", rows},
		func(w io.Writer) {
			fmt.Fprintln(w, "SETTING\tVALUES\tDEFAULT\tMEANING")
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, r.Values, r.Default, r.Meaning)
			}
		})
}

// newListOf is a list that prints value as JSON or what table writes, tabs aligned.
func newListOf(std *streams, what, short, long string, value any, table func(io.Writer)) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   what,
		Short: short,
		Long:  long,
		Args:  usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return flushed(std.out, func(w io.Writer) error {
				if asJSON {
					return encode(w, value)
				}
				t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
				table(t)
				return t.Flush()
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
