package replay

import "github.com/whylate/whylate/event"

// stamps says what the clock of the runqueue was at a wake where no charge tells it: the stamp of
// sched_waking is as far from it as at the last wake with a charge, but for what wakes in softirqs
// take longer. The two clocks go by one counter, at speeds that differ by parts of a million.
type stamps struct {
	softirq int                             // the vector that is served and 1, 0: none
	late    event.Time                      // of the clock behind sched_waking outside of softirqs
	more    [softirqContexts + 1]event.Time // and in softirqs
}

const softirqContexts = 16

// woke is a wake whose charge told the clock.
func (s *stamps) woke(waking, clock event.Time) {
	if s.softirq == 0 {
		s.late = clock - waking
		return
	}
	s.more[s.softirq] = clock - waking - s.late
}

// clockOf is the clock of a wake that has none.
func (s *stamps) clockOf(waking event.Time) event.Time { return waking + s.late + s.more[s.softirq] }
