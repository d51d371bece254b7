package tracedat

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/trace/eventformat"
	"github.com/whylate/whylate/trace/ringbuf"
)

// Writer makes a trace.dat of version 6, which trace-cmd and all other readers open. It
// takes the events in the order of a Stream and needs memory for one page per CPU and some
// megabytes; what is more waits in a temporary file until Close writes everything.
//
// The same events give the same bytes. Reading the file gives the same events, but for
// what the format has no place for: a task has one name and one process in the whole file
// (Event.Comm, Event.TGID), names are cut at 15 bytes and texts at eventformat.MaxText,
// flags and depths are those that the kernel of Info records, and whoever wrote a marker,
// its event is called print.
type Writer struct {
	w     io.Writer
	info  event.Info
	names *event.Names

	enc   *eventformat.Encoder
	cpus  []*cpuWriter // by number; nil where nothing was recorded
	spool spool
	tasks taskFacts
	rec   []byte
	// snapshot is packed; nil: none.
	snapshot []byte
	err      error // the first one; nothing is written after it
}

// cpuWriter is what was written of one CPU.
type cpuWriter struct {
	page  ringbuf.Builder
	pages []uint32 // numbers in the spool
	last  uint64   // stamp of the last record
	lost  int64    // events that are missing in front of the next one
}

// writePage is the size of a page in a written file, that of most machines.
const writePage = 4096

// NewWriter starts a file that Close will write to w. info tells the kernel, the number of
// CPUs and the clock; of info.Events those that whylate interprets are described even if
// none occurs. Names of events are in names, to which the writer adds some of its own.
func NewWriter(w io.Writer, info event.Info, names *event.Names) *Writer {
	facts := kernel.Of(info.Kernel)
	return &Writer{w: w, info: info, names: names, tasks: newTaskFacts(&info),
		enc: eventformat.NewEncoder(names, eventformat.EncodeContext{Bits: commonBits(info.Kernel),
			LazyCount: facts.Flags.PreemptLazyCount == kernel.Yes, TaskStates: facts.ReportedStates == kernel.No})}
}

// SetSnapshot says, at any time before Close, what the machine of the recording was; nil: that
// is not known. The error tells what makes no sense in it; the file is then without one.
func (w *Writer) SetSnapshot(s *sysinfo.Snapshot) (err error) {
	w.snapshot = nil
	if s != nil {
		w.snapshot, err = sysinfo.Pack(s)
	}
	return err
}

// Write takes one event, which may be reused when it returns. An event without a CPU is an
// error: a trace.dat has no place for it.
func (w *Writer) Write(ev *event.Event) error {
	if w.err == nil {
		w.err = w.write(ev)
	}
	return w.err
}

func (w *Writer) write(ev *event.Event) error {
	if ev.CPU < 0 || ev.CPU >= maxCPUs {
		return fmt.Errorf("writing %s at %d: CPU %d: a trace.dat keeps its events by CPU: %w", ev.Kind, ev.Time, ev.CPU, event.ErrNotSupported)
	}
	c := w.cpu(ev.CPU)
	if ev.Kind == event.Gap {
		c.loses(ev.Arg)
		return nil
	}
	w.tasks.see(ev)
	var err error
	if w.rec, err = w.enc.Encode(w.rec[:0], ev); err != nil {
		return fmt.Errorf("writing at %d: %w", ev.Time, err)
	}
	// A stamp in front of the last one begins a page: within a page time only goes on.
	c.last = uint64(ev.Time)
	if c.lost == 0 && !c.page.Empty() && c.page.Add(c.last, w.rec) {
		return nil
	}
	if err := w.turn(c); err != nil {
		return err
	}
	if !c.page.Add(c.last, w.rec) {
		return fmt.Errorf("writing %s at %d: a record of %d bytes fits no page", ev.Kind, ev.Time, len(w.rec))
	}
	return nil
}

// cpu returns what is kept of CPU n.
func (w *Writer) cpu(n event.CPU) *cpuWriter {
	for int(n) >= len(w.cpus) { // at most maxCPUs
		w.cpus = append(w.cpus, nil)
	}
	if w.cpus[n] == nil {
		w.cpus[n] = &cpuWriter{}
	}
	return w.cpus[n]
}

// loses notes that n events are missing. Several gaps without an event between them become
// one, whose number is known only if all are.
func (c *cpuWriter) loses(n int64) {
	if n <= 0 || c.lost < 0 || c.lost+n < 0 { // none at all is no reason for a gap: as if unknown
		c.lost = ringbuf.UnknownLoss
		return
	}
	c.lost += n
}

// turn stores the page of c and begins the next one with the record at c.last.
func (w *Writer) turn(c *cpuWriter) error {
	if err := w.store(c); err != nil {
		return err
	}
	c.page.Reset(writePage, c.last, c.lost)
	c.lost = 0
	return nil
}

// store puts the page of c into the spool, unless it says nothing.
func (w *Writer) store(c *cpuWriter) error {
	if c.page.Empty() && !c.page.Lost() {
		return nil
	}
	n, err := w.spool.add(c.page.Bytes())
	if err != nil {
		return fmt.Errorf("keeping a page: %w", err)
	}
	c.pages = append(c.pages, n)
	return nil
}

// Close writes the file, as far as events were taken before an error. It does not close
// what NewWriter was given.
func (w *Writer) Close() error {
	if w.enc == nil { // closed before
		return w.err
	}
	err := w.finish()
	w.enc = nil
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("writing a trace.dat: %w", err)
	}
	return errors.Join(w.err, w.spool.close())
}

// finish writes the head, then the pages CPU by CPU.
func (w *Writer) finish() error {
	for _, c := range w.cpus {
		if c == nil {
			continue
		}
		if c.lost != 0 { // nothing follows, but that something is missing is known
			if err := w.turn(c); err != nil {
				return err
			}
		}
		if err := w.store(c); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(w.w, 256<<10)
	if _, err := out.Write(w.head()); err != nil {
		return err
	}
	for _, c := range w.cpus {
		if c == nil {
			continue
		}
		if err := w.spool.copy(out, c.pages); err != nil {
			return err
		}
	}
	return out.Flush()
}
