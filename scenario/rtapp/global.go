package rtapp

import (
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// Global is the object "global", with rt-app's defaults where the file says nothing.
type Global struct {
	// Present says that the file has the object. Without it rt-app writes no logs.
	Present bool
	// Duration is when all threads are ended, in ns; event.NoTime: not before the last
	// thread has ended by itself.
	Duration event.Time
	// NsPerLoop is the time of one loop of run events in ns, where the file fixes it; 0
	// means that rt-app measures it on CalibrationCPU.
	NsPerLoop      int64
	CalibrationCPU int
	DefaultPolicy  Policy
	// PIEnabled gives every mutex priority inheritance, those of barriers too.
	PIEnabled bool
	// LockPages locks all memory (mlockall) of threads that are not SCHED_OTHER,
	// SCHED_BATCH or SCHED_IDLE; for those rt-app forces it off.
	LockPages bool
	// CumulativeSlack sums the slack of all timers of a phase instead of keeping the last.
	CumulativeSlack bool
	Gnuplot         bool
	LogDir          string
	LogBasename     string
	LogSize         string   // file, disable, auto, or a number of MB
	Ftrace          []string // of main, task, loop, event, stats
	IODevice        string   // file that iorun writes to
	MemBufferSize   int64    // bytes of each thread's buffer, for mem and iorun
}

// ftraceWords are the categories; the tutorial says run where the program wants event.
var ftraceWords = []string{"main", "task", "loop", "event", "stats"}

// global reads the object, or what rt-app does without it: the same defaults, but no logs.
func (n *notes) global(v *value, at *place) Global {
	g := Global{Present: v != nil, Duration: event.NoTime}
	if v == nil {
		v = &value{kind: object, off: -1}
	}
	if v.kind != object {
		n.warnf(v.off, at, "rt-app ignores this: it should be an object, not %s", v.describe())
	}
	m := n.membersOf(v, at)
	// rt-app sleeps for a positive duration and joins its threads for any other.
	switch s := m.intOr("duration", -1); {
	case s > 0:
		g.Duration = event.Time(s) * 1e9
	case s != -1:
		m.warnf("duration", "rt-app never ends after %d s; −1 says the same", s)
	}
	n.calibration(m, &g)
	g.DefaultPolicy = policyOf(m, "default_policy", Other)
	g.PIEnabled = m.boolOr("pi_enabled", false)
	g.LockPages = m.boolOr("lock_pages", true)
	g.Gnuplot = m.boolOr("gnuplot", false)
	g.CumulativeSlack = m.boolOr("cumulative_slack", false)
	g.LogDir = m.textOr("logdir", "./")
	g.LogBasename = m.textOr("log_basename", "rt-app")
	g.IODevice = m.textOr("io_device", "/dev/null")
	g.logSize(m)
	g.ftrace(m)
	if g.MemBufferSize = m.intOr("mem_buffer_size", 4<<20); g.MemBufferSize <= 0 {
		m.errorf("mem_buffer_size", "must be more than 0 bytes")
	}
	m.ignored()
	return g
}

// calibration reads "CPU3", or the time of a loop.
func (n *notes) calibration(m *members, g *Global) {
	const key = "calibration"
	v := m.take(key)
	switch {
	case v == nil:
	case v.kind == integer:
		if g.NsPerLoop, _ = n.cInt(v, m.at.member(key)); g.NsPerLoop <= 0 {
			m.errorf(key, "must be more than 0 ns; rt-app would never end")
		}
	case v.kind != text:
		m.wrongType(v, key, `an integer or a string like "CPU0"`)
	case !strings.HasPrefix(v.str, "CPU"):
		m.errorf(key, `invalid calibration %s; write "CPU0", or the ns of one loop as an integer`, quoted(v.str))
	default:
		number := strings.TrimPrefix(v.str, "CPU")
		// rt-app passes what follows "CPU" to atoi: no number is CPU 0, what follows a number is
		// ignored.
		cpu, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			cpu = uint64(leadingInt(number))
			m.warnf(key, "rt-app reads %s as CPU %d", quoted(v.str), cpu)
		}
		if cpu > mostCPU {
			m.errorf(key, "no machine has a CPU %d", cpu)
		}
		g.CalibrationCPU = int(cpu)
	}
}

// logSize reads a word or a number of MB; without a global object there is no log.
func (g *Global) logSize(m *members) {
	const key = "log_size"
	g.LogSize = "file"
	if !g.Present {
		g.LogSize = "disable"
	}
	v := m.take(key)
	// Words in capital letters, as the tutorial writes them, are not understood.
	switch {
	case v == nil:
	case v.kind == integer:
		mb, _ := m.n.cInt(v, m.at.member(key))
		if mb < 0 {
			m.warnf(key, "a log of %d MB", mb)
		}
		g.LogSize = strconv.FormatInt(mb, 10)
	case v.kind != text:
		m.wrongType(v, key, "an integer or a string")
	case v.str == "file", v.str == "disable", v.str == "auto":
		g.LogSize = v.str
	default:
		m.warnf(key, "rt-app knows only file, disable and auto, in small letters, and ignores this")
	}
}

// ftrace reads a list of categories, or the old boolean. none forgets those before it.
func (g *Global) ftrace(m *members) {
	const key = "ftrace"
	v := m.take(key)
	if v == nil {
		return
	}
	if v.kind == boolean {
		if m.warnf(key, "a boolean is deprecated here; name the categories"); v.str == "true" {
			g.Ftrace = append(g.Ftrace, ftraceWords...)
		}
		return
	}
	if v.kind != text {
		m.wrongType(v, key, "a string")
		return
	}
words:
	for word := range strings.SplitSeq(v.str, ",") {
		switch {
		case word == "":
			continue
		case strings.EqualFold(word, "none"):
			g.Ftrace = nil
			continue
		}
		for _, w := range ftraceWords {
			if strings.EqualFold(w, word) {
				g.Ftrace = append(g.Ftrace, w)
				continue words
			}
		}
		m.errorf(key, "invalid ftrace category %s; there are %s and none, without spaces",
			quoted(word), strings.Join(ftraceWords, ", "))
		return
	}
}
