package sched

import "github.com/whylate/whylate/event"

// cfsBandwidth is the part of cfs_rq that a quota needs.
type cfsBandwidth struct {
	throttled bool // the quota of the group is used up
}

// accountCfsRQRuntime takes delta ns from what cfs may run; account_cfs_rq_runtime().
func (s *Sched) accountCfsRQRuntime(*cfsRQ, event.Time) {}

// checkCfsRQRuntime throttles cfs if nothing is left and reports that; check_cfs_rq_runtime().
func (s *Sched) checkCfsRQRuntime(*cfsRQ) bool { return false }

// checkEnqueueThrottle is check_enqueue_throttle(): whether a queue that gets its first entity
// may run.
func (s *Sched) checkEnqueueThrottle(*cfsRQ) {}

// returnCfsRQRuntime is return_cfs_rq_runtime(): an empty queue gives back what it does not need.
func (s *Sched) returnCfsRQRuntime(*cfsRQ) {}

// throttledHierarchy reports whether cfs or a queue above it is throttled;
// throttled_hierarchy().
func (s *Sched) throttledHierarchy(*cfsRQ) bool { return false }
