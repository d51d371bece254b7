package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// quietHost is a Host that stands still.
type quietHost struct{ now event.Time }

func (h *quietHost) Now() event.Time                  { return h.now }
func (h *quietHost) Resched(_, _ event.CPU, _ bool)   {}
func (h *quietHost) SetTimer(Timer, event.Time)       {}
func (h *quietHost) CancelTimer(Timer)                {}
func (h *quietHost) Kick(_, _ event.CPU)              {}
func (h *quietHost) KickWakeList(_, _ event.CPU)      {}
func (h *quietHost) RaiseBalance(event.CPU)           {}
func (h *quietHost) KickBalance(_, _ event.CPU)       {}
func (h *quietHost) Price(*Work) event.Time           { return 0 }
func (h *quietHost) Stopper(event.CPU) *Task          { return nil }
func (h *quietHost) Emit(_ event.CPU, _ *event.Event) {}

func TestPlacedFairTasksGoInTheOrderOfTheirPlaces(t *testing.T) {
	cfg := DefaultConfig(1)
	cfg.FairPlaced = true
	host := &quietHost{now: 1_000_000}
	s := New(cfg, host, event.NewNames())
	var tasks []*Task
	for i, place := range []event.Time{300, 100, 200} {
		p, err := s.NewTask(event.PID(10+i), 0, Attr{Policy: Normal, Nice: 5 * i}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.SetFairPlace(p, place)
		s.WakeUpNewTask(0, p)
		tasks = append(tasks, p)
	}
	s.Schedule(0, false)
	if got := s.Curr(0); got != tasks[1] {
		t.Fatalf("task %d runs first", got.PID)
	}
	// 50 ns of work do not reach the next place; a new place behind it makes way.
	host.now += 50
	if s.SetFairPlace(tasks[1], 150); s.NeedResched(0) || s.NeedReschedLazy(0) {
		t.Error("it is asked to leave although it still is the first")
	}
	if s.SetFairPlace(tasks[1], 250); !s.NeedResched(0) && !s.NeedReschedLazy(0) {
		t.Error("it is not asked to leave for the one before it")
	}
	s.Schedule(0, false)
	if got := s.Curr(0); got != tasks[2] {
		t.Fatalf("task %d runs second", got.PID)
	}
	// A place grows by what its task runs: 200 + 60 is behind 250, whatever the nice value.
	host.now += 60
	s.Block(0, event.StateSleeping)
	s.Schedule(0, false)
	if got := s.Curr(0); got != tasks[1] {
		t.Fatalf("task %d runs third", got.PID)
	}
	if err := s.Check(tasks); err != nil {
		t.Error(err)
	}
}
