package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/cause"
)

// causeRow is one line of list causes.
type causeRow struct {
	Kind  string   `json:"kind"`
	Title string   `json:"title"`
	Needs []string `json:"needs"` // events without which it is at most likely
}

func newList(std *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list WHAT",
		Short: "List what whylate knows: cases, causes, changes, kernels, settings",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &usageError{cmd.CommandPath(), fmt.Errorf("name what to list: cases, causes, changes, kernels or settings")}
		},
	}
	var asJSON bool
	causes := &cobra.Command{
		Use:   "causes",
		Short: "List the kinds of causes and the events that prove them",
		Long: `List the kinds of causes in the order in which they are asked: at each instant of a wait
the first that holds wins. Without the events in the last column a cause can at most be
likely. docs/causes.md has the rule of each.`,
		Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return flushed(std.out, func(w io.Writer) error { return listCauses(w, asJSON) })
		},
	}
	causes.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(causes, newListCases(std), newListChanges(std), newListKernels(std), newListSettings(std))
	return cmd
}

func listCauses(w io.Writer, asJSON bool) error {
	rows := []causeRow{}
	for _, k := range cause.Kinds() {
		row := causeRow{Kind: k.Name, Title: k.Title, Needs: []string{}}
		for _, need := range k.Needs {
			row.Needs = append(row.Needs, need.String())
		}
		rows = append(rows, row)
	}
	if asJSON {
		return encode(w, struct {
			Schema string     `json:"schema"`
			Causes []causeRow `json:"causes"`
		}{"whylate.causes/1", rows})
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "KIND\tMEANING\tPROVEN BY")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.Kind, r.Title, strings.Join(r.Needs, " "))
	}
	return t.Flush()
}
