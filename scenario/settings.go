package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// Setting is something that `set NAME=VALUE` changes and that the model knows. Names are
// the kernel's: of sysctls, of files in debugfs, of configuration and command line.
type Setting struct {
	Name    string
	Values  string // what it takes
	Default string // where kernels do not differ
	Meaning string
	Feature bool // of /sys/kernel/debug/sched/features

	set func(*tuning, string) error
	// get says what it is, "" where this kernel has none.
	get func(*tuning) string
}

// tuning is what settings change: a scheduler's configuration, and what it is made from.
type tuning struct {
	config        *sched.Config
	machine       *machine.Config
	load          *workload.Spec
	rtRuntime     int64 // µs, −1: no limit
	rtPeriod      int64 // µs
	rrTimesliceMS int64
	fair          kernel.Fair
	throttling    bool // the kernel throttles real-time tasks
	server        []serverWrite
	isolcpus      []event.CPU // of the command line
}

// Settings lists all settings, sysctls before features.
func Settings() []Setting { return settings }

var settings = withFair(coreSettings)

var coreSettings = []Setting{
	{"sched_rt_runtime_us", "µs, −1: no limit", "950000", "what real-time tasks may use of a CPU in each period before they are throttled (from 6.12 on never), and the share of all CPUs that deadline tasks may have", false,
		func(t *tuning, v string) error { return number(v, -1, 1<<31-1, &t.rtRuntime) },
		func(t *tuning) string { return decimal(t.rtRuntime) }},
	{"sched_rt_period_us", "µs", "1000000", "period of sched_rt_runtime_us", false,
		func(t *tuning, v string) error { return number(v, 1, 1<<31-1, &t.rtPeriod) },
		func(t *tuning) string { return decimal(t.rtPeriod) }},
	{"sched_rr_timeslice_ms", "ms", "100", "turn of a SCHED_RR task, in whole ticks", false,
		func(t *tuning, v string) error { return number(v, 1, 1<<31, &t.rrTimesliceMS) },
		func(t *tuning) string { return decimal(t.rrTimesliceMS) }},
	{"fair_server_runtime_ns", "ns, 0: none", "50000000", "what fair tasks get in each period of a CPU that real-time tasks keep from them, from 6.12 on; the file runtime of all CPUs in debugfs", false,
		func(t *tuning, v string) error {
			return writeServer(t, v, func(w *serverWrite) *int64 { return &w.runtime })
		},
		func(t *tuning) string { return t.serverFile(t.config.FairServerRuntime) }},
	{"fair_server_period_ns", "ns", "1000000000", "period of fair_server_runtime_ns", false,
		func(t *tuning, v string) error {
			return writeServer(t, v, func(w *serverWrite) *int64 { return &w.period })
		},
		func(t *tuning) string { return t.serverFile(t.config.FairServerPeriod) }},
	{"HZ", "100, 250, 300, 1000", "250", "ticks in a second", false,
		func(t *tuning, v string) error { return setHZ(t, v) },
		func(t *tuning) string { return decimal(1_000_000_000 / int64(t.config.Tick)) }},
	{"preempt", "none, voluntary, full, lazy, rt", "by kernel", "preemption model", false,
		func(t *tuning, v string) error { return setPreempt(t, v) },
		func(t *tuning) string { return preemptName(t.config.Preempt) }},
	{"highres", "on, off", "on", "high-resolution timers; off: every timer waits for the next tick", false,
		func(t *tuning, v string) error {
			var high bool
			err := onOff(v, &high)
			t.machine.LowRes = !high
			return err
		},
		func(t *tuning) string { return switchWord(!t.machine.LowRes) }},
	{"threadirqs", "on, off", "off", "handlers of interrupts run in threads, as always with PREEMPT_RT", false,
		func(t *tuning, v string) error { return onOff(v, &t.machine.ThreadIRQs) },
		func(t *tuning) string { return switchWord(t.machine.ThreadIRQs) }},
	{"nohz", "idle, full, off", "idle", "when a CPU does without its tick; full: on every CPU also for one task alone", false,
		func(t *tuning, v string) error { return setNoHZ(t, v) },
		func(t *tuning) string { return nohzNames[t.machine.NoHZ] }},
	nohzFullSetting,
	isolcpusSetting,
	{"exit_normalize", "off, rt, all", "off", "what a dying task becomes before it gives its memory back: rt: SCHED_FIFO and SCHED_RR become SCHED_OTHER and keep what a lock lends; all: deadline tasks too, a negative nice value becomes 0, a lock lends nothing. Two changes that were proposed; no kernel has them", true,
		func(t *tuning, v string) error { return setNormalize(t, v) },
		func(t *tuning) string { return normalizeNames[t.load.Normalize] }},
	{"defer_put_prev", "off, on, settle", "off", "a fair task that a real-time one preempts is put back only when a fair one is chosen again; on: it is charged for the time in between, settle: that is put aside. A change that was proposed; no kernel has it", true,
		func(t *tuning, v string) error { return setDeferPutPrev(t, v) },
		func(t *tuning) string { return t.config.Fair.DeferPutPrev.String() }},
	{"co_kernel", "on, off", "off", "real-time tasks are run by a kernel of their own, and Linux only while they do not want the CPU, whatever it is doing then. No Linux has it", true,
		func(t *tuning, v string) error { return onOff(v, &t.machine.CoKernel) },
		func(t *tuning) string { return switchWord(t.machine.CoKernel) }},
	{"HRTICK", "on, off", "off", "a tick of its own at the end of a slice", true,
		func(t *tuning, v string) error { return onOff(v, &t.config.HRTick) },
		func(t *tuning) string { return switchWord(t.config.HRTick) }},
	{"HRTICK_DL", "on, off", "off", "the runtime of deadline tasks ends to the ns, not at ticks", true,
		func(t *tuning, v string) error { return onOff(v, &t.config.HRTickDL) },
		func(t *tuning) string { return switchWord(t.config.HRTickDL) }},
	{"RT_PUSH_IPI", "on, off", "by kernel", "a CPU that wants work asks the overloaded one to push", true,
		func(t *tuning, v string) error { return onOff(v, &t.config.RTPushIPI) },
		func(t *tuning) string { return switchWord(t.config.RTPushIPI) }},
	{"RT_RUNTIME_SHARE", "on, off", "by kernel", "a CPU whose real-time tasks have used up their runtime borrows from other CPUs", true,
		func(t *tuning, v string) error { return onOff(v, &t.config.RTRuntimeShare) },
		func(t *tuning) string { return switchWord(t.config.RTRuntimeShare) }},
	{"RT_GROUP_SCHED", "on, off", "off", "real-time tasks of control groups have runtimes of their own (CONFIG_RT_GROUP_SCHED); from 6.12 on only so they are throttled at all", false,
		func(t *tuning, v string) error { return onOff(v, &t.config.RTGroupSched) },
		func(t *tuning) string { return switchWord(t.config.RTGroupSched) }},
	{"TTWU_QUEUE", "on, off", "by kernel", "the woken task's CPU finishes a wake from afar", true,
		func(t *tuning, v string) error { return onOff(v, &t.config.TTWUQueue) },
		func(t *tuning) string { return switchWord(t.config.TTWUQueue) }},
}

// settingNamed returns the setting called name; the error lists what there is.
func settingNamed(name string) (*Setting, error) {
	known := make([]string, 0, len(settings))
	for i := range settings {
		if settings[i].Name == name {
			return &settings[i], nil
		}
		known = append(known, settings[i].Name)
	}
	return nil, fmt.Errorf("setting %q is not known to the model; there are %s", name, strings.Join(known, ", "))
}

func number(v string, low, high int64, to *int64) error {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < low || n > high {
		return fmt.Errorf("%q is not a whole number from %d to %d", v, low, high)
	}
	*to = n
	return nil
}

func onOff(v string, to *bool) error {
	switch v {
	case "on", "1", "true":
		*to = true
	case "off", "0", "false":
		*to = false
	default:
		return fmt.Errorf("%q is neither on nor off", v)
	}
	return nil
}

func setHZ(t *tuning, v string) error {
	var hz int64
	if err := number(v, 24, 10_000, &hz); err != nil {
		return err
	}
	t.config.Tick = event.Time(1_000_000_000 / hz)
	return nil
}

// preemptNames are the words for the preemption models.
var preemptNames = []struct {
	name string
	is   sched.PreemptModel
}{{"none", sched.PreemptNone}, {"voluntary", sched.PreemptVoluntary}, {"full", sched.PreemptFull}, {"lazy", sched.PreemptLazy}, {"rt", sched.PreemptRT}}

func setPreempt(t *tuning, v string) error {
	for _, m := range preemptNames {
		if m.name == v {
			t.config.Preempt = m.is
			return nil
		}
	}
	return fmt.Errorf("preemption model %q is not none, voluntary, full, lazy or rt", v)
}

// normalizeNames are the values of exit_normalize, nohzNames those of nohz.
var (
	normalizeNames = map[workload.Normalize]string{workload.NormalizeOff: "off", workload.NormalizeRT: "rt", workload.NormalizeAll: "all"}
	nohzNames      = map[machine.NoHZ]string{machine.NoHZIdle: "idle", machine.NoHZFull: "full", machine.HZPeriodic: "off"}
)

func setNormalize(t *tuning, v string) error {
	how, err := normalizeNamed(v)
	t.load.Normalize = how
	return err
}

func normalizeNamed(v string) (workload.Normalize, error) {
	for is, name := range normalizeNames {
		if name == v {
			return is, nil
		}
	}
	return workload.NormalizeOff, fmt.Errorf("%q is not off, rt or all", v)
}

func setDeferPutPrev(t *tuning, v string) error {
	for _, d := range []sched.DeferPutPrev{sched.DeferOff, sched.DeferOn, sched.DeferSettle} {
		if d.String() == v {
			t.config.Fair.DeferPutPrev = d
			return nil
		}
	}
	return fmt.Errorf("%q is not off, on or settle", v)
}

func setNoHZ(t *tuning, v string) error {
	for is, name := range nohzNames {
		if name == v {
			t.machine.NoHZ, t.machine.NoHZFullCPUs = is, nil
			return nil
		}
	}
	return fmt.Errorf("%q is not idle, full or off", v)
}

// serverWrite is a write into the files of the fair servers; −1: not into this one.
type serverWrite struct{ runtime, period int64 }

// writeServer notes a write: each meets its verdict in its turn, as the files do.
func writeServer(t *tuning, v string, which func(*serverWrite) *int64) error {
	if t.config.FairServerPeriod == 0 {
		return errors.New("this kernel has no fair server: it came with 6.12")
	}
	w := serverWrite{-1, -1}
	err := number(v, 0, 1<<62, which(&w))
	t.server = append(t.server, w)
	return err
}

// writeServers makes the writes into the files of the fair servers. They come after the
// sysctls, whose bandwidth they have to fit in.
func (t *tuning) writeServers() error {
	for _, w := range t.server {
		runtime, period := t.config.FairServerRuntime, t.config.FairServerPeriod
		name, to := "fair_server_runtime_ns", w.runtime
		if w.runtime >= 0 {
			runtime = event.Time(w.runtime)
		} else {
			period = event.Time(w.period)
			name, to = "fair_server_period_ns", w.period
		}
		if err := t.config.SetFairServer(runtime, period); err != nil {
			return fmt.Errorf("set %s=%d: %w", name, to, err)
		}
	}
	return nil
}

// apply puts what the sysctls say into the configuration, after all of them are set: two
// that are changed one by one may contradict each other in between, as they may in /proc.
func (t *tuning) apply() error {
	if t.rtRuntime > t.rtPeriod {
		return fmt.Errorf("sched_rt_runtime_us %d is more than sched_rt_period_us %d: EINVAL", t.rtRuntime, t.rtPeriod)
	}
	t.config.DLBandwidth = bandwidth(t.rtRuntime*1000, t.rtPeriod*1000)
	if t.config.RTGroupSched && t.rtRuntime >= 0 && t.rtRuntime*20 < t.rtPeriod*19 {
		return fmt.Errorf("sched_rt_runtime_us %d of %d is less than the 950000 of 1000000 that the root group has with RT_GROUP_SCHED: EINVAL", t.rtRuntime, t.rtPeriod)
	}
	if t.throttling || t.config.RTGroupSched {
		t.config.RTRuntime, t.config.RTPeriod = event.Time(t.rtRuntime)*1000, event.Time(t.rtPeriod)*1000
	}
	tick := int64(t.config.Tick)
	t.config.RRTimeslice = int(max(1, (t.rrTimesliceMS*1_000_000+tick-1)/tick))
	return t.writeServers()
}
