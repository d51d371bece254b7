package cause

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// Balancing is what shows of the load balancer at work for an idle CPU while a fair task waited
// elsewhere. That it looks when it is about to go idle leaves no event: only what it pulls does.
type Balancing struct {
	// Softirqs counts the softirqs SCHED that the CPU ran while it was idle, or in a thread. Each
	// looks over the domains that are due, which may be none.
	Softirqs int
	// ByOthers counts those of other idle CPUs, Others: they may have looked for this one, too.
	ByOthers int
	Others   []event.CPU
	// Pulls counts the tasks that it got meanwhile, Pulled are the first of them.
	Pulls  int
	Pulled []timeline.Pull
	// Verdict is Proven where the CPU took something, or where surely no softirq ran; Likely where
	// one ran; Unknown where Needs were not recorded.
	Verdict Verdict
	Needs   []string
}

// balancing finds what shows of balancing for the CPU of e during w.
func (a *Analysis) balancing(w *latency.Wait, e *Elsewhere) {
	b := &Balancing{Verdict: Likely}
	e.Balancing = b
	for _, p := range a.pulls(e.CPU, w.Woken, w.End) {
		if b.Pulls++; b.Pulls <= mostPulled {
			b.Pulled = append(b.Pulled, p)
			e.Evidence = append(e.Evidence, Ref{p.At, p.By})
		}
	}
	took := slices.ContainsFunc(b.Pulled, func(p timeline.Pull) bool { return !p.Stopper })
	if took {
		b.Verdict = Proven
	}
	if !a.x.Occurs(event.SoftirqEntry) {
		if b.Needs = []string{"irq:softirq_entry"}; !took {
			b.Verdict = Unknown
		}
		return
	}
	for _, part := range e.idle {
		for _, p := range a.balances(part.From, part.To) {
			switch {
			case p.CPU == e.CPU:
				b.Softirqs++
			case a.idleAt(e.CPU, p.At):
				b.ByOthers++
				if !slices.Contains(b.Others, p.CPU) {
					b.Others = append(b.Others, p.CPU)
				}
			default:
				continue
			}
			if len(e.Evidence) < mostIdleRefs {
				e.Evidence = append(e.Evidence, p)
			}
		}
	}
	if b.Softirqs+b.ByOthers == 0 && !a.lostOn(e.CPU, w.Woken, w.End) {
		b.Verdict = Proven
	}
}

// pulls returns what was brought to c from from to to.
func (a *Analysis) pulls(c event.CPU, from, to event.Time) []timeline.Pull {
	list := a.x.CPUs[c].Pulls
	i := sort.Search(len(list), func(i int) bool { return list[i].At >= from })
	j := sort.Search(len(list), func(i int) bool { return list[i].At > to })
	return list[i:j]
}

// mostPulled bounds the tasks that are named for one idle CPU.
const mostPulled = 16

// mostIdleRefs bounds the evidence of one idle CPU.
const mostIdleRefs = 2 * mostPulled

// balances returns where idle CPUs balanced from from to to, that moment included: softirqs that
// began then. One that moves the task may do so at once.
func (a *Analysis) balances(from, to event.Time) []Ref {
	list := a.idlePasses
	i := sort.Search(len(list), func(i int) bool { return list[i].At >= from })
	j := sort.Search(len(list), func(i int) bool { return list[i].At > to })
	return list[i:j]
}

// collectPasses lists the softirqs SCHED of idle CPUs. Where softirqs run in a thread the CPU is
// idle but for that.
func (a *Analysis) collectPasses() {
	for c := range a.x.CPUs {
		for _, s := range a.x.CPUs[c].Softirqs {
			if s.Vec != event.SoftirqSched || s.Task == timeline.NoTask {
				continue
			}
			if t := a.x.Tracker.Task(s.Task); t.Idle() || kernel.IsSoftirqThread(a.comm(t.Comm)) {
				a.idlePasses = append(a.idlePasses, Ref{s.From, event.CPU(c)})
			}
		}
	}
	sort.SliceStable(a.idlePasses, func(i, j int) bool { return a.idlePasses[i].At < a.idlePasses[j].At })
}

// idleAt reports whether c stood idle at t.
func (a *Analysis) idleAt(c event.CPU, t event.Time) bool {
	runs := a.idle[c]
	i := sort.Search(len(runs), func(i int) bool { return runs[i].to > t })
	return i < len(runs) && runs[i].from <= t
}

// lostOn reports whether events of c are missing from from to to.
func (a *Analysis) lostOn(c event.CPU, from, to event.Time) bool {
	gaps := a.x.CPUs[c].Gaps
	i := firstEnding(gaps, from)
	return i < len(gaps) && gaps[i].From < to
}
