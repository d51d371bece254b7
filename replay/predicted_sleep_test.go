package replay_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace"
)

// sleeps finds how long tasks slept until another task woke them and they had the CPU: what a
// lock costs, of which waits tell nothing.
type sleeps struct {
	p      *pair
	names  *event.Names
	start  event.Time
	asleep map[event.PID]sleeper
	list   []figure
}

type sleeper struct {
	since  event.Time
	byTask bool
}

var sleepNeeds = event.Kinds(event.SchedSwitch, event.SchedWaking)

func (p *pair) newSleeps(names *event.Names, start event.Time) *sleeps {
	return &sleeps{p: p, names: names, start: start, asleep: map[event.PID]sleeper{}}
}

func (s *sleeps) push(ev *event.Event) {
	if ev.Time < s.start {
		return
	}
	switch ev.Kind {
	case event.SchedWaking:
		if a, ok := s.asleep[ev.Task]; ok {
			s.asleep[ev.Task] = sleeper{a.since, ev.Flags&event.HardIRQ == 0}
		}
	case event.SchedSwitch:
		if a := s.asleep[ev.Next]; a.byTask && ev.Time-a.since >= named {
			s.list = append(s.list, figure{s.names.String(ev.NextComm), "blocked", int64(a.since - s.start), int64(ev.Time - a.since)})
		}
		delete(s.asleep, ev.Next)
		if slices.Contains(strings.Fields(s.p.watch), s.names.String(ev.TaskComm)) && !ev.State.Runnable() && !ev.State.Dead() {
			s.asleep[ev.Task] = sleeper{since: ev.Time}
		}
	}
}

// blocked is what sleeps finds in a recording.
func (p *pair) blocked(t *testing.T, name string, start event.Time) []figure {
	t.Helper()
	src, err := trace.Open(p.file(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	st, err := src.Events(event.Options{Want: sleepNeeds})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := p.newSleeps(src.Names(), start)
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return s.list
		}
		if err != nil {
			t.Fatal(err)
		}
		s.push(ev)
	}
}
