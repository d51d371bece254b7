package machine

import (
	"errors"
	"fmt"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// DeviceConfig is a device that does requests by raising its interrupt again and again.
type DeviceConfig struct {
	Name string
	Line *Line
	// BytesPerIRQ is how far a request gets with each interrupt; the last one may be short.
	BytesPerIRQ int64
	// Gap is how long the device takes, in ns, from the beginning of a request and from the
	// end of each handler until it raises its interrupt.
	Gap Span
	// Done, where set, is called when a request is done, by whoever executes the handler
	// on c.
	Done func(c event.CPU)
}

// Request is a piece of work of a device. Times are ns; End is event.NoTime while it is
// not done.
type Request struct {
	Bytes          int64
	Submitted, End event.Time
	// Begun is when the device turned to it.
	Begun event.Time
}

// Device is a device on a machine. It does one request after the other, in the order in
// which they came.
type Device struct {
	m        *Machine
	cfg      DeviceConfig
	id       int
	raised   bool // its interrupt was raised and not served
	requests []Request
	wakes    []func(event.CPU) // of the requests, nil: nobody waits
	current  int               // the request in hand, len(requests): none
	left     int64             // bytes of it
	bytes    int64             // transferred in all
}

// AddDevice connects a device to a line.
func (m *Machine) AddDevice(cfg DeviceConfig) (*Device, error) {
	switch {
	case cfg.Line == nil:
		return nil, fmt.Errorf("device %s has no interrupt", cfg.Name)
	case cfg.BytesPerIRQ <= 0:
		return nil, fmt.Errorf("device %s: %d bytes with each interrupt: no request would end", cfg.Name, cfg.BytesPerIRQ)
	case cfg.Gap.Min < 0 || cfg.Gap.Max < cfg.Gap.Min:
		return nil, fmt.Errorf("device %s: gap: %w", cfg.Name, errSpan)
	}
	d := &Device{m: m, cfg: cfg, id: len(m.devices)}
	m.devices = append(m.devices, d)
	cfg.Line.devices = append(cfg.Line.devices, d)
	return d, nil
}

// errNoBytes is a request for nothing.
var errNoBytes = errors.New("a request has at least one byte")

// Submit hands the device a request of so many bytes. done, where not nil, is called when
// it is done, by whoever executes the handler on c.
func (d *Device) Submit(bytes int64, done func(c event.CPU)) error {
	if bytes <= 0 {
		return fmt.Errorf("device %s: %d: %w", d.cfg.Name, bytes, errNoBytes)
	}
	d.requests = append(d.requests, Request{Bytes: bytes, Submitted: d.m.now, End: event.NoTime, Begun: event.NoTime})
	d.wakes = append(d.wakes, done)
	if d.current == len(d.requests)-1 {
		d.start()
	}
	return nil
}

// Requests returns all requests there were, in their order. The list is the device's own.
func (d *Device) Requests() []Request { return d.requests }

// Bytes returns how many bytes were transferred so far.
func (d *Device) Bytes() int64 { return d.bytes }

// start turns to the next request.
func (d *Device) start() {
	r := &d.requests[d.current]
	r.Begun, d.left = d.m.now, r.Bytes
	d.fireAfterGap()
}

// fireAfterGap lets the device raise its interrupt when it has something to say again.
func (d *Device) fireAfterGap() {
	gap := d.cfg.Gap.draw(d.cfg.Line.random)
	if gap == 0 {
		d.fire()
		return
	}
	d.m.queue.Push(engine.Item{At: d.m.now + gap, Rank: rankTimer, What: itemRaise, Arg: int64(d.id)})
}

// fire raises the interrupt.
func (d *Device) fire() {
	d.raised = true
	d.cfg.Line.raise()
}

// served is the work of the handler for this device, where it had raised the interrupt.
func (d *Device) served(c event.CPU) {
	if !d.raised {
		return // somebody else on the same line
	}
	d.raised = false
	n := min(d.left, d.cfg.BytesPerIRQ)
	d.left -= n
	d.bytes += n
	if d.left > 0 {
		d.fireAfterGap()
		return
	}
	d.requests[d.current].End = d.m.now
	done := d.wakes[d.current]
	d.wakes[d.current] = nil
	if d.current++; d.current < len(d.requests) {
		d.start()
	}
	if done != nil {
		done(c)
	}
	if d.cfg.Done != nil {
		d.cfg.Done(c)
	}
}
