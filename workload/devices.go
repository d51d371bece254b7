package workload

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// IRQ is an interrupt of the machine that the load runs on. Its arrivals begin with the
// load.
type IRQ struct {
	machine.IRQ     // without Done
	Post        int // semaphore that is raised when the handler is done; negative: none
}

// Device is a device of that machine.
type Device struct {
	machine.DeviceConfig     // without Line and Done
	IRQ                  int // index in Spec.IRQs
	Post                 int // semaphore that is raised when a request is done; negative: none
	// Bytes is the size of requests that come by themselves: the first one Start after the
	// load begins, then one every Every (0: no more), Count in all (0: for ever). 0: none.
	Bytes        int64
	Start, Every event.Time
	Count        int64
}

// equip sets up the interrupts and devices of the load.
func (r *Run) equip() error {
	for i := range r.spec.IRQs {
		irq := r.spec.IRQs[i].IRQ
		irq.Done = r.poster(r.spec.IRQs[i].Post)
		l, err := r.m.AddIRQ(irq)
		if err != nil {
			return err
		}
		r.lines = append(r.lines, l)
	}
	for i := range r.spec.Devices {
		d := &r.spec.Devices[i]
		if d.IRQ < 0 || d.IRQ >= len(r.lines) {
			return fmt.Errorf("device %s: interrupt %d does not exist", d.Name, d.IRQ)
		}
		cfg := d.DeviceConfig
		cfg.Line, cfg.Done = r.lines[d.IRQ], r.poster(d.Post)
		dev, err := r.m.AddDevice(cfg)
		if err != nil {
			return err
		}
		r.devices = append(r.devices, dev)
		if d.Bytes > 0 {
			r.request(d, dev, r.m.Now()+d.Start, 1)
		}
	}
	return nil
}

// request plans the request number n that comes by itself.
func (r *Run) request(d *Device, dev *machine.Device, at event.Time, n int64) {
	r.m.At(at, func() {
		if err := dev.Submit(d.Bytes, nil); err != nil {
			r.m.Fail(err)
		}
		if d.Every > 0 && (d.Count == 0 || n < d.Count) {
			r.request(d, dev, at+d.Every, n+1)
		}
	})
}

// poster returns what raises a semaphore from a handler, nil for none.
func (r *Run) poster(sem int) func(event.CPU) {
	if sem < 0 {
		return nil
	}
	return func(c event.CPU) { r.post(c, &r.sems[sem]) }
}

// post raises a semaphore by somebody on c who is no thread of the load.
func (r *Run) post(c event.CPU, s *semaphore) {
	s.value++
	if len(s.waiters) == 0 {
		return
	}
	w := s.waiters[0]
	w.woken, w.wokenAt = true, r.m.Now()
	s.waiters = remove(s.waiters, w)
	r.m.Wake(c, w.th)
}

// Lines returns the interrupts of the load, as in Spec.IRQs.
func (r *Run) Lines() []*machine.Line { return r.lines }

// Devices returns the devices of the load, as in Spec.Devices.
func (r *Run) Devices() []*machine.Device { return r.devices }

// io hands a request to a device and sleeps until it is done, whatever else wakes it.
func (p *thread) io(op *Op) (machine.Step, bool) {
	if p.visit == 0 {
		p.woken = false
		err := p.run.devices[op.Ref].Submit(op.Bytes, func(c event.CPU) {
			p.woken = true
			p.run.m.Wake(c, p.th)
		})
		if err != nil {
			p.run.m.Fail(err)
		}
	}
	if p.woken {
		return proceed, true
	}
	return machine.Step{Kind: machine.StepBlock, State: event.StateDisk}, false
}
