package sysinfo

import (
	"cmp"
	"errors"
	"fmt"
)

// CFSRQ is a queue of the fair class: each group has one on each CPU where something of it ran
// lately. The kernel lists no others.
type CFSRQ struct {
	CPU int32 `json:"cpu"`
	// Group is the path of its cgroup, "/": the root, or "/autogroup-N".
	Group string `json:"group"`
	// What the queue measures virtual time from, in ns; nil: this kernel has none, or it is not
	// known. MinVRuntimeNS goes back to before 4.11, ZeroVRuntimeNS replaced it in 2025;
	// AvgVRuntimeNS is that of EEVDF (6.6), of what is queued.
	MinVRuntimeNS  *int64 `json:"min_vruntime_ns,omitempty"`
	ZeroVRuntimeNS *int64 `json:"zero_vruntime_ns,omitempty"`
	AvgVRuntimeNS  *int64 `json:"avg_vruntime_ns,omitempty"`
	// Entity stands for the group in the queue above it; nil: the root has none.
	Entity *GroupEntity `json:"entity,omitempty"`
}

// GroupEntity is what a group is to the queue above it.
type GroupEntity struct {
	VRuntimeNS int64 `json:"vruntime_ns"`
	// Weight is load.weight, what the group's share came to last: 1024·1024 for all of a group of cpu.weight 100.
	Weight int64 `json:"weight"`
}

// CFSRQ returns the queue of group on cpu, nil for one that the snapshot does not know.
func (s *Snapshot) CFSRQ(cpu int32, group string) *CFSRQ {
	for i := range s.CFSRQs {
		if q := &s.CFSRQs[i]; q.CPU == cpu && q.Group == group {
			return q
		}
	}
	return nil
}

func (q *CFSRQ) compare(o *CFSRQ) int {
	return cmp.Or(cmp.Compare(q.CPU, o.CPU), cmp.Compare(q.Group, o.Group))
}

var errVirtual = errors.New("a virtual time is too far from 0")

// virtual checks virtual times, which may be negative: queues begin at −2²⁰ ns.
func virtual(list ...*int64) error {
	for _, t := range list {
		if t != nil && (*t < -mostNS || *t > mostNS) {
			return errVirtual
		}
	}
	return nil
}

func (q *CFSRQ) check(twice bool) error {
	if q.CPU < 0 || q.CPU >= mostCPUs {
		return errNegative
	}
	var entity error
	if e := q.Entity; e != nil {
		entity = errors.Join(virtual(&e.VRuntimeNS), times(0, e.Weight))
	}
	return errors.Join(named(q.Group, twice), virtual(q.MinVRuntimeNS, q.ZeroVRuntimeNS, q.AvgVRuntimeNS), entity)
}

// checkFair finds what makes no sense of what a task is to the fair class.
func (t *Task) checkFair() error {
	if t.Autogroup < 0 {
		return errNegative
	}
	if t.AutogroupNice < -20 || t.AutogroupNice > 19 {
		return fmt.Errorf("nice %d of its autogroup is not one of −20 to 19", t.AutogroupNice)
	}
	return errors.Join(virtual(t.VRuntimeNS, t.VirtualDeadlineNS), times(0, t.SliceNS))
}
