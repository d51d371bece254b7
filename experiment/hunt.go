package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// Hunt is the search of `whylate worst`: for the arrivals of a task at which one of its jobs is
// worst.
type Hunt struct {
	Plan *scenario.Plan
	Task string
	Vary Vary
	What What
	// Resolution is how far apart the starts on the even grid are; 0: at most a few hundred.
	Resolution event.Time
	// Budget is how many runs there may be; 0: as many as the grid needs, at least 2,000 and
	// at most 20,000.
	Budget  int
	Seed    uint64
	Workers int
	Enough  func() bool
	// State is a file that the search goes on from, where it exists, and writes after each
	// generation; "": none. Key names the search: a file with another one is refused.
	State, Key string
	Progress   func(Progress)
}

const (
	leastBudget = 2_000
	mostBudget  = 20_000
)

// String is the word for it on the command line.
func (v Vary) String() string { return [...]string{"phase", "arrivals", "all"}[v] }

// Run searches and tells the worst. Errors are those of the scenario, its runs and the file, and
// of ctx: the file then has what was done.
func (h *Hunt) Run(ctx context.Context) (*result.WorstCase, error) {
	a, err := NewArrivals(h.Plan, h.Task, h.Vary)
	if err != nil {
		return nil, err
	}
	points, kinds, err := a.Points(ctx, h.Resolution)
	if err != nil {
		return nil, err
	}
	// Theory speaks of jobs that are not disturbed by the start of the program.
	bound, noBound := a.Bound(h.What)
	s := Search{Axes: a.Axes(), First: points, Near: a.Near, Budget: h.Budget, Seed: h.Seed, Workers: h.Workers, Enough: h.Enough, Progress: h.Progress}
	s.Run = func(ctx context.Context, at []event.Time) (Measured, error) {
		seen, err := a.Measure(ctx, at, h.What, noBound == nil)
		return Measured{int64(seen.Value), seen.Job.Released}, err
	}
	if s.Budget <= 0 {
		s.Budget = min(max(leastBudget, len(points)*3/2), mostBudget)
	}
	if h.State != "" {
		if s.Resume, err = h.load(); err != nil {
			return nil, err
		}
		s.Save = h.save
	}
	found, err := Worst(ctx, s)
	if err != nil {
		return nil, err
	}
	r, err := a.Story(ctx, found.At, h.What, noBound == nil)
	if err != nil {
		return nil, err
	}
	r.Search = result.ArrivalSearch{Vary: h.Vary.String(), Seed: h.Seed, Budget: s.Budget, Runs: found.Runs, Proven: found.Proven(), Grid: found.Of, GridTried: found.Tried, GridWorstNS: found.GridBest,
		Instants: kinds.Instants, InstantsCut: kinds.Cut, ResolutionNS: int64(kinds.Resolution), Again: found.Again, Improved: []result.WorstImprove{}}
	for _, i := range found.Improved {
		r.Search.Improved = append(r.Search.Improved, result.WorstImprove{Run: i.Run, NS: i.Value})
		r.Search.FoundRun = i.Run
	}
	if noBound != nil {
		r.Theory.Why = noBound.Error()
		return r, nil
	}
	ns, gap := int64(bound), int64(bound)-r.WorstNS
	r.Theory = result.ArrivalTheory{BoundNS: &ns, GapNS: &gap, Why: "response-time analysis for fixed priorities on one CPU"}
	return r, nil
}

// stateFile is what the file of a search holds.
type stateFile struct {
	Schema string `json:"schema"`
	Key    string `json:"key"`
	State  State  `json:"state"`
}

const stateSchema = "whylate.worst-state/1"

// mostState bounds what is read of a file.
const mostState = 64 << 20

// hash is the name of the search in the file.
func (h *Hunt) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%d\x00%d", h.Key, h.Task, h.Vary, h.What, h.Resolution, h.Seed))
	return hex.EncodeToString(sum[:16])
}

// load reads the state to go on from, nil: there is no file yet.
func (h *Hunt) load() (*State, error) {
	info, err := os.Stat(h.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the state of the search: %w", err)
	}
	if info.Size() > mostState {
		return nil, fmt.Errorf("%s is no state of a search: it is larger than any", h.State)
	}
	text, err := os.ReadFile(h.State)
	if err != nil {
		return nil, fmt.Errorf("reading the state of the search: %w", err)
	}
	var f stateFile
	if err := json.Unmarshal(text, &f); err != nil || f.Schema != stateSchema {
		return nil, fmt.Errorf("%s is no state of a search that whylate worst wrote", h.State)
	}
	if f.Key != h.hash() {
		return nil, fmt.Errorf("%s is of another search: the scenario, its changes, --task, --vary, --measure, --resolution and --seed must be the same", h.State)
	}
	return &f.State, nil
}

// save writes the state beside the file and puts it in its place, so that there is always a
// whole one.
func (h *Hunt) save(s *State) error {
	text, err := json.Marshal(stateFile{stateSchema, h.hash(), *s})
	if err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(h.State), filepath.Base(h.State)+".*")
	if err != nil {
		return fmt.Errorf("writing the state of the search: %w", err)
	}
	_, err = t.Write(append(text, '\n'))
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), h.State)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing the state of the search: %w", err), os.Remove(t.Name()))
	}
	return nil
}
