package whatif

import (
	"context"
	"fmt"
	"slices"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/result"
)

// Predict tells the late waits of a recording and what each set of changes would make of them.
// Changes of one set are made together. The options choose the waits, as for Explain. The study
// is returned for who wants the events of a changed run. An error is also a change that makes no
// sense for this recording; one that the kernel refuses is an answer.
func Predict(ctx context.Context, src explain.Source, o explain.Options, sets [][]string) (*result.WhatIf, *Study, error) {
	whole := o.Progress
	o.Progress = step(whole, 0, 2)
	e, err := explain.Explain(src, o)
	if err != nil {
		return nil, nil, err
	}
	l, err := replay.Read(src, replay.Options{Kernel: o.Kernel, Progress: step(whole, 1, 2)})
	if err != nil {
		return nil, nil, err
	}
	s, err := NewStudy(l)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]string, len(e.Late))
	for i := range e.Late {
		ids[i] = e.Late[i].ID
	}
	answers, errs := s.AskAll(ctx, sets, ids)
	r := &result.WhatIf{Explain: *e, Changes: []result.Changed{}, Replay: replayed(l, s.Base), Assumed: assumed(l.Assumed)}
	r.Schema = "whylate.whatif/1"
	for i, a := range answers {
		if errs[i] != nil {
			return nil, nil, errs[i]
		}
		for j := range a.Late {
			if !a.FairClass {
				withholdFair(&a.Late[j], &e.Late[j])
			}
			sumUp(&a.Sum, &a.Late[j])
		}
		r.Changes = append(r.Changes, *a)
	}
	return r, s, nil
}

// withholdFair withholds what the model says of a wait whose class it has not run by its rules.
func withholdFair(p *result.Prediction, l *result.Late) {
	if !slices.Contains([]string{"rt", "dl", "stop"}, l.Class) {
		p.Withheld = fmt.Sprintf("tasks of class %s took turns as they were recorded, since no snapshot tells their virtual run times", l.Class)
	}
}

// sumUp adds a prediction to the sum.
func sumUp(sum *result.Predicted, p *result.Prediction) {
	least := max(p.ErrorNS, p.BeforeNS/10)
	switch {
	case p.Withheld != "":
		sum.Withheld++
	case p.BeforeNS-p.AfterNS > least:
		sum.Shorter++
	case p.AfterNS-p.BeforeNS > least:
		sum.Longer++
	default:
		sum.Same++
	}
}

// Changed returns the load with the changes made, for its events.
func (s *Study) Changed(changes []string) (*replay.Load, error) {
	l := s.Load.Clone()
	for _, text := range changes {
		if err := l.Change(text); err != nil {
			return nil, err
		}
	}
	return l, nil
}
