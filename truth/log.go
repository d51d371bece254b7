package truth

import (
	"iter"
	"sort"

	"github.com/whylate/whylate/event"
)

// Log is the truth about a run. The zero Log is ready to use. What it is told must come in
// the order of time.
type Log struct {
	cpus    []cpuLog
	tasks   map[event.PID]*taskLog
	waits   []Wait
	periods []event.Time // when real-time runtime was given back
	passes  passes
	end     event.Time
}

// cpuLog is what happened on one CPU.
type cpuLog struct {
	holders []Stretch
	covers  []Covering
	dark    spans // RT throttling
	served  spans // the fair server
}

// taskLog is what happened to one task.
type taskLog struct {
	throttled spans
	exits     spans // one, from the beginning of its exit
	timers    []Timer
	allowed   []allowedFrom
	waiting   int // its open wait, counted from 1; 0: it does not wait
}

func (l *Log) cpu(c event.CPU) *cpuLog {
	for int(c) >= len(l.cpus) {
		l.cpus = append(l.cpus, cpuLog{})
	}
	return &l.cpus[c]
}

// seen returns what is known of c, nothing for a CPU that nobody told of.
func (l *Log) seen(c event.CPU) *cpuLog {
	if c < 0 || int(c) >= len(l.cpus) {
		return &cpuLog{}
	}
	return &l.cpus[c]
}

func (l *Log) task(pid event.PID) *taskLog {
	if l.tasks == nil {
		l.tasks = make(map[event.PID]*taskLog)
	}
	t := l.tasks[pid]
	if t == nil {
		t = &taskLog{}
		l.tasks[pid] = t
	}
	return t
}

// CPUs returns how many CPUs anything is known of.
func (l *Log) CPUs() int { return len(l.cpus) }

// End says when the run was over: what is still open ends there.
func (l *Log) End(at event.Time) { l.end = max(l.end, at) }

// Ended returns when the run was over, ns.
func (l *Log) Ended() event.Time { return l.end }

// Hold says that from now on h holds cpu.
func (l *Log) Hold(at event.Time, cpu event.CPU, h Holder) {
	l.end = max(l.end, at)
	list := &l.cpu(cpu).holders
	if n := len(*list); n > 0 {
		last := &(*list)[n-1]
		switch {
		case last.Holder == h:
			return
		case last.From == at:
			last.Holder = h // it held the CPU for no time at all
			return
		}
		last.To = at
	}
	*list = append(*list, Stretch{h, at, event.NoTime})
}

// On yields what held cpu from from to to, cut to that part; a stretch at the end of the
// run ends with it.
func (l *Log) On(cpu event.CPU, from, to event.Time) iter.Seq[Stretch] {
	return func(yield func(Stretch) bool) {
		list := l.seen(cpu).holders
		i := sort.Search(len(list), func(i int) bool { return list[i].From > from })
		for i = max(i-1, 0); i < len(list) && list[i].From < to; i++ {
			s := list[i]
			s.From, s.To = max(s.From, from), min(closed(s.To, l.end), to)
			if s.From < s.To && !yield(s) {
				return
			}
		}
	}
}

// At returns who held cpu at t; ok is false outside the run.
func (l *Log) At(cpu event.CPU, t event.Time) (h Holder, ok bool) {
	for s := range l.On(cpu, t, t+1) {
		return s.Holder, true
	}
	return Holder{}, false
}

// closed is where something ends that may be open to the end of the run.
func closed(to, end event.Time) event.Time {
	if to == event.NoTime {
		return end
	}
	return to
}
