package scenario

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// ErrNotModelled is the reason for which a change or a part of a file is refused although
// it means something to a kernel.
var ErrNotModelled = errors.New("not modelled yet")

// Change applies one change of the common grammar:
//
//	task=NAME policy=fifo|rr|other|batch|idle prio=N nice=N cpus=0-3,5
//	task=NAME policy=deadline runtime=µs deadline=µs period=µs
//	irq=NAME policy=fifo|rr|other|batch|idle prio=N nice=N cpus=0-3,5
//	set NAME=VALUE
//	kernel=PROFILE
//	cpus=N
//	exit_teardown ×FACTOR
//
// NAME of a task is the one in the file or a shell pattern; that of an interrupt may also be
// without its number. What irq= changes is the thread of its handler. Nothing is half done: after an
// error the plan must not be used, since some of its tasks may be changed.
func (p *Plan) Change(text string) error {
	if err := p.change(text); err != nil {
		return fmt.Errorf("change %q: %w", text, err)
	}
	return nil
}

// Vary applies the changes of the variant called name, in their order.
func (p *Plan) Vary(name string) error {
	known := make([]string, 0, len(p.Variants))
	for _, v := range p.Variants {
		if v.Name != name {
			known = append(known, v.Name)
			continue
		}
		for _, c := range v.Changes {
			if err := p.Change(c); err != nil {
				return fmt.Errorf("variant %s: %w", name, err)
			}
		}
		return nil
	}
	return nearest.Unknown("variant", name, known)
}

func (p *Plan) change(text string) error {
	words := strings.Fields(text)
	if len(words) == 0 {
		return errors.New("is empty")
	}
	if words[0] == "set" {
		if len(words) != 2 {
			return errors.New("wants set NAME=VALUE")
		}
		return p.set(words[1])
	}
	name, value, ok := strings.Cut(words[0], "=")
	switch {
	case name == "task" && ok:
		return p.changeTask(value, words[1:])
	case len(words) == 1 && name == "kernel" && ok:
		if _, err := KernelNamed(value); err != nil {
			return err
		}
		p.Kernel = value
		return nil
	case len(words) == 1 && name == "cpus" && ok:
		var n int64
		if err := number(value, 1, mostCPUs, &n); err != nil {
			return err
		}
		p.CPUs = int(n)
		return nil
	case name == "irq" && ok:
		return p.changeIRQ(value, words[1:])
	case name == "cgroup":
		return fmt.Errorf("cgroups are %w", ErrNotModelled)
	case name == "exit_teardown":
		return p.changeTeardown(words[1:])
	}
	return errors.New("begins with none of task=, irq=, set, kernel=, cpus=, exit_teardown")
}

func (p *Plan) set(word string) error {
	name, value, ok := strings.Cut(word, "=")
	if !ok {
		return errors.New("wants set NAME=VALUE")
	}
	if _, err := settingNamed(name); err != nil {
		return err
	}
	p.Values = append(p.Values, Value{name, value})
	return nil
}

// changeTask changes all tasks that match pattern.
func (p *Plan) changeTask(pattern string, words []string) error {
	if len(words) == 0 {
		return errors.New("says nothing about the task")
	}
	found := false
	var known []string
	for i := range p.Load.Tasks {
		t := &p.Load.Tasks[i]
		known = append(known, t.Name)
		if ok, err := matchAny(pattern, t.Name); err != nil {
			return err
		} else if !ok {
			continue
		}
		found = true
		if err := alter(t, words); err != nil {
			return err
		}
	}
	if !found {
		return nearest.Unknown("task of the scenario", pattern, known)
	}
	return nil
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

// alter applies the words to a task. What its phases set themselves is changed there too:
// else the change would last until the first of them.
func alter(t *workload.Task, words []string) error {
	attrs := []**sched.Attr{&t.Attr}
	for i := range t.Phases {
		if t.Phases[i].Attr != nil {
			attrs = append(attrs, &t.Phases[i].Attr)
		}
	}
	for _, a := range attrs {
		changed := sched.Attr{}
		if *a != nil {
			changed = **a
		}
		for _, w := range words {
			if err := alterAttr(&changed, w); err != nil {
				return err
			}
		}
		// One number of the two belongs to the policy; the kernel refuses the other.
		if changed.Policy == sched.FIFO || changed.Policy == sched.RR {
			changed.Nice = 0
		} else {
			changed.Priority = 0
		}
		*a = &changed
	}
	for _, w := range words {
		if value, ok := strings.CutPrefix(w, "cpus="); ok {
			list, err := parseCPUs(value)
			if err != nil {
				return err
			}
			t.CPUs = list
			for i := range t.Phases {
				t.Phases[i].CPUs = nil
			}
		}
	}
	return nil
}

var policies = []struct {
	word string
	is   sched.Policy
}{{"other", sched.Normal}, {"normal", sched.Normal}, {"batch", sched.Batch}, {"idle", sched.Idle}, {"fifo", sched.FIFO}, {"rr", sched.RR}, {"deadline", sched.Deadline}}

func alterAttr(a *sched.Attr, word string) error {
	name, value, ok := strings.Cut(word, "=")
	if !ok {
		return fmt.Errorf("%q is not NAME=VALUE", word)
	}
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
	case "runtime", "deadline", "period":
		err := number(value, 1, 1<<40, &n)
		to := map[string]*event.Time{"runtime": &a.Runtime, "deadline": &a.Deadline, "period": &a.Period}[name]
		*to = event.Time(n) * 1000
		return err
	case "cpus":
		return nil // not an attribute: the caller looks at it
	}
	return fmt.Errorf("%q is not policy, prio, nice, cpus, runtime, deadline or period", name)
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
