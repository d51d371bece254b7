package experiment

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
)

// State is a search between two generations. It can be kept as JSON.
type State struct {
	// Axes and Seed are those of the search, First is its number of first points: a state of
	// another search is refused by them.
	Axes  int    `json:"axes"`
	First int    `json:"first"`
	Seed  uint64 `json:"seed"`

	Generation int           `json:"generation"` // how many are done
	Runs       int           `json:"runs"`
	Tried      int           `json:"tried"`     // points of First
	TriedBy    int           `json:"tried_by"`  // the run that tried the last of them, 0: none yet
	GridBest   int64         `json:"grid_best"` // the largest value of them
	Best       *Point        `json:"best"`
	Improved   []Improvement `json:"improved"`
	Again      int           `json:"again"`
	// Elite are the best points since the swarm was last scattered, the best first; Fresh is
	// the generation in which the best of them came.
	Elite []Point `json:"elite"`
	Fresh int     `json:"fresh"`
}

// Point is a point with what was measured there.
type Point struct {
	At    []event.Time `json:"at_ns"`
	Value int64        `json:"value"`
	When  event.Time   `json:"when_ns"`
	// Asked is how many of the steps that Near names were tried from here.
	Asked int `json:"asked"`

	near  []Move
	known bool // near is asked for
}

// mostElite is how many points the swarm goes on from.
const mostElite = 12

// patience is after how many generations without a better point the swarm is scattered.
const patience = 12

func (s *State) clone() State {
	c := *s
	c.Improved, c.Elite = slices.Clone(s.Improved), slices.Clone(s.Elite)
	return c
}

// last is the number of the run that found the best point.
func (s *State) last() int {
	if n := len(s.Improved); n > 0 {
		return s.Improved[n-1].Run
	}
	return 0
}

func (s *State) best() int64 {
	if s.Best == nil {
		return 0
	}
	return s.Best.Value
}

// take enters one run.
func (s *State) take(at []event.Time, m Measured, grid bool) {
	if grid && (s.Tried == 0 && s.Runs == 0 || m.Value > s.GridBest) {
		s.GridBest = m.Value
	}
	s.Runs++
	p := Point{At: slices.Clone(at), Value: m.Value, When: m.When}
	switch {
	case s.Best == nil || m.Value > s.Best.Value:
		s.Best, s.Again = &p, 0
		s.Improved = append(s.Improved, Improvement{s.Runs, m.Value})
	case m.Value == s.Best.Value:
		s.Again++
	}
	// Behind all that are as good: the first one found stays in front.
	i := 0
	for i < len(s.Elite) && s.Elite[i].Value >= m.Value {
		if slices.Equal(s.Elite[i].At, at) {
			return
		}
		i++
	}
	if i >= mostElite {
		return
	}
	if i == 0 {
		s.Fresh = s.Generation
	}
	s.Elite = slices.Insert(s.Elite, i, p)
	s.Elite = s.Elite[:min(len(s.Elite), mostElite)]
}

// endGeneration scatters a swarm that has got stuck: the best point is kept in Best only. It
// is not stuck as long as its best point has steps that are likely to matter.
func (s *State) endGeneration(grid bool, runs int) {
	s.Generation++
	if grid {
		if s.Tried += runs; s.Tried == s.First {
			s.TriedBy = s.Runs
		}
	}
	if s.Tried < s.First {
		s.Fresh = s.Generation
		return
	}
	if s.Generation-s.Fresh <= patience || len(s.Elite) > 0 && s.Elite[0].Asked < len(s.Elite[0].near) {
		return
	}
	s.Elite, s.Fresh = nil, s.Generation
}

// check refuses the state of another search.
func (w *swarm) check(s *State) error {
	if s.Axes != len(w.Axes) || s.First != len(w.First) || s.Seed != w.Seed {
		return fmt.Errorf("the search to go on with is another one: %d numbers, %d first points, seed %d, and not %d, %d and %d",
			s.Axes, s.First, s.Seed, len(w.Axes), len(w.First), w.Seed)
	}
	if s.Generation < 0 || s.Runs < 0 || s.Tried < 0 || s.Tried > s.First {
		return fmt.Errorf("the search to go on with has done %d generations, %d runs and %d of %d first points", s.Generation, s.Runs, s.Tried, s.First)
	}
	points := s.Elite
	if s.Best != nil {
		points = append([]Point{*s.Best}, points...)
	}
	for i := range points {
		at := points[i].At
		if points[i].Asked < 0 {
			return fmt.Errorf("the search to go on with has asked %d times at a point", points[i].Asked)
		}
		if len(at) != len(w.Axes) {
			return fmt.Errorf("the search to go on with has a point of %d numbers, not %d", len(at), len(w.Axes))
		}
		for k, v := range at {
			if v < 0 || v > w.Axes[k].Max {
				return fmt.Errorf("the search to go on with has a point at %d ns of %s, which ends at %d", v, w.Axes[k].Name, w.Axes[k].Max)
			}
		}
	}
	return nil
}
