package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/whylate/whylate/result"
)

// kindWords are the cause kinds of the definitions in the words of the report.
var kindWords = map[string]string{
	"higher_prio":   "higher priority",
	"same_prio":     "same priority",
	"fair_turn":     "others' fair turn",
	"pi_boosted":    "priority inheritance",
	"exit_teardown": "exit teardown",
	"rt_throttled":  "real-time throttling",
	"fair_server":   "fair server",
	"dl_throttled":  "deadline throttling",
	"cfs_quota":     "cgroup quota",
	"irq":           "interrupt",
	"softirq":       "softirq",
	"preempt_off":   "preemption off",
	"switch":        "context switch",
	"idle_exit":     "idle exit",
	"late_wakeup":   "late wakeup",
	"unknown":       "unknown",
}

// KindWord returns the words of a cause kind; for an unknown one the kind itself, so that a
// kind added later prints too.
func KindWord(kind string) string {
	if w, ok := kindWords[kind]; ok {
		return w
	}
	return escape(strings.ReplaceAll(kind, "_", " "))
}

// The borders of the kernel's priority numbers; include/linux/sched/prio.h. They are
// repeated here because this package imports nothing but result.
const (
	prioDeadline = -1
	maxRTPrio    = 100
	defaultPrio  = 120
	maxPrio      = 140
)

// prioWord prints a kernel priority number as users set it with chrt and nice: "RT 80",
// "nice 0", "DEADLINE"; "" for a number outside of them.
func prioWord(prio result.Prio) string {
	switch {
	case prio == prioDeadline:
		return "DEADLINE"
	case prio >= 0 && prio < maxRTPrio:
		return "RT " + strconv.Itoa(maxRTPrio-1-int(prio))
	case prio >= maxRTPrio && prio < maxPrio:
		return "nice " + strconv.Itoa(int(prio)-defaultPrio)
	}
	return ""
}

// classWord prints class and priority of a task or wait. The class goes first: the stop
// class shows the priority of RT 99, and the idle task that of nice 0.
func classWord(class string, prio result.Prio) string {
	name, number := classColumns(class, prio)
	switch {
	case class == "unknown":
		return "class unknown"
	case class == "fair" && number != "-":
		return number
	case number == "-":
		return name
	}
	return name + " " + number
}

// classColumns is classWord in two columns. Classes are the words of the JSON; one that is
// added later prints as it is.
func classColumns(class string, prio result.Prio) (name, number string) {
	several := prio == result.NoPrio
	switch {
	case several && class == "rt":
		return "RT", "-"
	case several && class == "fair":
		return "fair", "-"
	}
	switch class {
	case "dl":
		return "DEADLINE", "-"
	case "rt":
		return "RT", strconv.Itoa(maxRTPrio - 1 - int(prio))
	case "fair":
		return "fair", "nice " + strconv.Itoa(int(prio)-defaultPrio)
	case "stop":
		return "stop", "-"
	case "idle":
		return "idle", "-"
	case "unknown":
		return "unknown", "-"
	}
	return escape(class), "-"
}

// cpuWord prints a CPU; −1 is one that is not known.
func cpuWord(cpu int32) string {
	if cpu < 0 {
		return "CPU ?"
	}
	return "CPU " + strconv.Itoa(int(cpu))
}

// task prints a task as comm/pid; only what is known of it. pid < 0 is nobody in
// particular: then the name, if there is one, is that of an interrupt or a device. The
// idle tasks share pid 0 and have the CPU in their name.
func (p *printer) task(comm string, pid int32) string {
	name := p.name(comm)
	switch {
	case pid == 0 && name == "":
		return "idle"
	case pid <= 0:
		return name
	case name == "":
		return "pid " + strconv.Itoa(int(pid))
	}
	return name + "/" + strconv.Itoa(int(pid))
}

// who is a culprit with its priority: "logger/5298 (RT 90)"; "–" for nobody.
func (p *printer) who(comm string, pid int32, prio result.Prio) string {
	s := p.task(comm, pid)
	if s == "" {
		return "–"
	}
	if word := prioWord(prio); word != "" && pid > 0 {
		s += " (" + word + ")"
	}
	return s
}

// minName is the room that a name always gets: the kernel's TASK_COMM_LEN without its
// final zero byte.
const minName = 15

// name escapes s and, on a terminal, cuts it to a third of the width.
func (p *printer) name(s string) string {
	s = escape(s)
	most := max(p.Width/3, minName)
	if p.Width <= 0 || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// escape makes text from a trace safe to print: whatever is not a printable character
// (control characters, ANSI sequences, direction marks, broken UTF-8) becomes \xNN or
// \uNNNN. A comm is chosen by whoever owns the task, so it may hold anything.
func escape(s string) string {
	// Almost every name is clean and needs no copy.
	clean := true
	for _, r := range s {
		clean = clean && r != utf8.RuneError && unicode.IsPrint(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + leftZeros(strconv.FormatUint(uint64(s[i]), 16), 2))
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}
