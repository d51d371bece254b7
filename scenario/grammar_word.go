package scenario

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

var policies = []struct {
	word string
	is   sched.Policy
}{{"other", sched.Normal}, {"normal", sched.Normal}, {"batch", sched.Batch}, {"idle", sched.Idle}, {"fifo", sched.FIFO}, {"rr", sched.RR}, {"deadline", sched.Deadline}}

// checkWord says whether value is one of the word called name.
func checkWord(name, value string) error {
	var err error
	switch name {
	case "cpus":
		_, err = parseCPUs(value)
	case "work", "held":
		if _, err = parseFactor(value); err != nil && !(name == "held" && value == outside) {
			return fmt.Errorf("%s wants ×FACTOR, like ×0.25, not %q", name, value)
		}
		return nil
	case "exit_normalize":
		_, err = normalizeNamed(value)
	case "cgroup":
		if !strings.HasPrefix(value, "/") {
			return fmt.Errorf("cgroup %q is no path such as /web; / is the root", value)
		}
	case "delay":
		_, err = parseSpan(value)
	case "later":
		_, err = parseLater(value)
	case "cpu.max", "cpu.max.burst", "cpu.weight", "cpu.weight.nice", "cpu.shares", "cpu.idle", "cpu.rt_runtime_us", "cpu.rt_period_us", "cpuset.cpus", "cpuset.cpus.partition":
		return writeGroup(new(workload.Group), name, value)
	case "pi":
		var on bool
		err = onOff(value, &on)
	default:
		err = alterAttr(new(sched.Attr), name, value)
	}
	return err
}

// Alter returns the attributes a with the words of the change. One number of priority and
// nice belongs to the policy; the other is 0, as the kernel wants it.
func (c *Change) Alter(a sched.Attr) sched.Attr {
	for _, v := range c.Values {
		// What could not be read was refused by ParseChange.
		_ = alterAttr(&a, v.Name, v.To)
	}
	if a.Policy == sched.FIFO || a.Policy == sched.RR {
		a.Nice, a.Slice = 0, 0
	} else {
		a.Priority = 0
	}
	return a
}

// AltersAttr reports whether the change has words for Alter.
func (c *Change) AltersAttr() bool {
	for _, v := range c.Values {
		switch v.Name {
		case "policy", "prio", "nice", "slice_us", "runtime", "deadline", "period":
			return true
		}
	}
	return false
}

// AllowedCPUs returns the CPUs that the change allows, nil if it says nothing of them.
func (c *Change) AllowedCPUs() []event.CPU {
	value, ok := c.value("cpus")
	if !ok {
		return nil
	}
	list, _ := parseCPUs(value)
	return list
}

// Work is the factor of a task's work; ok is false if the change has none.
func (c *Change) Work() (s workload.Scale, ok bool) { return c.factor("work") }

// outside is the value of held that moves work.
const outside = "outside"

// HeldOutside reports whether what tasks do while they hold a mutex is to come after they
// have given it back, all of it work of the same task.
func (c *Change) HeldOutside() bool {
	value, _ := c.value("held")
	return value == outside
}

// ExitNormalize is what the dying task becomes; ok is false if the change does not say.
func (c *Change) ExitNormalize() (how workload.Normalize, ok bool) {
	value, ok := c.value("exit_normalize")
	if !ok {
		return how, false
	}
	how, err := normalizeNamed(value)
	return how, err == nil
}

// CGroup is the path of the group that the task is to be in, "/" the root; ok is false if the change
// does not say.
func (c *Change) CGroup() (path string, ok bool) { return c.value("cgroup") }

// Held is the factor of what tasks do while they hold a mutex; ok is false if the change has
// none.
func (c *Change) Held() (s workload.Scale, ok bool) { return c.factor("held") }

// Scale is the factor of a ChangeTeardown.
func (c *Change) Scale() workload.Scale { return workload.ScaleOf(c.Factor) }

// PI reports whether holders of a mutex are to inherit priorities; ok is false if the change
// does not say.
func (c *Change) PI() (on, ok bool) {
	value, ok := c.value("pi")
	_ = onOff(value, &on)
	return on, ok
}

func (c *Change) factor(name string) (s workload.Scale, ok bool) {
	value, ok := c.value(name)
	if !ok {
		return s, false
	}
	n, err := parseFactor(value)
	if err != nil {
		return s, false
	}
	return workload.ScaleOf(n), true
}

// value returns the last word called name.
func (c *Change) value(name string) (value string, ok bool) {
	for _, v := range c.Values {
		if v.Name == name {
			value, ok = v.To, true
		}
	}
	return value, ok
}

// Matches reports whether one of the names is the change's pattern, or matches it as a
// shell's does.
func (c *Change) Matches(names ...string) bool {
	ok, err := matchAny(c.Pattern, names...)
	return ok && err == nil
}

// PatternOf is the pattern that means this name only.
func PatternOf(name string) string {
	if !strings.ContainsAny(name, `*?[\`) {
		return name
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(name)
}

// matchAny reports whether one of the names is pattern, or matches it as a shell's.
func matchAny(pattern string, names ...string) (bool, error) {
	for _, name := range names {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return false, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if ok || name == pattern {
			return true, nil
		}
	}
	return false, nil
}

func alterAttr(a *sched.Attr, name, value string) error {
	var n int64
	switch name {
	case "policy":
		for _, p := range policies {
			if strings.EqualFold(value, p.word) || strings.EqualFold(value, "SCHED_"+p.word) {
				a.Policy = p.is
				return nil
			}
		}
		return fmt.Errorf("policy %q is not other, batch, idle, fifo, rr or deadline", value)
	case "prio":
		err := number(value, 1, 99, &n)
		a.Priority = int(n)
		return err
	case "nice":
		err := number(value, -20, 19, &n)
		a.Nice = int(n)
		return err
	case "slice_us":
		// The kernel would cut what is out of range without a word.
		err := number(value, 100, 100_000, &n)
		a.Slice = event.Time(n) * 1000
		return err
	case "runtime", "deadline", "period":
		err := number(value, 1, 1<<40, &n)
		to := map[string]*event.Time{"runtime": &a.Runtime, "deadline": &a.Deadline, "period": &a.Period}[name]
		*to = event.Time(n) * 1000
		return err
	}
	return nil // not an attribute
}

// parseCPUs reads a list such as 0-3,5.
func parseCPUs(text string) ([]event.CPU, error) {
	var list []event.CPU
	for _, part := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(low)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(high)
		}
		if err != nil || a < 0 || b < a || b >= mostCPUs {
			return nil, fmt.Errorf("%q is no list of CPUs such as 0-3,5", text)
		}
		for c := a; c <= b && len(list) < mostCPUs; c++ {
			list = append(list, event.CPU(c))
		}
	}
	return list, nil
}
