package truth_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/truth"
)

func TestCoversAreCutToWhatIsAsked(t *testing.T) {
	var l truth.Log
	disk, net := truth.Cover{Kind: truth.HardIRQ, N: 14}, truth.Cover{Kind: truth.SoftIRQ, N: 3}
	l.Cover(5, 0, truth.Cover{}) // nothing ends
	l.Cover(10, 0, disk)
	l.Cover(12, 0, disk) // the same
	l.Cover(20, 0, net)
	l.Cover(25, 0, truth.Cover{})
	l.Cover(25, 0, net) // it goes on
	l.Cover(30, 0, disk)
	l.Cover(30, 0, truth.Cover{}) // it took no time
	l.Cover(40, 0, disk)
	l.End(50)
	for _, c := range []struct {
		from, to event.Time
		want     []truth.Covering
	}{
		{0, 99, []truth.Covering{{Cover: disk, From: 10, To: 20}, {Cover: net, From: 20, To: 30}, {Cover: disk, From: 40, To: 50}}},
		{15, 22, []truth.Covering{{Cover: disk, From: 15, To: 20}, {Cover: net, From: 20, To: 22}}},
		{30, 40, nil},
	} {
		if diff := cmp.Diff(c.want, slices.Collect(l.Covers(0, c.from, c.to))); diff != "" {
			t.Errorf("from %d to %d (-want +got):\n%s", c.from, c.to, diff)
		}
	}
	if got := slices.Collect(l.Covers(event.NoCPU, 0, 99)); got != nil {
		t.Errorf("no CPU is covered by %v", got)
	}
}

func TestStatesOfRunqueues(t *testing.T) {
	var l truth.Log
	l.RTThrottle(10, 1, true)
	l.RTThrottle(11, 1, true)
	l.RTThrottle(20, 1, false)
	l.FairServe(30, 1, true)
	l.End(40)
	if got, want := slices.Collect(l.RTThrottled(1, 0, 15)), []truth.Span{{From: 10, To: 15}}; !slices.Equal(got, want) {
		t.Errorf("throttled %v, want %v", got, want)
	}
	if got, want := slices.Collect(l.FairServed(1, 0, 99)), []truth.Span{{From: 30, To: 40}}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
	if got := slices.Collect(l.RTThrottled(0, 0, 99)); got != nil {
		t.Errorf("another CPU: %v", got)
	}
}

func TestAnExitBeginsOnce(t *testing.T) {
	var l truth.Log
	l.Exit(10, 7)
	l.Exit(20, 7)
	if got := l.ExitOf(7); got != 10 {
		t.Errorf("it began at %d, want 10", got)
	}
	if got := l.ExitOf(8); got != event.NoTime {
		t.Errorf("a living task began to exit at %d", got)
	}
}

func TestATimerIsNotDueBeforeItIsArmed(t *testing.T) {
	var l truth.Log
	l.Arm(10, 7, 5)
	l.Serve(12, 7, 1, 0)
	l.Arm(20, 7, 25)
	l.Arm(22, 7, 30) // in place of the one before
	l.Serve(33, 7, 1, 90)
	l.Serve(34, 7, 1, 90) // none is open
	want := truth.Timer{Armed: 10, Due: 10, Served: 12, CPU: 1}
	if got, ok := l.TimerOf(7, 12); !ok || got != want {
		t.Errorf("at 12: %v %v, want %v", got, ok, want)
	}
	want = truth.Timer{Armed: 22, Due: 30, Served: 33, CPU: 1, By: 90}
	if got, ok := l.TimerOf(7, 33); !ok || got != want {
		t.Errorf("at 33: %v %v, want %v", got, ok, want)
	}
	for _, at := range []event.Time{11, 20, 25, 34} {
		if got, ok := l.TimerOf(7, at); ok {
			t.Errorf("at %d: %v", at, got)
		}
	}
}

func TestWaits(t *testing.T) {
	var l truth.Log
	a, b := truth.Queued{CPU: 0, Prio: 10, Normal: 10, Rule: truth.RealTime}, truth.Queued{CPU: 1, Prio: 10, Normal: 10, Rule: truth.RealTime}
	l.Run(5, 7) // it did not wait
	l.Wait(10, 7, true, a)
	l.Wait(12, 7, true, a)
	l.Wait(20, 7, true, b)
	l.Run(30, 7)
	l.Wait(40, 7, false, b)
	l.Wait(40, 7, false, a) // moved in the same moment
	l.End(50)
	want := []truth.Wait{
		{PID: 7, Slept: true, From: 10, To: 30, Parts: []truth.Part{{Queued: a, From: 10, To: 20}, {Queued: b, From: 20, To: 30}}},
		{PID: 7, Open: true, From: 40, To: 50, Parts: []truth.Part{{Queued: a, From: 40, To: 50}}},
	}
	var got []truth.Wait
	for w := range l.Waits() {
		got = append(got, *w)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
