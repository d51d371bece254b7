package report

import (
	"io"
	"testing"

	"github.com/whylate/whylate/result"
)

// TestWorst: a response with a wait, a lock and its own work, which theory bounds; one of which
// only the grid is proven; a wait that never ended; and no job at all.
func TestWorst(t *testing.T) {
	at := func(ns int64) *int64 { return &ns }
	wait := machine().Late[0]
	full := &result.WorstCase{Scenario: "load.json", Kernel: "6.1", CPUs: 1, Task: "ctl", Comm: "ctl-1", PID: 1002, Class: "rt", Prio: 19, Measure: "response",
		WorstNS: wait.LatenessNS + 3_000_000 + 50_000 + 803_200, Job: result.WorstJob{Number: 31, ReleasedNS: 621_011_400, DoneNS: at(621_011_400 + wait.LatenessNS + 3_853_200)},
		WaitsNS: wait.LatenessNS, SlackNS: 50_000, BlockedNS: 3_000_000, OwnNS: 803_200, Waits: []result.Late{wait}, Input: machine().Input,
		Blocked:  []result.Blocked{{Comm: "lo-3", PID: 1004, Prio: 19, NS: 2_000_000, Woke: true}, {Comm: "hi-0", PID: 1001, Prio: 9, NS: 900_000}},
		Arrivals: result.Arrivals{Changes: []string{"arrivals=ctl delay=1003.750us later=3:20us", "arrivals=lo delay=7us"}, ReleasesNS: []int64{601_003_750, 621_011_400}, Others: []result.OtherRelease{{Comm: "hi-0", PID: 1001, FromNS: 1_996_300}, {Comm: "lo-3", PID: 1004, FromNS: -1_003_800}}},
		Search:   result.ArrivalSearch{Vary: "arrivals", Seed: 1, Budget: 6117, Runs: 6117, Proven: true, Grid: 4078, GridTried: 4078, GridWorstNS: 3_000_000, Instants: 997, ResolutionNS: 100_000, FoundRun: 836, Again: 262},
		Theory:   result.ArrivalTheory{BoundNS: at(20_000_000), GapNS: at(20_000_000 - wait.LatenessNS - 3_853_200), Why: "response-time analysis"},
		Replay:   "whylate run load.json --change 'arrivals=ctl delay=1003.750us later=3:20us'"}
	proven := *full
	proven.Theory.GapNS = at(0)
	grid := *full
	grid.Theory = result.ArrivalTheory{Why: "the machine's own work takes time"}
	grid.Search.GridWorstNS, grid.Arrivals.Changes, grid.Replay = grid.WorstNS, nil, ""
	open := *full
	open.Measure, open.Open, open.Job.DoneNS, open.BlockedNS, open.SlackNS, open.OwnNS, open.Blocked = "wait", true, nil, 0, 0, 0, nil
	open.Search.InstantsCut = true
	open.Search.Proven, open.Search.GridTried, open.Theory = false, 700, grid.Theory
	none := &result.WorstCase{Scenario: "load.json", Kernel: "6.1", CPUs: 2, Task: "once", Search: result.ArrivalSearch{Runs: 7}}
	for _, c := range []struct {
		name string
		in   *result.WorstCase
		o    Options
	}{{"worst", full, Options{}}, {"worst-nano", &proven, Options{Nano: true}}, {"worst-grid", &grid, Options{Verbose: true}}, {"worst-open", &open, Options{}}, {"worst-none", none, Options{}}} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, func(w io.Writer) error { return Worst(w, c.in, c.o) })
		})
	}
}
