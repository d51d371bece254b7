package cases

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/scenario"
)

// reads measures what reading a device does to the CPU that does it:
//
//	dark           times in which a real-time task could run on CPU 0 and none did, from 0.5 ms on
//	dark_n         how many of them
//	rt_ppm         share of CPU 0 that real-time tasks had while the device was read
//	read_bytes_per_s  how fast that was
//	response       from when a round of the application was due to its end
//	missed_ppm     rounds of the application that ended after the next was due
type reads struct {
	names *event.Names
	until event.Time
	bytes int64

	current event.Prio // of CPU 0
	since   event.Time // of current
	ready   event.Time // since when a real-time task could run there and none did; NoTime: no such
	rt      int64      // ns that real-time tasks had CPU 0

	started event.Time // of the read, NoTime: none is on its way
	before  int64      // rt then
	during  int64      // rt while reading
	reading int64      // ns
	done    int64      // bytes
	darks   int64
	rounds  [2]int64 // all, missed
	tally   tally
}

// leastDark is longer than any way from a wake to the CPU on this machine, and shorter than a
// tick: what lies between is a window in which the scheduler kept real-time tasks away.
const leastDark = 500_000

// watchReads watches a task dd that reads so many bytes at once, and a task app.
func watchReads(bytes int64) func(*experiment.Context) experiment.Watcher {
	return func(c *experiment.Context) experiment.Watcher {
		return &reads{names: c.Names, bytes: bytes, until: c.Setup.Start + c.Setup.Load.Duration, started: event.NoTime, ready: event.NoTime,
			current: event.DefaultPrio}
	}
}

// Event follows CPU 0 and the reader.
func (r *reads) Event(ev *event.Event) {
	if ev.Time > r.until {
		return
	}
	switch ev.Kind {
	case event.SchedSwitch:
		if ev.State&event.StateDisk != 0 && kindOf(r.names.String(ev.TaskComm)) == "dd" {
			r.account(ev.Time)
			r.started, r.before = ev.Time, r.rt
		}
		if ev.CPU == 0 {
			r.schedSwitch(ev)
		}
	case event.SchedWakeup:
		// A window can begin while no real-time task could run; it is dark from the first
		// that could.
		if ev.Target == 0 && ev.TaskPrio.RealTime() && !r.current.RealTime() && r.ready == event.NoTime {
			r.ready = ev.Time
		}
	case event.SchedWaking:
		if r.started != event.NoTime && kindOf(r.names.String(ev.TaskComm)) == "dd" {
			r.account(ev.Time)
			r.reading += int64(ev.Time - r.started)
			r.during += r.rt - r.before
			r.done += r.bytes
			r.started = event.NoTime
		}
	}
}

// account adds the time since the last look to what real-time tasks had.
func (r *reads) account(now event.Time) {
	if r.current.RealTime() {
		r.rt += int64(now - r.since)
	}
	r.since = now
}

func (r *reads) schedSwitch(ev *event.Event) {
	r.account(ev.Time)
	r.current = ev.NextPrio
	switch {
	case ev.NextPrio.RealTime():
		if dark := ev.Time - r.ready; r.ready != event.NoTime && dark >= leastDark {
			r.tally.add("dark", int64(dark))
			r.darks++
		}
		r.ready = event.NoTime
	case ev.TaskPrio.RealTime() && ev.State.Runnable() && r.ready == event.NoTime:
		r.ready = ev.Time
	}
}

// Round takes in the rounds of the application. What was due is the point of its timer's
// grid: the last one that it slept to, one period before the next.
func (r *reads) Round(l *scenario.Round) {
	if kindOf(r.names.String(l.Comm)) != "app" || l.End > r.until {
		return
	}
	r.rounds[0]++
	if l.Slack < 0 {
		r.rounds[1]++
	}
	if l.CPeriod > 0 {
		// The slack is what was left of the period when the timer was armed.
		r.tally.add("response", int64(l.CPeriod-l.Slack))
	}
}

// Values gives the measures.
func (r *reads) Values(event.Time) map[string]int64 {
	m := map[string]int64{"dark_n": r.darks}
	r.tally.values(m)
	if ms := r.reading / 1_000_000; ms > 0 { // of less the shares would say little
		m["rt_ppm"] = r.during * 1000 / (r.reading / 1000)
		m["read_bytes_per_s"] = r.done * 1000 / ms
	}
	if r.rounds[0] > 0 {
		m["missed_ppm"] = r.rounds[1] * 1_000_000 / r.rounds[0]
	}
	return m
}
