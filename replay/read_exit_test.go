package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
)

// TestTheLastJobIsNoExit: work of a task that is told to die in its last run, by operation, and what of it is
// no exit.
func TestTheLastJobIsNoExit(t *testing.T) {
	dying := func(ns event.Time) Op { return Op{Kind: OpRun, NS: ns, Dying: true} }
	for _, c := range []struct {
		ops   []Op
		alive event.Time
		want  []event.Time // negative: dying
	}{
		{[]Op{dying(5 * ms), {Kind: OpExit}}, 2 * ms, []event.Time{2 * ms, -3 * ms}},
		{[]Op{dying(1 * ms), dying(5 * ms), {Kind: OpExit}}, 2 * ms, []event.Time{2 * ms, -4 * ms}},
		{[]Op{dying(1 * ms), {Kind: OpExit}}, 2 * ms, []event.Time{1 * ms}},
		{[]Op{dying(1 * ms), {Kind: OpExit}}, -1 * ms, []event.Time{-1 * ms}},
	} {
		s := &script{ops: c.ops}
		s.alive(0, c.alive)
		var got []event.Time
		ops, _ := s.merge()
		for _, op := range ops {
			switch {
			case op.Kind != OpRun:
			case op.Dying:
				got = append(got, -op.NS)
			default:
				got = append(got, op.NS)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.ops, diff)
		}
	}
}
