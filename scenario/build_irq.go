package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// pollState is what the kernel calls the state in which an idle CPU looks for work itself.
const pollState = "POLL"

// hardware takes the interrupts and devices of the object "whylate".
func (b *builder) hardware(w *rtapp.Whylate) error {
	for i := range w.IRQs {
		irq, err := b.irq(&w.IRQs[i])
		if err != nil {
			return fmt.Errorf("%s: irqs: %s: %w", w.IRQs[i].Pos, w.IRQs[i].Name, err)
		}
		b.plan.Load.IRQs = append(b.plan.Load.IRQs, irq)
	}
	for _, s := range w.IdleStates {
		b.plan.IdleStates = append(b.plan.IdleStates, machine.IdleState{Name: s.Name, Latency: s.Latency, Residency: s.Residency, Poll: s.Name == pollState})
	}
	for _, s := range w.Steals {
		b.plan.Steals = append(b.plan.Steals, machine.Steal{CPUs: cpusOf(s.CPUs), Every: machine.Span(s.Every), Length: machine.Span(s.Length)})
	}
	for i := range w.Devices {
		b.plan.Load.Devices = append(b.plan.Load.Devices, b.device(w, &w.Devices[i]))
	}
	return nil
}

func (b *builder) irq(q *rtapp.IRQ) (workload.IRQ, error) {
	irq := workload.IRQ{Post: b.semaphore(q.Post)}
	m := &irq.IRQ
	if m.Softirq = q.Softirq != ""; m.Softirq {
		m.SoftirqVec, m.SoftirqWork = rtapp.SoftirqVector(q.Softirq), machine.Span(q.SoftirqWork)
	}
	m.Number, m.Name = splitIRQ(q.Name)
	m.CPUs = cpusOf(q.CPUs)
	m.Hard, m.Work = machine.Span(q.Hard), machine.Span(q.Work)
	m.Every, m.Offset, m.Jitter, m.Random, m.Count = q.Every, q.Offset, q.Jitter, q.Random, q.Count
	if q.Threaded != nil {
		m.Threading = machine.ThreadNever
		if *q.Threaded {
			m.Threading = machine.ThreadAlways
		}
	}
	if q.Policy != rtapp.Keep {
		a := attrOf(&rtapp.Props{Policy: q.Policy, Priority: q.Priority})
		m.Attr = &a
	}
	return irq, nil
}

func (b *builder) device(w *rtapp.Whylate, d *rtapp.Device) workload.Device {
	dev := workload.Device{Post: b.semaphore(d.Post), Bytes: d.Bytes, Start: d.Start, Every: d.Every, Count: d.Count}
	if d.Every == 0 {
		dev.Count = 1
	}
	dev.Name, dev.BytesPerIRQ, dev.Gap = d.Name, d.BytesPerIRQ, machine.Span(d.Gap)
	for i := range w.IRQs {
		if w.IRQs[i].Name == d.IRQ {
			dev.IRQ = i // that there is one was checked when the file was read
		}
	}
	return dev
}

// semaphore numbers the semaphore that something else than a task raises, −1 for none.
func (b *builder) semaphore(name string) int {
	if name == "" {
		return -1
	}
	return b.sems.of(name)
}

// splitIRQ takes the name of an interrupt apart as that of its thread has it: "14-pata" is
// number 14 and name pata. Without a number it is 0.
func splitIRQ(name string) (number int64, rest string) {
	before, after, ok := strings.Cut(name, "-")
	if n, err := strconv.ParseInt(before, 10, 32); ok && err == nil && n > 0 && after != "" {
		return n, after
	}
	return 0, name
}

// changeIRQ changes the threads of all interrupts that match pattern: the name in the file,
// the name without its number, or that of the thread.
func (p *Plan) changeIRQ(pattern string, words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("says nothing about the interrupt")
	}
	pattern = strings.TrimPrefix(pattern, "irq/")
	found := false
	var known []string
	for i := range p.Load.IRQs {
		irq := &p.Load.IRQs[i]
		known = append(known, irq.Name)
		ok, err := matchAny(pattern, irq.Name, strconv.FormatInt(irq.Number, 10)+"-"+irq.Name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		found = true
		if err := alterIRQ(irq, words); err != nil {
			return err
		}
	}
	if !found {
		return nearest.Unknown("interrupt of the scenario", pattern, known)
	}
	return nil
}

func alterIRQ(irq *workload.IRQ, words []string) error {
	a := sched.Attr{Policy: sched.FIFO, Priority: 50}
	if irq.Attr != nil {
		a = *irq.Attr
	}
	for _, w := range words {
		if err := alterAttr(&a, w); err != nil {
			return err
		}
		if value, ok := strings.CutPrefix(w, "cpus="); ok {
			list, err := parseCPUs(value)
			if err != nil {
				return err
			}
			irq.CPUs = list
		}
	}
	switch a.Policy {
	case sched.Deadline:
		return fmt.Errorf("the thread of an interrupt cannot be SCHED_DEADLINE")
	case sched.FIFO, sched.RR:
		a.Nice = 0
	default:
		a.Priority = 0
	}
	irq.Attr = &a
	return nil
}
