package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario/rtapp"
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
