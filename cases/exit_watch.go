package cases

import (
	"slices"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/scenario"
)

// deaths measures what the deaths of processes do to others:
//
//	death_KIND      from the signal or the call of exit to the news for the parent
//	rt_latency_KIND what cyclictest would print during a death: from when its timer was due
//	fair_latency_KIND  the same of fair tasks, with their timer slack
//	told            from the beginning of the death until the supervisor runs
//	restart         … until its new service is at work
//	lock            … until who waited for a lock of the dying task runs
//
// each as median and maximum of the run. KIND is the name of the task in the file.
type deaths struct {
	names   *event.Names
	victims []string
	until   event.Time // deaths after that are the end of the program
	comm    map[event.PID]event.Name
	dying   map[event.PID]*death
	last    *death // the one that began last
	before  *death // the one before it
	tally   tally
}

// death is the death of one process and how far its consequences are. Times are NoTime
// before they come.
type death struct {
	kind     string
	began    event.Time // the signal, or the call of exit
	told     event.Time // its parent was sent SIGCHLD
	answered bool       // the supervisor ran after that
	fresh    event.PID  // the process in its place, which has begun its program; 0: none yet
	atWork   bool       // that process did its first work
	unlocked bool       // who waited for its lock has run
}

// Signals that this package looks at; signal(7).
const (
	sigKill  = 9
	sigSegv  = 11
	sigChild = 17
)

// The numbers of exit and exit_group on x86-64, which the model's events have.
const (
	sysExit      = 60
	sysExitGroup = 231
)

// watchDeaths watches the deaths of tasks with the given names.
func watchDeaths(victims ...string) func(*experiment.Context) experiment.Watcher {
	return func(c *experiment.Context) experiment.Watcher {
		return &deaths{names: c.Names, victims: victims, until: c.Setup.Start + c.Setup.Load.Duration,
			comm: make(map[event.PID]event.Name), dying: make(map[event.PID]*death)}
	}
}

// kindOf is the name of a task in the file: rt-app appends numbers to it.
func kindOf(comm string) string {
	kind, _, _ := strings.Cut(comm, "-")
	return kind
}

func (d *deaths) kind(n event.Name) string { return kindOf(d.names.String(n)) }

// Event takes in what begins and ends deaths.
func (d *deaths) Event(ev *event.Event) {
	switch ev.Kind {
	case event.TaskRename:
		d.comm[ev.Task] = ev.NextComm
	case event.SignalGenerate:
		switch x := d.dying[ev.PID]; {
		case ev.Arg == sigKill || ev.Arg == sigSegv:
			d.begin(ev.Time, ev.Task)
		case ev.Arg == sigChild && x != nil && x.told == event.NoTime:
			x.told = ev.Time
			d.tally.add("death_"+x.kind, int64(ev.Time-x.began))
		}
	case event.SysEnter:
		if ev.Arg == sysExit || ev.Arg == sysExitGroup {
			d.begin(ev.Time, ev.PID)
		}
	case event.SchedProcessExec:
		if x := d.last; x != nil && x.answered && x.fresh == 0 {
			x.fresh = ev.Task
		}
	case event.SchedSwitch:
		if d.last != nil {
			d.schedSwitch(ev, d.last)
		}
	}
}

// begin notes the death of one of the victims. The call of exit that follows a signal is the
// same death.
func (d *deaths) begin(at event.Time, pid event.PID) {
	kind := d.kind(d.comm[pid])
	if at > d.until || d.dying[pid] != nil || !slices.Contains(d.victims, kind) {
		return
	}
	d.before, d.last = d.last, &death{kind: kind, began: at, told: event.NoTime}
	d.dying[pid] = d.last
}

// schedSwitch looks for who waited for the end of x.
func (d *deaths) schedSwitch(ev *event.Event, x *death) {
	since := int64(ev.Time - x.began)
	switch next := d.kind(ev.NextComm); {
	case next == "waiter" && !x.unlocked:
		x.unlocked = true
		d.tally.add("lock", since)
	case next == "supervisor" && x.told != event.NoTime && !x.answered:
		x.answered = true
		d.tally.add("told", since)
	}
	// The new process is at work once it sleeps for the first time after its program began.
	if x.fresh != 0 && !x.atWork && ev.Task == x.fresh && ev.State&event.StateSleeping != 0 {
		x.atWork = true
		d.tally.add("restart", since)
	}
}

// Wait is of no interest: a wait begins with the wake, so that what kept the timer's interrupt,
// Round takes in the rounds of cyclictest and of the fair tasks.
func (d *deaths) Round(l *scenario.Round) {
	comm := d.names.String(l.Comm)
	for _, group := range []struct{ prefix, measure string }{{"cyclictest", "rt_latency_"}, {"fair", "fair_latency_"}} {
		if strings.HasPrefix(comm, group.prefix) {
			d.overlap(group.measure, l.End-experiment.TimerLatency(l), l.End)
		}
	}
}

// overlap adds what lasted from from to to, if that overlaps one of the last two deaths: what
// is longer has seen both.
func (d *deaths) overlap(group string, from, to event.Time) {
	for _, x := range []*death{d.last, d.before} {
		if x != nil && to > x.began && (x.told == event.NoTime || from < x.told) {
			d.tally.add(group+x.kind, int64(to-from))
			return
		}
	}
}

// Values gives the medians and maxima.
func (d *deaths) Values(event.Time) map[string]int64 {
	m := map[string]int64{}
	d.tally.values(m)
	return m
}
