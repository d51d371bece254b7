package cli

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// decisionLine is one line of run --decisions.
type decisionLine struct {
	Schema     string          `json:"schema"`
	AtNS       event.Time      `json:"at_ns"`
	CPU        event.CPU       `json:"cpu"`
	Prev       decisionTask    `json:"prev"`
	Next       decisionTask    `json:"next"`
	Rule       string          `json:"rule"`
	Runnable   int             `json:"runnable"`
	Candidates []candidateLine `json:"candidates"`
}

type decisionTask struct {
	Comm  string     `json:"comm"`
	PID   event.PID  `json:"pid"`
	Class string     `json:"class"`
	Prio  event.Prio `json:"prio"`
}

type candidateLine struct {
	decisionTask
	Key   string `json:"key"`
	Value int64  `json:"value"`
}

// decisionWords are what --decisions may tell.
var decisionWords = []string{"all", "picks", "balance"}

// waitLine is one line of run --decisions: a late wait with the passes of the load balancer that
// could have ended it. Times are on the clock of the machine, as at_ns of a pick is.
type waitLine struct {
	Schema  string               `json:"schema"`
	ID      string               `json:"id"`
	Comm    string               `json:"comm"`
	PID     int32                `json:"pid"`
	CPU     int32                `json:"cpu"`
	WokenNS int64                `json:"woken_ns"`
	WaitNS  int64                `json:"wait_ns"`
	PassesN int                  `json:"balance_passes_n"`
	Passes  []result.BalancePass `json:"balance_passes"`
}

// tellDecisions is run --decisions: picks first, then waits.
func (std *streams) tellDecisions(cmd *cobra.Command, args []string, sel *selection, out *output, flags *runFlags, c choice) error {
	_, setup, err := flags.setup(args, c)
	if err != nil {
		return err
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		return err
	}
	var late *result.Explain
	if flags.decisions == "all" && setup.Machine.Sched.CPUs > 1 {
		o := sel.options()
		o.Over, o.Top, o.WaitID, o.File = flags.over, flags.top, flags.wait, args[0]+c.label()
		if late, err = explain.Explain(explain.Interruptible(cmd.Context(), src), o); err != nil {
			return err
		}
		if err := experiment.TellPasses(src, late, cmd.Context().Err); err != nil {
			return err
		}
	}
	return out.write(std.out, func(w io.Writer) error {
		if err := writeDecisions(w, src); err != nil || late == nil {
			return err
		}
		return writeWaits(w, late)
	})
}

// writeWaits writes a line of JSON for every late wait that a pass could have ended.
func writeWaits(w io.Writer, r *result.Explain) error {
	lines := json.NewEncoder(w)
	for i := range r.Late {
		l := &r.Late[i]
		if l.PassesN == 0 {
			continue
		}
		for j := range l.BalancePasses {
			l.BalancePasses[j].AtNS += r.Input.StartNS
		}
		if err := lines.Encode(waitLine{"whylate.balance/1", l.ID, l.Comm, l.PID, l.CPU, r.Input.StartNS + l.WokenNS, l.WaitNS, l.PassesN, l.BalancePasses}); err != nil {
			return err
		}
	}
	return nil
}

// writeDecisions runs the model and writes a line of JSON for every pick.
func writeDecisions(w io.Writer, src *scenario.Source) error {
	names := src.Names()
	task := func(t *sched.Task) decisionTask {
		return decisionTask{names.String(t.Comm), t.PID, t.ClassName(), t.Prio()}
	}
	lines := json.NewEncoder(w)
	var failed error
	err := src.Decisions(func(d *sched.Decision) {
		if failed != nil {
			return
		}
		line := decisionLine{Schema: "whylate.decision/1", AtNS: d.At, CPU: d.CPU, Prev: task(d.Prev), Next: task(d.Next),
			Rule: d.Rule, Runnable: d.Runnable, Candidates: make([]candidateLine, 0, len(d.Candidates))}
		for _, c := range d.Candidates {
			line.Candidates = append(line.Candidates, candidateLine{task(c.Task), c.KeyName, c.Key})
		}
		failed = lines.Encode(line)
	})
	if failed != nil {
		return failed
	}
	return err
}
