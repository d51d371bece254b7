package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/whatif"
)

// adviceFlags say whether explain looks for changes that would have helped.
type adviceFlags struct{ always, never bool }

func (f *adviceFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.always, "advice", false, "replay the trace with the changes that causes suggest, however long it is: without this only\nup to 1 million events")
	cmd.Flags().BoolVar(&f.never, "no-advice", false, "do not replay the trace; tell what happened and no more")
	cmd.MarkFlagsMutuallyExclusive("advice", "no-advice")
}

// ask is askExplain with advice.
func (f *adviceFlags) ask(ctx context.Context, src explain.Source, o explain.Options) (*answer, error) {
	a, err := askExplain(src, o)
	if err != nil {
		return nil, err
	}
	r := a.value.(*result.Explain)
	err = f.advise(ctx, src, &o, r)
	a.diagnostics = r.Diagnostics
	return a, err
}

// mostAdvised is how many events a trace has at most that is replayed without being asked.
const mostAdvised = 1_000_000

// advise adds to r what replay predicts for the changes that its causes suggest. A trace that
// cannot be replayed is explained all the same: r says why there is no advice.
func (f *adviceFlags) advise(ctx context.Context, src explain.Source, o *explain.Options, r *result.Explain) error {
	if f.never || len(r.Late) == 0 {
		return nil
	}
	if r.Input.Events > mostAdvised && !f.always {
		r.Diagnostics = append(r.Diagnostics, result.Diagnostic{Kind: "no_advice", Count: 1,
			Text: fmt.Sprintf("more than %d events are not replayed unasked; --advice tells what would have helped", mostAdvised)})
		return nil
	}
	load, err := replay.Read(src, replay.Options{Kernel: o.Kernel, Progress: o.Progress})
	if err == nil {
		var s *whatif.Study
		if s, err = whatif.NewStudy(load); err == nil {
			o := whatif.AdviceOptions{}
			if f.always {
				o.Changes = whatif.MostChanges
			}
			err = whatif.Advise(ctx, r, s, o)
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		r.Diagnostics = append(r.Diagnostics, result.Diagnostic{Kind: "no_advice", Count: 1, Text: fmt.Sprintf("the trace cannot be replayed, so nothing is predicted: %v", err)})
	}
	return nil
}
