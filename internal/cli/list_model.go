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
