package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/report"
)

// page holds the flags of verbs whose answers people put on a page.
type page struct {
	markdown bool
	summary  string
}

func (p *page) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.markdown, "markdown", false, "print Markdown")
	f.StringVar(&p.summary, "summary", "", "append the answer as Markdown to `FILE`, beside what is printed")
}

// check refuses two forms at once.
func (p *page) check(cmd *cobra.Command, o *output) error {
	if p.markdown && o.json {
		return &usageError{cmd.CommandPath(), errors.New("--json and --markdown; give one (--summary FILE writes Markdown beside --json)")}
	}
	return nil
}

// fill sets how a prints: as text or Markdown, and to the summary as well.
func (p *page) fill(a *answer, text func(io.Writer, report.Options) error) {
	a.text = func(w io.Writer, o report.Options) error {
		o.Markdown = p.markdown
		return text(w, o)
	}
	if p.summary == "" {
		return
	}
	a.also = func() error {
		f, err := os.OpenFile(p.summary, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return fmt.Errorf("writing the summary: %w", err)
		}
		err = flushed(f, func(w io.Writer) error { return text(w, report.Options{Markdown: true}) })
		return errors.Join(err, f.Close())
	}
}
