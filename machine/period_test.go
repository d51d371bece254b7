package machine_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// TestQuotaTimerMoves: a period timer that is set anew while it runs expires once in each period from
// then on, as one timer does.
func TestQuotaTimerMoves(t *testing.T) {
	names, expired := event.NewNames(), []event.Time{}
	m := machine.New(plain(1), names, func(ev *event.Event) {
		if ev.Kind == event.HrtimerExpireEntry && names.String(ev.Func) == "sched_cfs_period_timer" {
			expired = append(expired, ev.Time)
		}
	})
	g := limited(t, m, nil, 20*ms, 100*ms, 0)
	m.Sched.ForceQuotaRested(g, 130*ms)
	member(t, m, g, 0, &worker{run: s})
	if err := m.RunUntil(500 * ms); err != nil {
		t.Fatal(err)
	}
	want := []event.Time{130 * ms, 230 * ms, 330 * ms, 430 * ms}
	if len(expired) != len(want) {
		t.Fatalf("it expired at %v, want %v", expired, want)
	}
	for i := range want {
		if expired[i] != want[i] {
			t.Errorf("it expired at %v, want %v", expired, want)
		}
	}
}
