package rtapp

import (
	"math"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// Props are the properties that tasks and phases share.
//
// In a phase they are changes at the beginning of each of its rounds. rt-app calls the
// kernel only if at least one of Policy, Priority, DL and the utilisation clamps is given,
// and then sets all that belongs to the policy from what this phase says: a phase with only
// a priority sets the custom slice back to the kernel's own, a phase of a deadline task
// must repeat all its parameters.
type Props struct {
	// Policy is Keep in a phase that names none. A phase with a policy and no priority
	// gets the default priority of that policy, not the one of the thread.
	Policy Policy
	// Priority is the nice value (−20..19) of SCHED_OTHER and SCHED_BATCH, the real-time
	// priority (1..99, more is more urgent) of SCHED_FIFO and SCHED_RR, without effect
	// else. HasPriority says that it is to be set: always in a task.
	Priority    int
	HasPriority bool
	// DL has the parameters of SCHED_DEADLINE, in ns; period and deadline default to the
	// runtime. For SCHED_OTHER and SCHED_BATCH the runtime is the custom slice that
	// kernels since 6.12 take; a phase gives one only together with a policy or priority.
	// HasDL says that any of them is given.
	DL    DLParams
	HasDL bool
	// UtilMin and UtilMax clamp the utilisation, 0..1024; −1 where not given.
	UtilMin, UtilMax int
	// CPUs is the affinity, nil where not given: a phase then has that of its task, a task
	// that of rt-app. It is set again in each round of a phase.
	CPUs []int
	// NodesMembind are the NUMA nodes for memory, nil where not given: nothing changes.
	NodesMembind []int
	// Taskgroup is the cgroup, "" where not given: nothing changes. rt-app makes it below
	// the cpu controller of cgroup v1.
	Taskgroup string
}

// DLParams are the parameters of a deadline task in ns.
type DLParams struct{ Runtime, Deadline, Period event.Time }

// SetsScheduling reports whether a phase with these properties calls the kernel to change
// the scheduling of the thread.
func (p *Props) SetsScheduling() bool {
	return p.Policy != Keep || p.HasPriority || p.HasDL || p.UtilMin >= 0 || p.UtilMax >= 0
}

// mostCPU and mostNode are the highest numbers that Linux can be built for; rt-app itself
// wants those of the machine it runs on, which Parse knows only from "whylate".
const (
	mostCPU  = 8191
	mostNode = 1023
)

// props reads the properties of a task or phase; def is the policy where it names none.
func (n *notes) props(m *members, def Policy, inTask bool) Props {
	p := Props{Policy: policyOf(m, "policy", def), UtilMin: -1, UtilMax: -1}
	// rt-app fills in the priority that belongs to the policy, and nothing where the policy
	// stays: the number is then that of the thread.
	p.HasPriority = m.has("priority") || p.Policy != Keep
	p.Priority = int(m.intOr("priority", int64(p.Policy.defaultPriority())))
	n.deadline(m, &p, inTask)
	p.UtilMin = clamp(m, "util_min")
	p.UtilMax = clamp(m, "util_max")
	if p.UtilMin >= 0 && p.UtilMax >= 0 && p.UtilMin > p.UtilMax {
		m.errorf("util_min", "must not be more than util_max, %d", p.UtilMax)
	}
	p.CPUs = n.numbers(m, "cpus", "CPU", n.limitCPU())
	if v := m.take("cpus"); v != nil && v.kind == array && len(v.list) == 0 {
		m.errorf("cpus", "an empty list: the thread could run nowhere")
	}
	p.NodesMembind = n.numbers(m, "nodes_membind", "NUMA node", mostNode)
	p.Taskgroup = m.textOr("taskgroup", "")
	if p.Taskgroup != "" && p.Taskgroup[0] != '/' {
		m.errorf("taskgroup", "%s has to start with /", quoted(p.Taskgroup))
		p.Taskgroup = ""
	}
	if len(p.Taskgroup) > mostPath {
		m.errorf("taskgroup", "a path has at most %d bytes", mostPath)
		p.Taskgroup = ""
	}
	return p
}

// deadline reads dl-runtime, dl-period, dl-deadline, each of which defaults to the one
// before; then, in a task, the old names for whatever is still zero.
func (n *notes) deadline(m *members, p *Props, inTask bool) {
	d := &p.DL
	d.Runtime = m.time("dl-runtime", 0)
	d.Period = m.time("dl-period", d.Runtime)
	d.Deadline = m.time("dl-deadline", d.Period)
	p.HasDL = m.has("dl-runtime") || m.has("dl-period") || m.has("dl-deadline")
	if !inTask {
		return
	}
	old := func(key string, t *event.Time, def event.Time) {
		if *t == 0 {
			*t = m.time(key, def)
			p.HasDL = p.HasDL || m.has(key)
		} else if m.take(key) != nil && key != "runtime" {
			m.warnf(key, "rt-app ignores this: dl-%s or its default counts", key)
		}
	}
	old("runtime", &d.Runtime, 0)
	old("period", &d.Period, d.Runtime)
	old("deadline", &d.Deadline, d.Period)
}

// time reads an integer of µs and returns ns. A negative one makes rt-app wait for ever.
func (m *members) time(key string, def event.Time) event.Time {
	us := m.intOr(key, int64(def/1000))
	if us < 0 {
		m.errorf(key, "a negative time: %d µs", us)
		return 0
	}
	return event.Time(us) * 1000
}

// clamp reads a utilisation clamp; −1, which the file may also say, is none. rt-app checks
// only the upper end, the kernel the lower one.
func clamp(m *members, key string) int {
	switch u := m.intOr(key, -1); {
	case u > 1024:
		m.errorf(key, "invalid %s %d (>1024)", key, u)
	case u < -1:
		m.errorf(key, "must be 0 to 1024, or −1 for none")
	default:
		return int(u)
	}
	return -1
}

// numbers reads an array of CPUs or nodes. rt-app takes every element for an integer,
// whatever it is.
func (n *notes) numbers(m *members, key, what string, most int64) []int {
	v := m.take(key)
	if v == nil {
		return nil
	}
	if v.kind != array {
		m.wrongType(v, key, "an array of integers")
		return nil
	}
	list := make([]int, 0, len(v.list))
	for i := range v.list {
		e, at := &v.list[i].value, m.at.member(key).element(i)
		number := n.elementInt(e, at)
		if number < 0 || number > most {
			n.errorf(e.off, at, "invalid %s %d", what, number)
			continue
		}
		list = append(list, int(number))
	}
	return list
}

// elementInt converts as json_object_get_int does, with a warning.
func (n *notes) elementInt(v *value, at *place) int64 {
	var i int64
	switch v.kind {
	case integer:
		i, _ = n.cInt(v, at)
		return i
	case text:
		i = leadingInt(v.str)
	case double:
		// A float beyond the ends of an int has no defined int; both sides are invalid here.
		f, err := strconv.ParseFloat(v.str, 64)
		if i = -1; err == nil && math.Abs(f) < math.MaxInt32 {
			i = int64(f)
		}
	case boolean:
		if v.str == "true" {
			i = 1
		}
	}
	n.warnf(v.off, at, "rt-app reads this as %d: it should be an integer, not %s", i, v.describe())
	return i
}

// leadingInt reads the integer at the beginning of s, as C does: "12x" is 12, "x" is 0.
func leadingInt(s string) int64 {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && s[end] == '-') {
		end++
	}
	i, err := strconv.ParseInt(s[:end], 10, 32)
	if err != nil && end > 1 {
		return math.MaxInt32
	}
	return i
}
