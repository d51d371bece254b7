package truth_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/truth"
)

func holder(pid event.PID, prio event.Prio) truth.Holder {
	return truth.Holder{PID: pid, Prio: prio, Normal: prio, Rule: truth.RealTime}
}

func TestStretchesAreCutToWhatIsAsked(t *testing.T) {
	var l truth.Log
	a, b := holder(1, 10), holder(2, 20)
	l.Hold(0, 0, a)
	l.Hold(5, 0, a) // nothing new
	l.Hold(10, 0, b)
	l.Hold(20, 0, a)
	l.Hold(20, 0, b) // a had it for no time
	l.Hold(30, 0, a)
	l.End(40)
	for _, c := range []struct {
		from, to event.Time
		want     []truth.Stretch
	}{
		{0, 40, []truth.Stretch{{Holder: a, From: 0, To: 10}, {Holder: b, From: 10, To: 20}, {Holder: b, From: 20, To: 30}, {Holder: a, From: 30, To: 40}}},
		{12, 13, []truth.Stretch{{Holder: b, From: 12, To: 13}}},
		{35, 99, []truth.Stretch{{Holder: a, From: 35, To: 40}}},
		{50, 60, nil},
		{7, 7, nil},
	} {
		if diff := cmp.Diff(c.want, slices.Collect(l.On(0, c.from, c.to))); diff != "" {
			t.Errorf("from %d to %d (-want +got):\n%s", c.from, c.to, diff)
		}
	}
	if _, ok := l.At(3, 5); ok {
		t.Error("somebody held a CPU that does not exist")
	}
	if h, ok := l.At(0, 29); !ok || h != b {
		t.Errorf("at 29: %v %v, want %v", h, ok, b)
	}
}

func TestThrottledTimes(t *testing.T) {
	var l truth.Log
	l.Throttle(10, 7, true)
	l.Throttle(12, 7, true) // it still is
	l.Throttle(20, 7, false)
	l.Throttle(21, 7, false)
	l.Throttle(30, 7, true)
	l.End(50)
	for _, c := range []struct{ from, to, want event.Time }{{0, 100, 30}, {15, 32, 7}, {20, 30, 0}, {40, 60, 10}} {
		if got := l.ThrottledNS(7, c.from, c.to); got != c.want {
			t.Errorf("from %d to %d: %d, want %d", c.from, c.to, got, c.want)
		}
	}
	if got := l.ThrottledNS(8, 0, 100); got != 0 {
		t.Errorf("another task: %d", got)
	}
}
