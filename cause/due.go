package cause

import (
	"fmt"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// due is when a wake should have happened.
type due struct {
	at       event.Time // NoTime: not known
	verdict  Verdict
	detail   string
	evidence []Ref
}

// dueOf finds out when the wake of w was due: from the timer that the sleeper armed and
// whose expiry comes directly before its sched_waking, else from the softirq_raise of the
// handling that woke it, else from its own regularity. A timer that expired within its
// slack was not late: then due is the wake itself.
func (a *Analysis) dueOf(w *latency.Wait) due {
	none := due{at: event.NoTime}
	ci := a.x.CPU(w.Waker.CPU)
	if w.Kind != latency.Wakeup || w.New || ci == nil {
		return none
	}
	n := sort.Search(len(ci.Expiries), func(i int) bool { return ci.Expiries[i].At > w.Woken }) - 1
	if n >= 0 && a.woke(&ci.Expiries[n], w) {
		if d := a.dueByTimer(w, ci.Expiries[n], n); d.at != event.NoTime {
			return d
		}
		return a.dueBySoftirq(w, ci, event.SoftirqHrtimer)
	}
	if d := a.dueBySoftirq(w, ci, event.SoftirqTimer); d.at != event.NoTime || a.periods == nil {
		return d
	}
	return a.dueByPeriod(w)
}

// woke reports whether the expiry e is what woke the task of w: the waking came directly
// after it, by whoever served it, and is the one that began this wait. The newest expiry of
// the CPU may have woken the same task before, and something else woke it now.
func (a *Analysis) woke(e *timeline.Expiry, w *latency.Wait) bool {
	if e.Func != a.wakeup || e.Woke != w.Task.ID || e.WokeAt != w.Woken {
		return false
	}
	if e.Hard {
		return w.Waker.Context != latency.ContextTask
	}
	return w.Waker.Task == nil || w.Waker.Task.ID == e.Current
}

func (a *Analysis) dueByTimer(w *latency.Wait, e timeline.Expiry, n int) due {
	arm, ok := a.armed(e.CPU, n)
	if !ok || arm.By != w.Task.ID || arm.Expires == event.NoArg {
		return due{at: event.NoTime}
	}
	offset, ok := a.clocks.offset(e)
	if !ok {
		return due{at: event.NoTime}
	}
	d := due{at: event.Time(arm.Expires - offset), verdict: Proven, detail: "expiry of its own timer",
		evidence: []Ref{{arm.At, arm.CPU}, {e.At, e.CPU}}}
	if slack := arm.Expires - arm.Soft; arm.Soft != event.NoArg && slack > 0 {
		d.detail += fmt.Sprintf(", slack %d.%d µs included", slack/1000, slack%1000/100)
	}
	if d.at < arm.At {
		d.at = arm.At // nobody can wake it before it asks to be woken
		d.detail += ", already past when it was armed"
	}
	d.at = min(d.at, w.Woken)
	return d
}

// dueBySoftirq takes the moment at which the softirq that woke w was raised. For HRTIMER
// this is right if the handling expired one timer, for TIMER if it was raised only once
// since it was last served.
func (a *Analysis) dueBySoftirq(w *latency.Wait, ci *timeline.CPUIndex, vec int64) due {
	none := due{at: event.NoTime}
	i := firstEnding(ci.Softirqs, w.Woken)
	if i == len(ci.Softirqs) {
		return none
	}
	s := &ci.Softirqs[i]
	if s.From > w.Woken || s.Vec != vec || vec == event.SoftirqHrtimer && s.Expiries != 1 {
		return none
	}
	if s.Raises == 0 || vec == event.SoftirqTimer && s.Raises != 1 {
		return none
	}
	return due{at: s.Raised, verdict: Proven, detail: "softirq_raise of its timer",
		evidence: []Ref{{s.Raised, w.Waker.CPU}, {s.From, w.Waker.CPU}}}
}

// clocks knows how far the clocks of the timer bases are ahead of the trace's clock.
type clocks struct {
	bases []base
}

// base is one clock that timers use: CLOCK_MONOTONIC, CLOCK_REALTIME, …
type base struct {
	about   int64 // offset of its first sample
	samples []sample
	blocks  []int64 // largest offset of each blockSize samples
}

type sample struct {
	at     event.Time
	offset int64
}

const (
	// sameBase is how far two samples of one base can be apart: a timer can be served
	// that much late. Different clocks are further apart.
	sameBase int64 = 1_000_000_000
	// around is the stretch before and after an expiry whose samples count for it.
	around event.Time = 1_000_000_000
)

const (
	// maxBases bounds the bases; a kernel has four clocks.
	maxBases = 16
	// blockSize is how many samples one entry of base.blocks sums up.
	blockSize = 256
)

// collect takes the samples from the expiries in hard interrupts: now is read once per
// interrupt, so each is too small by the time until the event was stamped.
func (c *clocks) collect(x *timeline.Index) {
	for cpu := range x.CPUs {
		for _, e := range x.CPUs[cpu].Expiries {
			if e.Hard && e.Now != event.NoArg {
				c.add(e)
			}
		}
	}
	for i := range c.bases {
		b := &c.bases[i]
		sort.SliceStable(b.samples, func(i, j int) bool { return b.samples[i].at < b.samples[j].at })
		for n, s := range b.samples {
			if n%blockSize == 0 {
				b.blocks = append(b.blocks, s.offset)
			}
			last := len(b.blocks) - 1
			b.blocks[last] = max(b.blocks[last], s.offset)
		}
	}
}

func (c *clocks) add(e timeline.Expiry) {
	s := sample{e.At, e.Now - int64(e.At)}
	if b := c.base(s.offset); b != nil {
		b.samples = append(b.samples, s)
	} else if len(c.bases) < maxBases {
		c.bases = append(c.bases, base{about: s.offset, samples: []sample{s}})
	}
}

func (c *clocks) base(offset int64) *base {
	for i := range c.bases {
		if d := offset - c.bases[i].about; d > -sameBase && d < sameBase {
			return &c.bases[i]
		}
	}
	return nil
}

// offset returns timer clock − trace clock for the base of e, from the expiries within a
// second of it. ok is false without any.
func (c *clocks) offset(e timeline.Expiry) (ns int64, ok bool) {
	if e.Now == event.NoArg {
		return 0, false
	}
	b := c.base(e.Now - int64(e.At))
	if b == nil {
		return 0, false
	}
	i := sort.Search(len(b.samples), func(i int) bool { return b.samples[i].at >= e.At-around })
	j := sort.Search(len(b.samples), func(i int) bool { return b.samples[i].at > e.At+around })
	for i < j {
		if i%blockSize == 0 && i+blockSize <= j {
			if block := b.blocks[i/blockSize]; !ok || block > ns {
				ns, ok = block, true
			}
			i += blockSize
			continue
		}
		if s := b.samples[i].offset; !ok || s > ns {
			ns, ok = s, true
		}
		i++
	}
	return ns, ok
}
