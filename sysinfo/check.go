package sysinfo

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// check finds what makes no sense in a sorted snapshot.
func (s *Snapshot) check() error {
	if len(s.Settings) > mostSettings || len(s.Features) > mostSettings || len(s.CPUs) > mostCPUs ||
		len(s.Tasks) > mostTasks || len(s.CGroups) > mostCGroups || len(s.CFSRQs) > mostCFSRQs || len(s.IRQs) > mostIRQs {
		return errors.New("holds more than any machine has")
	}
	if err := texts(s.Kernel.Release, s.Kernel.Version, s.Kernel.Machine); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	for i := range s.Settings {
		x := &s.Settings[i]
		if err := named(x.Name, i > 0 && x.Name == s.Settings[i-1].Name, x.Value); err != nil {
			return fmt.Errorf("setting %s: %w", short(x.Name), err)
		}
	}
	for i := range s.Features {
		f := &s.Features[i]
		if err := named(f.Name, i > 0 && f.Name == s.Features[i-1].Name); err != nil {
			return fmt.Errorf("feature %s: %w", short(f.Name), err)
		}
	}
	for i := range s.CPUs {
		if err := s.CPUs[i].check(i > 0 && s.CPUs[i].CPU == s.CPUs[i-1].CPU); err != nil {
			return fmt.Errorf("CPU %d: %w", s.CPUs[i].CPU, err)
		}
	}
	for i := range s.Tasks {
		if err := s.Tasks[i].check(i > 0 && s.Tasks[i].PID == s.Tasks[i-1].PID); err != nil {
			return fmt.Errorf("task %d: %w", s.Tasks[i].PID, err)
		}
	}
	for i := range s.CGroups {
		g := &s.CGroups[i]
		if err := g.check(i > 0 && g.Path == s.CGroups[i-1].Path); err != nil {
			return fmt.Errorf("cgroup %s: %w", short(g.Path), err)
		}
	}
	for i := range s.CFSRQs {
		q := &s.CFSRQs[i]
		if err := q.check(i > 0 && q.compare(&s.CFSRQs[i-1]) == 0); err != nil {
			return fmt.Errorf("queue of %s on CPU %d: %w", short(q.Group), q.CPU, err)
		}
	}
	for i := range s.IRQs {
		if err := s.IRQs[i].check(); err != nil {
			return fmt.Errorf("IRQ %d: %w", s.IRQs[i].Number, err)
		}
	}
	return nil
}

var (
	errTwice    = errors.New("is there twice")
	errNegative = errors.New("a number is negative, or too large")
	errText     = fmt.Errorf("a text has more than %d bytes", mostText)
)

func texts(list ...string) error {
	for _, t := range list {
		// JSON has three bytes for each that is no UTF-8.
		if len(t) > mostText || len(t) > mostText/3 && !utf8.ValidString(t) {
			return errText
		}
	}
	return nil
}

// named checks what has a name.
func named(name string, twice bool, others ...string) error {
	switch {
	case name == "":
		return errors.New("a name is missing")
	case twice:
		return errTwice
	}
	return errors.Join(texts(name), texts(others...))
}

// mostNS bounds times: 292 years are no setting.
const mostNS = 1 << 62

func times(least int64, list ...int64) error {
	for _, t := range list {
		if t < least || t > mostNS {
			return errNegative
		}
	}
	return nil
}

func (c *CPU) check(twice bool) error {
	switch {
	case twice:
		return errTwice
	case c.CPU < 0 || c.CPU >= mostCPUs, c.Core < -1, c.LLC < -1, c.Node < -1, c.Capacity < 0 || c.Capacity > 1024:
		return errNegative
	case c.FairServer != nil:
		return times(0, c.FairServer.RuntimeNS, c.FairServer.PeriodNS)
	}
	return c.Siblings.check()
}

func (t *Task) check(twice bool) error {
	switch {
	case twice:
		return errTwice
	case t.PID < 0 || t.TGID < 0, t.TimerSlackNS != nil && *t.TimerSlackNS < 0:
		return errNegative
	case t.Policy == "":
		return errors.New("a policy is missing")
	case t.Priority < 0 || t.Priority > 99:
		return fmt.Errorf("priority %d is not one of 0 to 99", t.Priority)
	case t.Nice < -20 || t.Nice > 19:
		return fmt.Errorf("nice %d is not one of −20 to 19", t.Nice)
	}
	return errors.Join(texts(t.Comm, t.Policy, t.CGroup), times(0, t.RuntimeNS, t.DeadlineNS, t.PeriodNS), t.checkFair(), t.CPUs.check())
}

func (g *CGroup) check(twice bool) error {
	if g.Weight < 0 || g.Weight > 10000 {
		return errNegative
	}
	if g.QuotaNS > 0 && g.PeriodNS == 0 {
		return errors.New("a quota without a period")
	}
	if r := g.RealTime; r != nil {
		if err := errors.Join(times(-1, r.RuntimeNS), times(0, r.PeriodNS)); err != nil {
			return err
		}
	}
	return errors.Join(named(g.Path, twice, g.Partition), times(0, g.QuotaNS, g.PeriodNS, g.BurstNS), g.CPUs.check())
}

func (q *IRQ) check() error {
	if q.Number < 0 || q.Thread < 0 {
		return errNegative
	}
	return errors.Join(texts(q.Name), q.CPUs.check(), q.Effective.check())
}

// check reports a list that is not rising, which would be another one after a Write.
func (l CPUList) check() error {
	for i, c := range l {
		if c < 0 || c >= mostCPUs || i > 0 && c <= l[i-1] {
			return fmt.Errorf("the list of CPUs %s does not rise within 0 to %d", short(l.String()), mostCPUs-1)
		}
	}
	return nil
}
