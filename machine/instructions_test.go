package machine

import (
	"testing"

	"github.com/whylate/whylate/sched"
)

// TestPiecesAddUp compares sums of the prices with whole calls of put_prev_task_fair() in 6.1,
// counted one instruction after the other under emulation: three fair tasks at depth 0 to 4 of
// groups; the medians of 125 to 137 calls where PELT periods have ended at every level, and of
// 51 to 57 where none has.
func TestPiecesAddUp(t *testing.T) {
	for depth, counted := range [][2]int64{{512, 378}, {955, 693}, {1396, 1006}, {1837, 1289}, {2278, 1632}} {
		levels := depth + 1
		w := sched.FairWork{PutPrevs: levels, Charged: levels, Inserts: 1, Depth: 2, PeltUpdates: 2 * levels, PeltPeriods: 2 * levels, PeltDecays: 6 * levels}
		for i, want := range counted {
			got := putPrevInstructions(sched.RankFair, &w)
			if got < want*95/100 || got > want*105/100 {
				t.Errorf("depth %d, case %d: %d instructions, counted were %d", depth, i, got, want)
			}
			w.PeltDecays, w.PeltPeriods = 0, 0
		}
	}
	for class, counted := range map[int][2]int64{sched.RankRT: {104, 165}, sched.RankIdle: {2, 2}} {
		var w sched.FairWork
		if class == sched.RankRT {
			w.PeltUpdates = 1
		}
		for i, want := range counted {
			if got := putPrevInstructions(class, &w); got != want && (got < want-2 || got > want+2) {
				t.Errorf("class %d, case %d: %d instructions, counted were %d", class, i, got, want)
			}
			if class == sched.RankRT {
				w.PeltDecays = 3
			}
		}
	}
}
