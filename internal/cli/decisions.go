package cli

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/whylate/whylate/event"
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

// tellDecisions is run --decisions.
func (std *streams) tellDecisions(args []string, out *output, flags *runFlags, choices []choice) error {
	if len(choices) > 1 || flags.repeat > 1 {
		return errors.New("--decisions prints one run; ask for one kernel and variant at a time")
	}
	_, setup, err := flags.setup(args, choices[0])
	if err != nil {
		return err
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		return err
	}
	return out.write(std.out, func(w io.Writer) error { return writeDecisions(w, src) })
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
