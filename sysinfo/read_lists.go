package sysinfo

import (
	"fmt"

	"github.com/whylate/whylate/event"
)

// The elements that hold lists of CPUs. Each is read with these as text, since "0-8191" in
// every task would else need a thousand times the memory of the file: equal texts become one
// list. The outer fields go before those of the same name inside.

func (d *reader) cpu(to *CPU) error {
	var w struct {
		*CPU
		Siblings *string `json:"siblings"`
	}
	w.CPU = to
	to.Core, to.LLC, to.Node = -1, -1, -1
	if err := d.dec.Decode(&w); err != nil {
		return err
	}
	return d.cpus(w.Siblings, &to.Siblings)
}

func (d *reader) task(to *Task) error {
	var w struct {
		*Task
		CPUs *string `json:"cpus"`
	}
	w.Task = to
	if err := d.dec.Decode(&w); err != nil {
		return err
	}
	return d.cpus(w.CPUs, &to.CPUs)
}

func (d *reader) cgroup(to *CGroup) error {
	var w struct {
		*CGroup
		CPUs *string `json:"cpus"`
	}
	w.CGroup = to
	if err := d.dec.Decode(&w); err != nil {
		return err
	}
	return d.cpus(w.CPUs, &to.CPUs)
}

func (d *reader) irq(to *IRQ) error {
	var w struct {
		*IRQ
		CPUs      *string `json:"cpus"`
		Effective *string `json:"effective"`
	}
	w.IRQ = to
	if err := d.dec.Decode(&w); err != nil {
		return err
	}
	if err := d.cpus(w.CPUs, &to.CPUs); err != nil {
		return err
	}
	return d.cpus(w.Effective, &to.Effective)
}

// cpus sets to to the list that text is; nil or empty: to nil. Nobody may change such a list.
func (d *reader) cpus(text *string, to *CPUList) error {
	if text == nil || *text == "" {
		return nil
	}
	if l, ok := d.lists[*text]; ok {
		*to = l
		return nil
	}
	l, err := ParseCPUs(*text)
	if err != nil {
		return fmt.Errorf("%w: %w", err, event.ErrCorrupt)
	}
	if d.listed += len(l) + 1; d.listed > mostListed {
		return fmt.Errorf("too many different lists of CPUs: %w", event.ErrNotSupported)
	}
	l = l[:len(l):len(l)]
	d.lists[*text], *to = l, l
	return nil
}
