package explain_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
)

// timerless is a trace in which timers were not recorded.
type timerless struct{ *trace.File }

func (s timerless) Events(o event.Options) (event.Stream, error) {
	var all event.KindSet
	for k := range event.NumKinds {
		if k != event.HrtimerStart && k != event.HrtimerExpireEntry && k != event.HrtimerExpireExit && k != event.HrtimerCancel {
			all |= 1 << k
		}
	}
	o.Want = all
	return s.File.Events(o)
}

// TestPeriodsAgreeWithTimers: without its timer events, the mixed recording must show
// nearly the lateness that the timers prove for the four cyclictest threads, as likely.
// The start of the program, before a thread is on its grid, is told by timers only.
func TestPeriodsAgreeWithTimers(t *testing.T) {
	f, err := trace.Open(shared.Path(t, "traces/mixed-v61-smp4/mixed.dat"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := explain.Options{From: event.NoTime, To: event.NoTime, Tasks: []string{"cyclictest"}, Over: event.Time(us(200))}
	proven, err := explain.Explain(f, o)
	if err != nil {
		t.Fatal(err)
	}
	inferred, err := explain.Explain(timerless{f}, o)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, inferred)
	truth := map[string]int64{}
	for _, l := range proven.Late {
		if l.Prio == 9 && l.DueNS != nil {
			truth[l.ID] = l.LatenessNS
		}
	}
	found, close := 0, 0
	for _, l := range inferred.Late {
		want, ok := truth[l.ID]
		if !ok || l.DueNS == nil {
			continue
		}
		if l.DueVerdict != "likely" {
			t.Errorf("wait %s: due is %s from a regularity", l.ID, l.DueVerdict)
		}
		found++
		if d := l.LatenessNS - want; d > -us(100) && d < us(100) {
			close++
		}
	}
	t.Logf("%d late waits by timers, %d by regularity, %d of them within 100 µs", len(truth), found, close)
	// A wait that regularity misses stays without a due time, which is honest; one that it
	// finds must be right.
	if found*4 < len(truth)*3 || close*20 < found*19 {
		t.Errorf("of %d late waits %d were found by regularity, %d of them within 100 µs", len(truth), found, close)
	}
}

// TestNoPeriodWhereThereIsNone: hackbench tasks are not woken by timers at all, and the
// answer must not invent a due time for them.
func TestNoPeriodWhereThereIsNone(t *testing.T) {
	f, err := trace.Open(shared.Path(t, "traces/mixed-v61-smp4/mixed.dat"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := explain.Explain(timerless{f}, explain.Options{From: event.NoTime, To: event.NoTime, Tasks: []string{"hackbench"}, Over: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Late {
		if l.DueNS != nil {
			t.Errorf("wait %s of hackbench has a due time", l.ID)
		}
	}
}
