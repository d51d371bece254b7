package truth

import (
	"iter"
	"sort"

	"github.com/whylate/whylate/event"
)

// CoverKind is what a CPU does in front of the task that holds it.
type CoverKind uint8

// The covers. Open is none: the holder itself gets on, or the CPU is idle.
const (
	Open     CoverKind = iota
	HardIRQ            // the handler of device interrupt Cover.N, called Cover.Name
	LocalIRQ           // an interrupt that has no handler: the local timer, one from another CPU
	SoftIRQ            // softirq vector Cover.N, in interrupt context
	Own                // the machine's own work: switches, the entry of interrupts, wakes
	IdleExit           // leaving an idle state
	Stolen             // the hypervisor runs somebody else
)

// String is the cover in words.
func (k CoverKind) String() string {
	return [...]string{"open", "hard interrupt", "local interrupt", "softirq", "own work", "idle exit", "stolen"}[k]
}

// Cover is what lies over the holder of a CPU.
type Cover struct {
	Kind CoverKind
	N    int64      // number of the interrupt, vector of the softirq
	Name event.Name // of the handler
}

// Covering is a time on a CPU with one Cover. Times are ns, To is the first moment after it.
type Covering struct {
	Cover
	From, To event.Time
}

// Cover says that from now on c lies over whoever holds cpu; the zero Cover ends it.
func (l *Log) Cover(at event.Time, cpu event.CPU, c Cover) {
	l.end = max(l.end, at)
	list := &l.cpu(cpu).covers
	if n := len(*list); n > 0 {
		last := &(*list)[n-1]
		if last.To == event.NoTime {
			if last.Cover == c {
				return
			}
			last.To = at
			if last.From == at {
				*list = (*list)[:n-1] // it took no time
			}
		}
	}
	if n := len(*list); n > 0 && (*list)[n-1].To == at && (*list)[n-1].Cover == c {
		(*list)[n-1].To = event.NoTime // it goes on
		return
	}
	if c.Kind != Open {
		*list = append(*list, Covering{c, at, event.NoTime})
	}
}

// Covers yields what lay over the holders of cpu from from to to, cut to that part. Times
// without a cover are left out.
func (l *Log) Covers(cpu event.CPU, from, to event.Time) iter.Seq[Covering] {
	return func(yield func(Covering) bool) {
		list := l.seen(cpu).covers
		i := sort.Search(len(list), func(i int) bool { return list[i].From > from })
		for i = max(i-1, 0); i < len(list) && list[i].From < to; i++ {
			c := list[i]
			c.From, c.To = max(c.From, from), min(closed(c.To, l.end), to)
			if c.From < c.To && !yield(c) {
				return
			}
		}
	}
}
