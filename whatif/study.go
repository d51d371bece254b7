package whatif

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// Study is a load together with its unchanged run, which every answer is compared with.
type Study struct {
	Load  *replay.Load // must not be changed
	Base  *replay.Run  // unchanged
	known *Known
	base  *outcome
	pairs map[string]replay.Pair        // recorded waits with those of Base, by their names
	prios map[replay.WaitKey]event.Prio // of the unchanged waits

	// fair is the study of the load with the fair class itself, which changes of that are compared with;
	// made when it is needed.
	fairOnce sync.Once
	fair     *Study
	fairErr  error
}

// withFairClass is the study of the same load in which fair tasks run by the rules of their class.
func (s *Study) withFairClass() (*Study, error) {
	if s.Load.FairClass {
		return s, nil
	}
	s.fairOnce.Do(func() {
		l := s.Load.Clone()
		l.UseFairClass()
		s.fair, s.fairErr = NewStudy(l)
	})
	return s.fair, s.fairErr
}

// NewStudy runs the load as it is.
func NewStudy(l *replay.Load) (*Study, error) {
	run, err := l.Run(replay.RunOptions{})
	if err != nil {
		return nil, fmt.Errorf("replaying the recording unchanged: %w", err)
	}
	s := &Study{Load: l, Base: run, known: KnownOf(l), pairs: make(map[string]replay.Pair, len(l.Recorded)),
		prios: make(map[replay.WaitKey]event.Prio, len(l.Recorded))}
	s.base = newOutcome(l, run, nil)
	for _, p := range replay.Match(l.Recorded, run.Waits) {
		if p.Recorded != nil {
			s.pairs[p.Recorded.ID] = p
			s.prios[p.Recorded.Key] = p.Recorded.Prio
		} else {
			s.prios[p.Run.Key] = p.Run.Prio
		}
	}
	return s, nil
}

// Known is what the study's load tells of its machine.
func (s *Study) Known() *Known { return s.known }

// Ask predicts what becomes of the waits with the names ids, all recorded ones if that is nil,
// when the changes are made together. An error is a change that makes no sense here; one that
// the kernel refuses is an answer.
func (s *Study) Ask(changes []string, ids []string) (*result.Changed, error) {
	c := &result.Changed{Changes: changes, Commands: []string{}, Late: []result.Prediction{}, Harm: []result.Harm{}, FairClass: s.Load.FairClass,
		Tasks: []result.ChangedTask{}, Diagnostics: []result.Diagnostic{}}
	for _, text := range changes {
		parsed, err := scenario.ParseChange(text)
		if err != nil {
			return nil, err
		}
		if !s.Load.FairClass && s.Load.NeedsFairClass(&parsed) {
			other, err := s.withFairClass()
			if err != nil {
				return nil, err
			}
			return other.Ask(changes, ids)
		}
	}
	l := s.Load.Clone()
	before := len(l.Assumed)
	for _, text := range changes {
		parsed, err := scenario.ParseChange(text)
		if err != nil {
			return nil, err
		}
		if command := s.known.Command(&parsed); command != "" {
			c.Commands = append(c.Commands, command)
		}
		c.Mechanism = mechanismOf(&parsed)
		if err := l.Apply(&parsed); refusal(err) {
			c.Refused = err.Error()
			return c, nil
		} else if err != nil {
			return nil, fmt.Errorf("change %q: %w", text, err)
		}
	}
	if len(changes) != 1 {
		c.Mechanism = ""
	}
	c.Confirmed = confirmed(c.Mechanism)
	run, err := l.Run(replay.RunOptions{})
	if err != nil {
		return nil, fmt.Errorf("replaying with %v: %w", changes, err)
	}
	if c.Refused = s.newVerdict(run); c.Refused != "" {
		return c, nil
	}
	for _, a := range l.Assumed[min(before, len(l.Assumed)):] {
		c.Diagnostics = append(c.Diagnostics, result.Diagnostic{Kind: a.Kind, Count: a.Count, Text: a.Text})
	}
	for _, d := range run.Diagnostics {
		if d.Kind == replay.StartMoved {
			c.Diagnostics = append(c.Diagnostics, result.Diagnostic{Kind: d.Kind, Count: d.Count, Text: d.Text})
		}
	}
	s.compare(c, newOutcome(l, run, s.base), ids)
	return c, nil
}

// refusal reports whether err is a verdict of the model's kernel.
func refusal(err error) bool {
	return errors.Is(err, sched.ErrBusy) || errors.Is(err, sched.ErrInval) || errors.Is(err, sched.ErrPerm)
}

// newVerdict is what the kernel refused in a run and not in the unchanged one, "": nothing.
func (s *Study) newVerdict(run *replay.Run) string {
	for _, d := range run.Diagnostics {
		if d.Kind == "verdict" && !slices.ContainsFunc(s.Base.Diagnostics, func(b event.Diagnostic) bool { return b.Text == d.Text }) {
			return d.Text
		}
	}
	return ""
}

// AskAll asks several lists of changes, on all processors. Answers come in the order of the
// questions, whatever the number of processors; errors as well, nil where there is none. When
// ctx is done the rest is not asked, and its error is that of ctx.
func (s *Study) AskAll(ctx context.Context, lists [][]string, ids []string) ([]*result.Changed, []error) {
	answers, errs := make([]*result.Changed, len(lists)), make([]error, len(lists))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(lists)) {
		workers.Go(func() {
			for i := range next {
				if errs[i] = ctx.Err(); errs[i] == nil {
					answers[i], errs[i] = s.Ask(lists[i], ids)
				}
			}
		})
	}
	for i := range lists {
		next <- i
	}
	close(next)
	workers.Wait()
	return answers, errs
}

// compare fills what becomes of waits and tasks.
func (s *Study) compare(c *result.Changed, changed *outcome, ids []string) {
	if ids == nil {
		for i := range s.Load.Recorded {
			ids = append(ids, s.Load.Recorded[i].ID)
		}
	}
	worse := worsened(s.base.waits, changed.waits)
	for _, id := range ids {
		p := s.predict(id, changed)
		if pair, ok := s.pairs[id]; ok && p.Withheld == "" {
			p.WorseNS = int64(worse[row{pair.Recorded.Key.Task, pair.Recorded.Prio}])
		}
		c.Late = append(c.Late, p)
	}
	s.tasks(c, changed)
}

// predict is what becomes of one wait.
func (s *Study) predict(id string, changed *outcome) result.Prediction {
	p := result.Prediction{ID: id}
	pair, ok := s.pairs[id]
	if !ok {
		p.Withheld = "the wait is not part of the replayed load"
		return p
	}
	p.BeforeNS, p.ReplayedNS, p.ErrorNS = told(&pair)
	if p.Withheld = withheld(&pair); p.Withheld != "" {
		return p
	}
	after, why := changed.find(pair.Recorded)
	p.AfterNS, p.Withheld = int64(after), why
	return p
}

// told are a wait and its unchanged replay, and how far they are apart.
func told(p *replay.Pair) (before, replayed, miss int64) {
	b, r := p.Times()
	return int64(b), int64(r), int64(max(b-r, r-b))
}

// withheld is why nothing is predicted for a wait, "": something is.
func withheld(p *replay.Pair) string {
	before, replayed, miss := told(p)
	switch {
	case p.Recorded.Untrusted:
		return "events were lost while it lasted"
	case p.Answerable():
		return ""
	case p.Run == nil:
		return fmt.Sprintf("the unchanged replay does not have this wait of %d µs", before/1000)
	}
	return fmt.Sprintf("the unchanged replay makes %d µs of this wait of %d µs: it misses it by %d µs, more than 20 %% and 50 µs",
		replayed/1000, before/1000, miss/1000)
}

// Withheld says why nothing can be predicted for the wait called id, "" if something can.
func (s *Study) Withheld(id string) string {
	pair, ok := s.pairs[id]
	if !ok {
		return "the wait is not part of the replayed load"
	}
	return withheld(&pair)
}
