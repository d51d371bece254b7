package replay

import (
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
)

// awaits is what a trace shows of a lock without priority inheritance: low, woken at 1 ms, wakes high when it
// has worked for 6 ms, of which mid takes 2 ms in between. Since when high waits is up to the test.
func awaits(since event.Time) *Load {
	l := handMade(
		Task{Attr: fifo(10), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(1 * ms)}, run(6 * ms), {Kind: OpWake, Ref: 2, At: at(9 * ms)}, run(1 * ms)}},
		Task{Attr: fifo(30), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(4 * ms)}, run(2 * ms)}},
		Task{Attr: fifo(40), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(since)}, {Kind: OpWait, Slept: at(since), At: at(9 * ms)}, run(1 * ms)}})
	for i, name := range []string{"low", "mid", "high"} {
		l.Tasks[i].Comm = l.Names.Intern(name)
	}
	return l
}

// TestATaskThatIsNamedHoldsALock: worked out by hand. Raised, low is done at 7 ms and high has the CPU
// until 8 ms; mid waits for both.
func TestATaskThatIsNamedHoldsALock(t *testing.T) {
	for _, c := range []struct {
		since  event.Time
		change string
		mid    event.Time
	}{
		{3 * ms, "mutex=low pi=on", 8 * ms},
		{3 * ms, "mutex=100 pi=on", 8 * ms},
		{3 * ms, "", 4 * ms},
	} {
		l := awaits(c.since)
		if c.change != "" {
			if err := l.Change(c.change); err != nil {
				t.Fatal(err)
			}
			if n := len(l.Assumed); n != 1 || l.Assumed[0].Kind != "lock_named" || l.Assumed[0].Count != 1 {
				t.Errorf("assumed %v, want one lock that was named", l.Assumed)
			}
		}
		got := event.Time(-1)
		for _, w := range waitsOf(t, l) {
			if w.Task == 1 && w.Cycle == 0 {
				got = w.On
			}
		}
		if got != c.mid {
			t.Errorf("%q: mid comes to run at %d, want %d", c.change, got, c.mid)
		}
	}
}

// TestWhatIsNoLock: a task that waits since before the other was woken waits for something else; and a wake
// of a task does not make a lock of it where nobody says so.
func TestWhatIsNoLock(t *testing.T) {
	for _, c := range []struct {
		since  event.Time
		change string
	}{
		{500 * us, "mutex=low pi=on"},
		{3 * ms, "mutex=high pi=on"},
		{3 * ms, "mutex=all pi=on"},
		{3 * ms, "mutex=low pi=off"},
		{3 * ms, "mutex=low held=×0.5"},
	} {
		if err := awaits(c.since).Change(c.change); err == nil || !strings.Contains(err.Error(), "no lock is seen") {
			t.Errorf("%q of a wait since %d: %v, want that there is no lock", c.change, c.since, err)
		}
	}
}

// TestWhoBeganToWaitBeforeTheTrace: high waits for low from the beginning on, which has the CPU then. Raised, low is
// done at 6 ms, before mid; where low is removed the lock is free, and high has it at once.
func TestWhoBeganToWaitBeforeTheTrace(t *testing.T) {
	for _, c := range []struct {
		changes []string
		high    event.Time
	}{
		{nil, 8 * ms},
		{[]string{"mutex=low pi=on"}, 6 * ms},
		{[]string{"mutex=low pi=on", "remove task=low"}, 0},
	} {
		l := awaits(0)
		l.Tasks[0].Begin, l.Tasks[0].Ops = BeginRunning, l.Tasks[0].Ops[1:]
		l.Tasks[2].Ops = l.Tasks[2].Ops[1:]
		for _, text := range c.changes {
			if err := l.Change(text); err != nil {
				t.Fatal(err)
			}
		}
		got := event.Time(-1)
		for _, w := range waitsOf(t, l) {
			if w.Task == 2 && w.Cycle == 0 {
				got = w.On
			}
		}
		if got != c.high {
			t.Errorf("%v: high comes to run at %d, want %d", c.changes, got, c.high)
		}
	}
}
