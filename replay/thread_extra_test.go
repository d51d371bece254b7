package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
)

// TestATaskThatIsInTimeDoesWhatItPassedOver: kept from its CPU until 35 ms, the recorded task
// passed over the times 20 and 30 ms of its timer. Without who kept it it comes then, too.
func TestATaskThatIsInTimeDoesWhatItPassedOver(t *testing.T) {
	load := func(changes ...string) *Load {
		every := 10 * ms
		l := handMade(
			Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(10 * ms), Every: every}, run(1 * ms),
				{Kind: OpSleep, Slept: at(36 * ms), At: at(40 * ms), Every: every}, run(2 * ms), {Kind: OpSleep, Slept: at(42 * ms), At: at(60 * ms), Every: every}, run(1 * ms)}},
			Task{Attr: fifo(60), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(9 * ms)}, run(26 * ms)}})
		l.Tasks[1].Comm = l.Names.Intern("hog")
		for _, c := range changes {
			if err := l.Change(c); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	// The number of a wait as 1 and more, of one of an extra job as −1 and less.
	type wait struct {
		cycle, n  int
		woken, on event.Time
	}
	waits := func(l *Load) (list []wait) {
		r, err := l.Run(RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range r.Waits {
			if w.Key.Task == 0 {
				n := w.Key.N + 1
				if w.Key.Extra() {
					n = -(w.Key.N - extraWait + 1)
				}
				list = append(list, wait{w.Key.Cycle, n, w.Woken - l.From, w.OnCPU - l.From})
			}
		}
		return list
	}
	for _, c := range []struct {
		changes []string
		want    []wait
	}{
		{nil, []wait{{0, 1, 10 * ms, 35 * ms}, {1, 1, 40 * ms, 40 * ms}, {2, 1, 60 * ms, 60 * ms}}},
		// That it sleeps from 42 to 60 ms is its own choice: it is not late then.
		{[]string{"remove task=hog"}, []wait{{0, 1, 10 * ms, 10 * ms}, {1, 1, 40 * ms, 40 * ms}, {1, -1, 20 * ms, 20 * ms}, {1, -2, 30 * ms, 30 * ms}, {2, 1, 60 * ms, 60 * ms}}},
		// Until 22 ms: the time 20 ms is passed over, 30 ms is not.
		{[]string{"task=hog work=×0.5"}, []wait{{0, 1, 10 * ms, 22 * ms}, {1, 1, 40 * ms, 40 * ms}, {1, -1, 30 * ms, 30 * ms}, {2, 1, 60 * ms, 60 * ms}}},
	} {
		if diff := cmp.Diff(c.want, waits(load(c.changes...)), cmp.AllowUnexported(wait{})); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.changes, diff)
		}
	}
}
