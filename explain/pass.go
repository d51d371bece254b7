package explain

import (
	"errors"
	"fmt"
	"io"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/timeline"
)

// facts are what a pass learns of the input as a whole.
type facts struct {
	events     int64
	lost       int64 // −1: an unknown number
	start, end event.Time
	diags      []event.Diagnostic
}

// pass reads src once and hands each event with its step to visit.
func pass(src Source, o event.Options, tr *timeline.Tracker, visit func(*event.Event, timeline.Step)) (facts, error) {
	f := facts{start: event.NoTime, end: event.NoTime}
	s, err := src.Events(o)
	if err != nil {
		return f, fmt.Errorf("starting to read events: %w", err)
	}
	defer s.Close()
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			// What was read so far still counts; the reader's error becomes part of the answer.
			if f.events == 0 {
				return f, fmt.Errorf("reading events: %w", err)
			}
			f.diags = event.Diagnose(f.diags, "truncated", 1, err.Error())
			break
		}
		f.see(ev)
		step := tr.Push(ev)
		visit(ev, step)
	}
	for _, d := range s.Diagnostics() {
		f.diags = event.Diagnose(f.diags, d.Kind, d.Count, d.Text)
	}
	if f.events == 0 {
		return f, errors.New("the trace holds no events that whylate can use; `whylate info` shows what is in it")
	}
	// The size of the trace does not depend on what a pass asked for; start and end stay
	// those of the events that it saw.
	f.events += event.PassedOver(s)
	return f, nil
}

func (f *facts) see(ev *event.Event) {
	if ev.Kind == event.Gap {
		switch {
		case ev.Arg < 0:
			f.lost = -1
		case f.lost >= 0:
			f.lost += ev.Arg
		}
		return
	}
	f.events++
	if f.start == event.NoTime {
		f.start = ev.Time
	}
	f.end = max(f.end, ev.Time)
}

// input fills the head of every result.
func (f *facts) input(src Source, o *Options, cpus int) result.Input {
	info := o.info(src)
	in := result.Input{File: o.File, Format: info.Format, Kernel: info.Kernel, CPUs: info.CPUs, Clock: info.Clock,
		Events: f.events, Lost: f.lost, StartNS: int64(f.start), EndNS: int64(f.end)}
	if in.CPUs < cpus {
		in.CPUs = cpus
	}
	return in
}

// diagnostics turns what the passes noticed into the result's form.
func diagnostics(f *facts, tr *timeline.Tracker, lt *latency.Tracker) []result.Diagnostic {
	list := f.diags
	if tr.Broken > 0 {
		list = event.Diagnose(list, "broken_chain", tr.Broken,
			"sched_switch events do not follow each other; waits that touch such a place are unknown")
	}
	if tr.OddCPU > 0 {
		list = event.Diagnose(list, "corrupt_event", tr.OddCPU, "events with an impossible CPU number were passed over")
	}
	if lt != nil && tr.Switches == 0 {
		list = event.Diagnose(list, "missing_events", 1,
			"no sched_switch: nobody can tell who ran; record sched:sched_switch and sched:sched_waking")
	} else if lt != nil && lt.Wakings == 0 && lt.Wakeups == 0 {
		list = event.Diagnose(list, "missing_events", 1,
			"no sched_waking and no sched_wakeup: only preemption waits can be seen; record sched:sched_waking")
	} else if lt != nil && lt.Wakings == 0 {
		list = event.Diagnose(list, "missing_events", 1,
			"no sched_waking: waits start at sched_wakeup, which comes later; record sched:sched_waking")
	}
	if lt != nil && lt.Unwoken > 0 && lt.Wakings+lt.Wakeups > 0 {
		list = event.Diagnose(list, "inferred", lt.Unwoken, "tasks came to a CPU without a wake in the trace; no wait is counted for them")
	}
	if lt != nil && lt.Lone > 0 {
		list = event.Diagnose(list, "inferred", lt.Lone, "sched_wakeup events without their sched_waking; these waits are not counted")
	}
	if lt != nil && lt.Unseen > 0 {
		list = event.Diagnose(list, "inferred", lt.Unseen,
			"tasks were woken once more while they seemed to wait, so they ran unseen; these waits are not counted")
	}
	out := make([]result.Diagnostic, 0, len(list))
	for _, d := range list {
		out = append(out, result.Diagnostic{Kind: d.Kind, Count: d.Count, Text: d.Text})
	}
	return out
}
