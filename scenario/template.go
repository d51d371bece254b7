package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// Template is a load that needs no file and that rt-app cannot describe, with the options of the program that it stands
// for.
type Template struct {
	Name    string
	Meaning string
	Options string
	lasts   string // the option that says how long it runs
	build   func(*Plan, *options) error
}

// Templates lists the loads that need no file.
func Templates() []Template { return templates }

var templates = []Template{
	{"cyclictest", "threads that sleep to the points of a grid, as cyclictest of rt-tests 2.4",
		"-t N threads (1), -p N priority (SCHED_OTHER without), -i µs interval (1000), -d µs distance (500), -a bind thread N to CPU N, -c work in µs (0), -D s duration (1)", "D", cyclictest},
	{"schbench", "message threads that wake all their workers at once, as schbench of 2017",
		"-m N message threads (2), -t N workers of each (16), -s µs sleep (10000), -c µs spin (15000), -r s duration (30)", "r", schbench},
	{"daemons", "ordinary tasks that compute for a while and sleep for a while, each at random and on its own",
		"-n N tasks (16), -c µs computing on average (1250), from a tenth of that to 1.9 times, -s µs sleep on average (11250), exponential, -r s duration (30)", "r", daemons},
}

// FromTemplate returns the plan of a template with the options of its program.
func FromTemplate(name string, args []string) (*Plan, error) {
	for i := range templates {
		t := &templates[i]
		if t.Name != name {
			continue
		}
		o, err := parseOptions(args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p := &Plan{Name: name, Costs: DefaultCosts()}
		p.Load.Comm, p.Load.Free = name, true
		if err := t.build(p, o); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(o.list) > 0 {
			return nil, fmt.Errorf("%s: option -%s is not known; there are %s", name, o.list[0].name, t.Options)
		}
		return p, nil
	}
	return nil, fmt.Errorf("no template is called %q", name)
}

// options are single-letter options as getopt takes them.
type options struct{ list []option }

type option struct{ name, value string }

func parseOptions(args []string) (*options, error) {
	o := &options{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' || a[1] == '-' {
			return nil, fmt.Errorf("%q is not an option such as -t 4", a)
		}
		opt := option{a[1:2], a[2:]}
		if opt.value == "" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
			opt.value = args[i]
		}
		o.list = append(o.list, opt)
	}
	return o, nil
}

// number takes the option out of the list; without it, it returns def.
func (o *options) number(name string, def, low, high int64) (int64, error) {
	for i, opt := range o.list {
		if opt.name != name {
			continue
		}
		o.list = append(o.list[:i:i], o.list[i+1:]...)
		n, err := strconv.ParseInt(opt.value, 10, 64)
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("-%s %q is not a whole number from %d to %d", name, opt.value, low, high)
		}
		return n, nil
	}
	return def, nil
}

// numbers fills in several options at once.
func (o *options) numbers(wanted ...wanted) error {
	for _, w := range wanted {
		n, err := o.number(w.name, *w.to, w.low, w.high)
		if err != nil {
			return err
		}
		*w.to = n
	}
	return nil
}

// wanted is an option with where its value goes, which holds the default before.
type wanted struct {
	name      string
	to        *int64
	low, high int64
}

const longest = 1 << 40 // µs: 12 days

// cyclictest makes threads that sleep with clock_nanosleep(TIMER_ABSTIME) to the points of a
// grid of their own and skip those that are over; thread N has an interval that is N
// distances longer. What the program measures, now minus the point of the grid, is the
// lateness of these waits. Its main thread, which prints, is left out (-q).
func cyclictest(p *Plan, o *options) error {
	threads, prio, interval, distance, work, seconds := int64(1), int64(0), int64(1000), int64(500), int64(0), int64(1)
	affine := o.flag("a")
	if err := o.numbers(wanted{"t", &threads, 1, mostCPUs}, wanted{"p", &prio, 0, 99}, wanted{"i", &interval, 1, longest},
		wanted{"d", &distance, 0, longest}, wanted{"c", &work, 0, longest}, wanted{"D", &seconds, 1, 1 << 20}); err != nil {
		return err
	}
	p.CPUs = int(threads)
	p.Load.Duration = event.Time(seconds) * 1_000_000_000
	for i := range int(threads) {
		t := workload.Task{Name: fmt.Sprintf("cyclictest-%d", i), Comm: "cyclictest", Instances: 1, Loop: -1, Timers: 1, Attr: &sched.Attr{}}
		if prio > 0 {
			t.Attr = &sched.Attr{Policy: sched.FIFO, Priority: int(prio)}
		}
		if affine {
			t.CPUs = []event.CPU{event.CPU(i)}
		}
		ns := event.Time(interval+int64(i)*distance) * 1000
		ops := []workload.Op{{Kind: workload.OpUnique, NS: ns, Timer: workload.TimerSkip}}
		if work > 0 {
			ops = append(ops, workload.Op{Kind: workload.OpRun, NS: event.Time(work) * 1000})
		}
		t.Phases = []workload.Phase{{Loop: 1, Ops: ops}}
		p.Load.Tasks = append(p.Load.Tasks, t)
	}
	return nil
}

// flag takes an option without a value out of the list.
func (o *options) flag(name string) bool {
	for i, opt := range o.list {
		if opt.name == name && opt.value == "" {
			o.list = append(o.list[:i:i], o.list[i+1:]...)
			return true
		}
	}
	return false
}

// schbench is the program of 2016 to 2019, as of its commit 3d16b23, before it had requests with work
// between two sleeps. A message thread waits until the first of its workers has queued itself, sleeps for
// a while plus up to a quarter more, and wakes all that are in its queue by then, one after the other, the last who
// came first. A worker spins by the clock, run or not, and queues itself again. Its latency counts from
// one stamp that the message thread takes before the first wake; in Round it is the WakeupLatency.
func schbench(p *Plan, o *options) error {
	messages, workers, sleep, spin, seconds := int64(2), int64(16), int64(10_000), int64(15_000), int64(30)
	if err := o.numbers(wanted{"m", &messages, 1, 1000}, wanted{"t", &workers, 1, 10_000}, wanted{"s", &sleep, 0, longest},
		wanted{"c", &spin, 0, longest}, wanted{"r", &seconds, 1, 1 << 20}); err != nil {
		return err
	}
	p.CPUs = 32
	p.Load.Queues = int(messages)
	p.Load.Duration = event.Time(seconds) * 1_000_000_000
	// rand_r() modulo a quarter never gives the quarter itself.
	jitter := event.Time(max(sleep/4-1, 0)) * 1000
	for i := range int(messages) {
		msg := []workload.Op{{Kind: workload.OpRelease, Ref: i}, {Kind: workload.OpAwait, Ref: i}, {Kind: workload.OpSleep, NS: event.Time(sleep) * 1000, Jitter: jitter}}
		work := []workload.Op{{Kind: workload.OpSpin, NS: event.Time(spin) * 1000, Mode: machine.User}, {Kind: workload.OpEnqueue, Ref: i}}
		p.Load.Tasks = append(p.Load.Tasks,
			workload.Task{Name: fmt.Sprintf("message-%d", i), Comm: "schbench", Instances: 1, Loop: -1, Attr: &sched.Attr{}, Phases: []workload.Phase{{Loop: 1, Ops: msg}}},
			workload.Task{Name: fmt.Sprintf("worker-%d", i), Comm: "schbench", Instances: int(workers), Loop: -1, Attr: &sched.Attr{}, Phases: []workload.Phase{{Loop: 1, Ops: work}}})
	}
	return nil
}

// daemons is what else is on a machine that is mostly idle: tasks that have nothing to do with each
// other. Arrivals of that kind come at any time, also several at once, so their sleeps are
// exponential; one piece of work is from a tenth to nearly twice the average.
func daemons(p *Plan, o *options) error {
	tasks, work, sleep, seconds := int64(16), int64(1250), int64(11_250), int64(30)
	if err := o.numbers(wanted{"n", &tasks, 1, 100_000}, wanted{"c", &work, 1, longest}, wanted{"s", &sleep, 1, longest}, wanted{"r", &seconds, 1, 1 << 20}); err != nil {
		return err
	}
	p.CPUs = 1
	p.Load.Duration = event.Time(seconds) * 1_000_000_000
	ops := []workload.Op{{Kind: workload.OpSleep, NS: event.Time(sleep) * 1000, Random: true},
		{Kind: workload.OpRun, NS: event.Time(work) * 100, Jitter: event.Time(work) * 1800}}
	p.Load.Tasks = append(p.Load.Tasks, workload.Task{Name: "daemon", Comm: "daemon", Instances: int(tasks), Loop: -1, Attr: &sched.Attr{}, Phases: []workload.Phase{{Loop: 1, Ops: ops}}})
	return nil
}
