package whatif

import (
	"fmt"

	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sched"
)

// quotaSteps are by how much a quota is made larger, in percent, the smallest first.
var quotaSteps = [...]int64{110, 125, 150, 200, 400}

// suggestQuota: the group is to save up what it leaves of its quota, or to have more of it, or the same
// in shorter periods, or no limit. What each of them would have come to the replay tells, so the
// smallest that is enough shows. Fewer threads at once would do as well, but are no setting.
func suggestQuota(a *asked) []Candidate {
	t := a.known.task(a.late.Comm, a.late.PID)
	if t == nil {
		return nil
	}
	var list []Candidate
	for n := t.Group; n > 0; n = a.known.Groups[n-1].Up {
		g := &a.known.Groups[n-1]
		if g.Quota <= 0 || g.Period <= 0 {
			continue
		}
		path := "cgroup=" + quoted(g.Path)
		quota, period := int64(g.Quota)/1000, int64(g.Period)/1000
		if g.Burst < g.Quota {
			list = append(list, Candidate{Text: fmt.Sprintf("%s saves up to %.1f ms of what it leaves of its quota", g.Path, milliseconds(quota)),
				Change: fmt.Sprintf("%s cpu.max.burst=%d", path, quota)})
		}
		for _, percent := range quotaSteps {
			more := quota * percent / 100
			list = append(list, Candidate{Text: fmt.Sprintf("%s with %.1f of each %.0f ms", g.Path, milliseconds(more), milliseconds(period)),
				Change: fmt.Sprintf("%s cpu.max=\"%d %d\"", path, more, period)})
		}
		if short := period / windows; short >= leastQuota && quota/windows >= leastQuota {
			list = append(list, Candidate{Text: fmt.Sprintf("%s with the same share in periods of %.1f ms", g.Path, milliseconds(short)),
				Change: fmt.Sprintf("%s cpu.max=\"%d %d\"", path, quota/windows, short)})
		}
		list = append(list, Candidate{Text: g.Path + " without a limit", Change: path + " cpu.max=max"})
	}
	return list
}

// leastQuota is the smallest quota and period that the kernel takes, µs.
const leastQuota = 1000

func milliseconds(us int64) float64 { return float64(us) / 1000 }

// suggestFairTurn: who ran instead is to weigh less than the waiter, or the waiter more, at the level at
// which they compete: as tasks of one group, else the groups. With EEVDF a shorter slice makes for
// earlier turns at the same share. Else they are kept apart.
func suggestFairTurn(a *asked) []Candidate {
	if a.cause.PID < 0 || !a.known.FairClass {
		return nil
	}
	victim, culprit := a.known.task(a.late.Comm, a.late.PID), a.known.task(a.cause.Comm, a.cause.PID)
	if victim == nil || culprit == nil {
		return nil
	}
	var list []Candidate
	mine, other := a.known.apart(victim.Group, culprit.Group)
	if a.known.Slices && victim.Attr.Policy != sched.Idle && (victim.Attr.Slice == 0 || victim.Attr.Slice > shortSlice*1000) {
		list = append(list, Candidate{Text: fmt.Sprintf("%s with slices of %d µs", a.late.Comm, shortSlice),
			Change: fmt.Sprintf("%s slice_us=%d", a.victim(), shortSlice)})
	}
	switch {
	case mine == 0 && other == 0:
		list = append(list, a.lighter(victim, culprit)...)
	case mine > 0 && !a.known.Groups[mine-1].Auto:
		list = append(list, heavier(&a.known.Groups[mine-1])...)
	case mine == 0 && victim.Attr.Nice > -20:
		list = append(list, a.niced(victim)...)
	}
	return append(list, a.apart()...)
}

// shortSlice is what is asked for, µs: the least that a kernel takes is 100.
const shortSlice = 500

// lighter lets the culprit weigh less, or the victim more.
func (a *asked) lighter(victim, culprit *Task) []Candidate {
	var list []Candidate
	if !kernel.IsKernelThread(a.cause.Comm) {
		if culprit.Attr.Nice < 19 && culprit.Attr.Policy != sched.Idle {
			nice := min(culprit.Attr.Nice+5, 19)
			list = append(list, Candidate{Text: fmt.Sprintf("%s at nice %d", a.cause.Comm, nice), Change: fmt.Sprintf("%s nice=%d", a.culprit(), nice)})
		}
		if culprit.Attr.Policy == sched.Normal {
			list = append(list, Candidate{Text: a.cause.Comm + " as SCHED_BATCH, which preempts nobody at a wake", Change: a.culprit() + " policy=batch"},
				Candidate{Text: a.cause.Comm + " as SCHED_IDLE", Change: a.culprit() + " policy=idle"})
		}
	}
	return append(list, a.niced(victim)...)
}

// niced lets the victim weigh more.
func (a *asked) niced(victim *Task) []Candidate {
	if victim.Attr.Nice <= -20 || victim.Attr.Policy == sched.Idle {
		return nil
	}
	nice := max(victim.Attr.Nice-5, -20)
	return []Candidate{{Text: fmt.Sprintf("%s at nice %d", a.late.Comm, nice), Change: fmt.Sprintf("%s nice=%d", a.victim(), nice)}}
}

// weightSteps are by how much a group is made heavier.
var weightSteps = [...]int64{2, 4}

// heavier is the group with a larger cpu.weight.
func heavier(g *Group) []Candidate {
	weight := int64(100)
	if g.Shares > 0 {
		weight = max((g.Shares*100+512)/1024, 1)
	}
	var list []Candidate
	for _, by := range weightSteps {
		if to := min(weight*by, 10_000); to > weight {
			list = append(list, Candidate{Text: fmt.Sprintf("%s with cpu.weight %d", g.Path, to), Change: fmt.Sprintf("cgroup=%s cpu.weight=%d", quoted(g.Path), to)})
		}
	}
	return list
}

// apart returns the groups above two tasks' groups that compete in one queue, as 1 + index; 0: the task itself does.
func (k *Known) apart(a, b int) (int, int) {
	var above [2][]int
	for i, n := range [2]int{a, b} {
		for ; n > 0; n = k.Groups[n-1].Up {
			above[i] = append(above[i], n)
		}
	}
	i, j := len(above[0]), len(above[1])
	for i > 0 && j > 0 && above[0][i-1] == above[1][j-1] {
		i, j = i-1, j-1
	}
	at := func(list []int, n int) int {
		if n == 0 {
			return 0
		}
		return list[n-1]
	}
	return at(above[0], i), at(above[1], j)
}
