package replay

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// locked is a task of low priority that works for 6 ms under a lock for which an important one
// comes after 3 ms, and one between the two, which comes after 4 ms and would not have to
// wait for the low one.
func locked(t *testing.T, changes ...string) *Load {
	t.Helper()
	l := handMade(
		Task{Attr: fifo(10), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(1 * ms)}, {Kind: OpLock}, run(6 * ms), {Kind: OpUnlock}, run(1 * ms)}},
		Task{Attr: fifo(30), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(4 * ms)}, run(2 * ms)}},
		Task{Attr: fifo(40), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(3 * ms)}, {Kind: OpLock}, run(1 * ms), {Kind: OpUnlock}}})
	for i, name := range []string{"low", "mid", "high"} {
		l.Tasks[i].Comm = l.Names.Intern(name)
	}
	l.Mutexes = []Mutex{{PI: true, Held: -1}}
	for _, c := range changes {
		if err := l.Change(c); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// TestWhatIsDoneUnderALock: worked out by hand. low holds the lock until 7 ms, raised from 3 ms
// on; then high has it for 1 ms; mid comes to run at 8 ms.
func TestWhatIsDoneUnderALock(t *testing.T) {
	for _, c := range []struct {
		changes []string
		mid     event.Time
	}{
		{nil, 8 * ms},
		{[]string{"mutex=low held=×0.5"}, 5 * ms},                // low holds it until 4 ms, high until 5
		{[]string{"mutex=low held=outside"}, 4 * ms},             // high works from 3 to 4 ms
		{[]string{"mutex=high held=outside"}, 8 * ms},            // it works all the same, and before mid
		{[]string{"mutex=0 held=×0.5"}, 4*ms + 500*us},           // high, too, holds it for half as long
		{[]string{"mutex=all pi=off"}, 4 * ms},                   // nobody is raised
		{[]string{"task=low work=×0.5"}, 5 * ms},                 // all of its work
		{[]string{"task=mid policy=fifo prio=41"}, 4 * ms},       // before the raised one
		{[]string{"task=101 policy=fifo prio=41"}, 4 * ms},       // by its pid
		{[]string{"remove task=low"}, 4 * ms},                    // high works from 3 to 4 ms
		{[]string{"mutex=l* pi=on held=outside"}, 4 * ms},        // a pattern
		{[]string{"mutex=low/100 held=×2"}, 14 * ms},             // until 13 ms
		{[]string{"mutex=low held=×0", "mutex=0 pi=on"}, 4 * ms}, // two changes
	} {
		got := event.Time(-1)
		for _, w := range waitsOf(t, locked(t, c.changes...)) {
			if w.Task == 1 && w.Cycle == 0 {
				got = w.On
			}
		}
		if got != c.mid {
			t.Errorf("%v: mid comes to run at %d, want %d", c.changes, got, c.mid)
		}
	}
	for _, bad := range []string{"mutex=1 pi=on", "mutex=mid held=×0.5", "mutex=nobody pi=off"} {
		if err := locked(t).Change(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestOneTaskBecomesOrdinaryBeforeItExits, another that dies does not.
func TestOneTaskBecomesOrdinaryBeforeItExits(t *testing.T) {
	load := func(change string) *Load {
		dies := Task{Attr: fifo(11), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(4 * ms)}, {Kind: OpRun, NS: 5 * ms, Mode: machine.Kernel, Dying: true}, {Kind: OpExit}}}
		l := handMade(dies, dies, Task{Attr: fifo(10), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(5 * ms)}, run(1 * ms)}})
		if err := l.Change(change); err != nil {
			t.Fatal(err)
		}
		return l
	}
	for change, want := range map[string]event.Time{"task=10[01] exit_normalize=rt": 5 * ms, "task=101 exit_normalize=all": 9 * ms, "task=100 exit_normalize=off": 14 * ms} {
		got := event.Time(-1)
		for _, w := range waitsOf(t, load(change)) {
			if w.Task == 2 {
				got = w.On
			}
		}
		if got != want {
			t.Errorf("%s: it comes at %d, want %d", change, got, want)
		}
	}
}
