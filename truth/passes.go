package truth

import (
	"iter"
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
)

// DefaultPassBytes bounds the memory of a log's passes where KeepPasses says nothing else. A
// pass takes some 30 bytes and 10 for each group and queue that it compared: at a domain of 16
// groups about 250, so that a million of them fit.
const DefaultPassBytes = 256 << 20

// settleBytes is how much is kept of passes of which it is not known yet whether a wait needs
// them, before that is looked at.
const settleBytes = 1 << 20

// passes are the passes of the balancer that concern a wait, packed, in the order of time.
type passes struct {
	code    coder
	data    []byte
	at      []mark // of each pass, in data
	settled int    // from this pass on an open wait may still turn out to be short
	checkAt int    // bytes at which to look again
	over    event.Time
	most    int
	dropped int64
	open    []int // waits that are not over
}

// mark is where a packed pass begins.
type mark struct {
	at event.Time
	i  int
}

// KeepPasses bounds what Pass keeps: passes that could have ended a wait of at least over (0: any
// wait), in about most bytes (0: DefaultPassBytes). It is to be called first.
func (l *Log) KeepPasses(over event.Time, most int) { l.passes.over, l.passes.most = over, most }

// Pass tells of a pass of the balancer. The log keeps no part of p; and nothing of a pass that
// could not have taken any task that waits now.
func (l *Log) Pass(p *Pass) {
	l.PassFor(p, func(yield func(*Wait) bool) {
		for _, i := range l.passes.open {
			if !yield(&l.waits[i]) {
				return
			}
		}
	})
}

// PassFor is Pass for who knows the waits that matter: p is kept if it could have taken the task of
// one of them.
func (l *Log) PassFor(p *Pass, waits iter.Seq[*Wait]) {
	l.end = max(l.end, p.At)
	x, some := &l.passes, false
	for w := range waits {
		if _, some = l.concerns(w, p); some {
			break
		}
	}
	if !some {
		return
	}
	most := x.most
	if most <= 0 {
		most = DefaultPassBytes
	}
	if x.over > 0 && len(x.data) >= min(max(x.checkAt, settleBytes), most) && x.dropped%retry == 0 {
		l.settle(p.At)
		x.checkAt = 2 * len(x.data)
	}
	if len(x.data) >= most {
		x.dropped++
		return
	}
	x.at = append(x.at, mark{p.At, len(x.data)})
	x.data = x.code.append(x.data, p)
}

// retry is how many passes are dropped before memory is looked for again.
const retry = 4096

// PassesDropped returns how many passes were not kept for want of memory.
func (l *Log) PassesDropped() int64 { return l.passes.dropped }

// concerns reports whether p could have taken the task of w, and where that waited: p looked for
// another CPU on which the task might run, over a domain that holds the one where it waited.
func (l *Log) concerns(w *Wait, p *Pass) (on event.CPU, ok bool) {
	if p.At < w.From || w.To != event.NoTime && p.At > w.To || !l.Allowed(w.PID, p.CPU, p.At) {
		return event.NoCPU, false
	}
	// In the moment of a move both queues are right.
	i := sort.Search(len(w.Parts), func(i int) bool { t := w.Parts[i].To; return t == event.NoTime || t >= p.At })
	for ; i < len(w.Parts) && w.Parts[i].From <= p.At; i++ {
		q := &w.Parts[i].Queued
		if q.Rule == Fair && !q.Flying && q.CPU != p.CPU && has(p.Span, q.CPU) {
			return q.CPU, true
		}
	}
	return event.NoCPU, false
}

// settle gives up the passes that only concern waits that turned out to be short.
func (l *Log) settle(now event.Time) {
	x := &l.passes
	var long []*Wait // and those that are open
	first := len(x.at)
	for i := range l.waits {
		w := &l.waits[i]
		if w.Open || w.To-w.From >= x.over {
			long = append(long, w)
		}
	}
	kept, size, next := x.settled, len(x.data), 0
	if kept < len(x.at) {
		size = x.at[kept].i
	}
	var active []*Wait
	for i := kept; i < len(x.at); i++ {
		m, end := x.at[i], len(x.data)
		if i+1 < len(x.at) {
			end = x.at[i+1].i
		}
		for ; next < len(long) && long[next].From <= m.at; next++ {
			active = append(active, long[next])
		}
		active = slices.DeleteFunc(active, func(w *Wait) bool { return !w.Open && w.To < m.at })
		p := x.code.read(x.data[m.i:end])
		if !slices.ContainsFunc(active, func(w *Wait) bool { _, ok := l.concerns(w, &p); return ok }) {
			continue
		}
		x.at[kept] = mark{m.at, size}
		size += copy(x.data[size:], x.data[m.i:end])
		kept++
	}
	x.at, x.data = x.at[:kept], x.data[:size]
	for _, i := range x.open {
		if w := &l.waits[i]; now-w.From < x.over {
			from := w.From
			first = min(first, sort.Search(len(x.at), func(i int) bool { return x.at[i].at >= from }))
		}
	}
	x.settled = min(first, kept)
}

// Looked is a pass that could have ended a wait.
type Looked struct {
	Pass
	From event.CPU // where the task waited then
	Miss Miss
}

// PassesFor yields the passes that could have ended w, in the order of time: of a CPU on which
// its task might run, over a domain that holds the CPU where it waited, while it waited there.
// They are the caller's to keep.
func (l *Log) PassesFor(w *Wait) iter.Seq[Looked] {
	return func(yield func(Looked) bool) {
		x := &l.passes
		i := sort.Search(len(x.at), func(i int) bool { return x.at[i].at >= w.From })
		for ; i < len(x.at) && (w.To == event.NoTime || x.at[i].at <= w.To); i++ {
			p := x.code.read(x.data[x.at[i].i:])
			if on, ok := l.concerns(w, &p); ok && !yield(Looked{p, on, p.missOf(w.PID, on)}) {
				return
			}
		}
	}
}

// PassBytes returns how much memory the packed passes take.
func (l *Log) PassBytes() int { return len(l.passes.data) }
