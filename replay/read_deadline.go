package replay

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// deadlineTask is what the runs of a deadline task show of its parameters.
type deadlineTask struct {
	runs []*timeline.Run
	cpus []event.CPU
	// ends are when its own timer, which replenishes it, was due; as far as nobody else's can
	// be meant.
	ends []event.Time
	// wakes are when its sleeps ended.
	wakes []event.Time
}

// justAfter is how long after the expiry of its timer a deadline task may come to a CPU by it.
const justAfter event.Time = 100_000

// deadlines finds the period and the runtime of deadline tasks: the first by the distances at
// which their timers replenish them, else of their wakes; the other by what they used before
// they were throttled, which is found out at a tick.
func (r *reader) deadlines() {
	of := r.deadlineTasks()
	for i := range r.tasks {
		s := &r.tasks[i]
		d := of[s.id]
		if d == nil {
			continue
		}
		attr := sched.Attr{Policy: sched.Deadline}
		d.wakes = s.wakes()
		attr.Period = d.period()
		attr.Deadline = attr.Period
		attr.Runtime = min(d.runtime(attr.Period, r.l.Tick), attr.Period*9/10)
		used := false
		for j := range s.ops {
			if op := &s.ops[j]; op.Kind == OpAttr && op.Attr.Policy == sched.Deadline {
				op.Attr, used = attr, true
			}
		}
		for j := range s.in {
			in := &s.in[j]
			if in.op.Kind != OpAttr || in.op.Attr.Policy != sched.Deadline {
				continue
			}
			in.op.Attr, used = attr, true
			d.begins(s, in, attr.Period)
		}
		if s.first.Deadline() {
			s.attr, used = &attr, true
		}
		if snap := r.snapshotOf(s, r.x.Names.String(r.tr.Task(s.id).Comm)); used && (snap == nil || snap.Policy != sysinfo.Deadline) {
			r.guess.add(deadlineSeen)
		}
	}
}

// deadlineTasks lists the runs and the timers of deadline tasks.
func (r *reader) deadlineTasks() map[timeline.TaskID]*deadlineTask {
	of := make(map[timeline.TaskID]*deadlineTask)
	for i := range r.tasks {
		s := &r.tasks[i]
		deadline := s.first.Deadline()
		for j := 0; j < len(s.ops) && !deadline; j++ {
			deadline = s.ops[j].Kind == OpAttr && s.ops[j].Attr.Policy == sched.Deadline
		}
		for j := 0; j < len(s.in) && !deadline; j++ {
			deadline = s.in[j].op.Kind == OpAttr && s.in[j].op.Attr.Policy == sched.Deadline
		}
		if deadline {
			of[s.id] = &deadlineTask{}
		}
	}
	if len(of) == 0 {
		return of
	}
	timer := r.x.Names.Intern("dl_task_timer")
	for c := range r.x.CPUs {
		ci := &r.x.CPUs[c]
		for i := range ci.Runs {
			if d := of[ci.Runs[i].Task]; d != nil {
				d.runs, d.cpus = append(d.runs, &ci.Runs[i]), append(d.cpus, event.CPU(c))
			}
		}
		for _, e := range ci.Expiries {
			if e.Func != timer {
				continue
			}
			// Who comes to the CPU at once, and had not slept, was replenished.
			n := sort.Search(len(ci.Runs), func(i int) bool { return ci.Runs[i].Start >= e.At })
			if n == len(ci.Runs) || ci.Runs[n].Start-e.At > justAfter || ci.Runs[n].Marks&(timeline.MarkFromSleep|timeline.MarkNew) != 0 {
				continue
			}
			if d := of[ci.Runs[n].Task]; d != nil {
				d.ends = append(d.ends, r.onTrace(e))
			}
		}
	}
	for _, d := range of {
		sort.Sort(d)
		slices.Sort(d.ends)
	}
	return of
}

func (d *deadlineTask) Len() int           { return len(d.runs) }
func (d *deadlineTask) Less(i, j int) bool { return d.runs[i].Start < d.runs[j].Start }
func (d *deadlineTask) Swap(i, j int) {
	d.runs[i], d.runs[j] = d.runs[j], d.runs[i]
	d.cpus[i], d.cpus[j] = d.cpus[j], d.cpus[i]
}

// onTrace is when e expired by its own clock, on that of the trace.
func (r *reader) onTrace(e timeline.Expiry) event.Time {
	if offset, ok := r.a.TimerOffset(e); ok {
		return min(e.At, event.Time(e.Now-offset))
	}
	return e.At
}

// usualPeriod is that of a deadline task of which nothing tells one.
const usualPeriod event.Time = 100_000_000

// wakes are the times at which the sleeps of s ended, in order.
func (s *script) wakes() (list []event.Time) {
	for i := range s.ops {
		if op := &s.ops[i]; op.Kind.Sleeps() && op.At != event.NoTime {
			list = append(list, op.At)
		}
	}
	return list
}

// period is the distance of two replenishments, or of one and of the wake before it, which mostly
// begins a period too. Of those that there are more than once it is the roundest, of equally
// round ones the shortest. Else the distances of wakes have to do.
func (d *deadlineTask) period() event.Time {
	var ends, wakes []event.Time
	for i, end := range d.ends {
		if i > 0 {
			ends = append(ends, end-d.ends[i-1])
		}
		if woken := lastOf(d.wakes, end); woken != event.NoTime && (i == 0 || woken > d.ends[i-1]) {
			ends = append(ends, end-woken)
		}
	}
	for i := 1; i < len(d.wakes); i++ {
		wakes = append(wakes, d.wakes[i]-d.wakes[i-1])
	}
	if best := recurring(ends); best > 0 {
		return best
	}
	if best := recurring(wakes); best > 0 {
		return best
	}
	for _, list := range [...][]event.Time{ends, wakes} {
		if n := len(list); n > 0 && list[n/2] > 0 {
			return list[n/2]
		}
	}
	return usualPeriod
}

// recurring rounds lengths to 10 µs, orders them, and returns the roundest that is there more than
// once; 0: none.
func recurring(list []event.Time) (best event.Time) {
	for i := range list {
		list[i] = (list[i] + 5_000) / 10_000 * 10_000
	}
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		if list[i] == list[i-1] && list[i] > 0 && zeros(list[i]) > zeros(best) {
			best = list[i]
		}
	}
	return best
}

// zeros is how many decimal zeros v ends with, −1 for 0; more than a millisecond's are alike.
func zeros(v event.Time) (n int) {
	if v == 0 {
		return -1
	}
	for ; n < 6 && v%10 == 0; n++ {
		v /= 10
	}
	return n
}

// runtime is what people write of what the task used before it was throttled, at most a tick
// more than it may, and not less than it used without that.
func (d *deadlineTask) runtime(period, tick event.Time) event.Time {
	least, most := event.Time(0), event.NoTime
	var used, longest, since event.Time
	for i, run := range d.runs {
		last := lastOf(d.ends, run.Start)
		if run.Marks.Has(timeline.MarkFromSleep) || last > since {
			if since = max(run.Start, since); last > since-justAfter {
				since = last
			}
			used = 0
		}
		used += run.End - run.Start
		if !run.PrioOut.Deadline() {
			used = 0
			continue
		}
		throttled := run.State.Runnable() && i+1 < len(d.runs) && lastOf(d.ends, d.runs[i+1].Start) > run.End
		switch {
		case throttled && run.PrioIn.Deadline():
			if most == event.NoTime || used < most {
				most = used
			}
			least = max(least, used-tick)
		case !run.State.Runnable():
			longest = max(longest, used)
		}
	}
	if most == event.NoTime {
		return roundest(longest*11/10, longest*3/2)
	}
	if longest < most {
		least = max(least, longest)
	}
	if least >= most {
		least = 0
	}
	return roundest(least, most)
}

// lastOf is the last of an ordered list that is not after t, NoTime if there is none.
func lastOf(list []event.Time, t event.Time) event.Time {
	n, found := slices.BinarySearch(list, t)
	switch {
	case found:
		return list[n]
	case n == 0:
		return event.NoTime
	}
	return list[n-1]
}

// roundest is the number of µs in (least, most] with the most zeros, the largest of those; most
// where there is none.
func roundest(least, most event.Time) event.Time {
	for step := event.Time(1_000_000_000); step >= 1000; step /= 10 {
		if v := most / step * step; v > least && v > 0 {
			return v
		}
	}
	return max(most, 1)
}

// begins moves the moment at which s became a deadline task to one period before its first
// replenishment, where that lies in the run in which it did: that moment began its period.
func (d *deadlineTask) begins(s *script, in *insertion, period event.Time) {
	n := sort.Search(len(d.runs), func(i int) bool { return d.runs[i].End >= in.op.At })
	if n == len(d.runs) || in.at >= len(s.ops) || s.ops[in.at].Kind != OpRun {
		return
	}
	run := d.runs[n]
	i, _ := slices.BinarySearch(d.ends, run.Start+period)
	if i < len(d.ends) && d.ends[i]-period <= run.End && s.ops[in.at].At <= d.ends[i]-period {
		in.op.At = d.ends[i] - period
		in.after = in.op.At - s.ops[in.at].At
	}
}
