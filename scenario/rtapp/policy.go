package rtapp

import (
	"slices"
	"strings"
)

// Policy is a scheduling policy.
type Policy uint8

// The policies. Keep is the policy of a phase that names none: that of the thread so far.
const (
	Keep Policy = iota
	Other
	Batch
	Idle
	RR
	FIFO
	Deadline
)

var policyNames = []string{"", "SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE", "SCHED_RR", "SCHED_FIFO", "SCHED_DEADLINE"}

// String prints the kernel's name: "SCHED_FIFO"; "" for Keep.
func (p Policy) String() string { return policyNames[min(int(p), len(policyNames)-1)] }

// RealTime reports whether p is SCHED_FIFO or SCHED_RR.
func (p Policy) RealTime() bool { return p == FIFO || p == RR }

// Nice reports whether the priority of p is a nice value.
func (p Policy) Nice() bool { return p == Other || p == Batch }

// Group reports whether rt-app puts tasks of policy p into a taskgroup.
func (p Policy) Group() bool { return p == Other || p == Batch || p == Idle }

// defaultPriority is what rt-app takes where a policy comes without a priority.
func (p Policy) defaultPriority() int {
	if p.RealTime() {
		return 10
	}
	return 0
}

// policyOf reads a policy by its exact name.
func policyOf(m *members, key string, def Policy) Policy {
	name := m.textOr(key, "")
	if v := m.take(key); v == nil || v.kind != text {
		return def
	}
	i := slices.Index(policyNames, name)
	if i <= 0 {
		m.errorf(key, "invalid policy %s%s; there are %s", quoted(name),
			m.n.suggestion(name, policyNames[1:]), strings.Join(policyNames[1:], ", "))
		return def
	}
	return Policy(i)
}
