package sched

import (
	"slices"

	"github.com/whylate/whylate/event"
)

// The files bandwidth*.go are CFS bandwidth: a group with a quota may run so long in each
// period, on all CPUs together. The quota lies in the group (cfsBandwidth); each CPU takes slices
// of it (cfsRuntime) and uses them up. Where a CPU can take none, its queue of the group is
// throttled until the period timer, or what another CPU gives back, brings something.

// cfsBandwidth is cfs_bandwidth: the quota of a group. Times are ns.
type cfsBandwidth struct {
	quota, period, burst event.Time // quota noLimit: there is none
	runtime              event.Time // what is left for CPUs to take
	snap                 event.Time // runtime just after the last refill; runtime_snap
	hierarchical         int64      // hierarchical_quota: the least share of a CPU of it and those above, noQuota: all

	// runtimeExpires and expiresSeq are of the current period, with QuotaSlicesExpire.
	runtimeExpires event.Time
	expiresSeq     uint32

	expires      event.Time // of the period timer, as of rtBandwidth
	active       bool       // the period timer runs
	inTimer      bool       // its function does
	idle         bool       // nobody has taken anything in this period
	slackStarted bool       // the slack timer runs

	throttled []*cfsRQ // throttled queues, who was first goes on first

	stat QuotaStat // but for Usage
}

// noQuota is the hierarchical quota of groups without a limit.
const noQuota int64 = -1

// cfsRuntime is the part of cfs_rq that a quota needs.
type cfsRuntime struct {
	runtimeEnabled   bool       // the group has a quota
	runtimeRemaining event.Time // what is left of the slices, negative: a debt
	throttled        bool       // the queue waits for runtime
	hidden           bool       // and is not in those above meanwhile; never with TaskThrottle
	throttleCount    int        // throttled queues among it and those above
	throttledClock   event.Time // since when throttled_time counts, 0: it does not

	runtimeExpires event.Time
	expiresSeq     uint32

	limbo []*Task // throttled tasks, with TaskThrottle; throttled_limbo_list
}

const (
	defaultCfsPeriod event.Time = 100_000_000 // default_cfs_period()
	minCfsPeriod     event.Time = 1_000_000   // min_cfs_quota_period, of quotas too
	maxCfsPeriod     event.Time = 1_000_000_000
	maxCfsRuntime    event.Time = (1<<44 - 1) * 1000 // max_cfs_runtime

	minCfsRQRuntime        event.Time = 1_000_000 // what an empty queue keeps; min_cfs_rq_runtime
	minBandwidthExpiration event.Time = 2_000_000 // nearer to the end of a period nothing is given back
	cfsSlackPeriod         event.Time = 5_000_000 // how long what is given back waits for more
)

// initCfsBandwidth is init_cfs_bandwidth() and sync_throttle(): a new group has no quota, and is
// throttled with those above it.
func (s *Sched) initCfsBandwidth(g *Group) {
	b := &g.quota
	b.quota, b.period, b.hierarchical = noLimit, defaultCfsPeriod, noQuota
	if s.cfg.Fair.QuotaTimersInterleave {
		b.expires = event.Time(scramble(s.cfg.Fair.QuotaTimerSeed+uint64(g.id)) % uint64(defaultCfsPeriod))
	}
	if g.parent == nil {
		return
	}
	b.hierarchical = g.parent.quota.hierarchical
	for c := range g.cpus {
		g.cpus[c].cfs.throttleCount = g.parent.cpus[c].cfs.throttleCount
		s.syncLoadClock(&g.cpus[c].cfs)
	}
}

// scramble makes a number that looks random of any other; the finalizer of SplitMix64.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// refillCfsBandwidthRuntime begins a period: what is left of earlier ones counts up to the
// burst; __refill_cfs_bandwidth_runtime().
func (s *Sched) refillCfsBandwidthRuntime(b *cfsBandwidth) {
	if b.quota == noLimit {
		return
	}
	b.runtime += b.quota
	if over := b.snap - b.runtime; over > 0 {
		b.stat.BurstTime += over
		b.stat.Bursts++
	}
	b.runtime = min(b.runtime, b.quota+b.burst)
	b.snap = b.runtime
	b.runtimeExpires = s.host.Now() + b.period
	b.expiresSeq++
}

// assignCfsRQRuntime takes from the quota until cfs has target ns, as far as there is something,
// and reports whether cfs may run; __assign_cfs_rq_runtime().
func (s *Sched) assignCfsRQRuntime(cfs *cfsRQ, target event.Time) bool {
	b := &cfs.tg.quota
	amount := target - cfs.runtimeRemaining
	if b.quota != noLimit {
		s.startCfsBandwidth(cfs.tg, cfs.rq)
		if amount = max(min(amount, b.runtime), 0); amount > 0 {
			b.runtime -= amount
			b.idle = false
		}
	}
	cfs.runtimeRemaining += amount
	if cfs.expiresSeq != b.expiresSeq {
		cfs.runtimeExpires, cfs.expiresSeq = b.runtimeExpires, b.expiresSeq
	}
	return cfs.runtimeRemaining > 0
}

// accountCfsRQRuntime takes delta ns from what cfs may run, and a new slice where nothing is
// left; account_cfs_rq_runtime(). Without one the CPU has to choose anew: the queue is throttled
// there.
func (s *Sched) accountCfsRQRuntime(cfs *cfsRQ, delta event.Time) {
	if !cfs.runtimeEnabled {
		return
	}
	cfs.runtimeRemaining -= delta
	if s.cfg.Fair.QuotaSlicesExpire {
		s.expireCfsRQRuntime(cfs)
	}
	if cfs.runtimeRemaining > 0 || cfs.throttled {
		return
	}
	if !s.assignCfsRQRuntime(cfs, s.cfg.Fair.BandwidthSlice) && cfs.curr != nil {
		s.reschedCurr(s.hereOr(cfs.rq), cfs.rq)
	}
}

// expireCfsRQRuntime is expire_cfs_rq_runtime(), from 4.18 to 5.3: a slice of an earlier period
// is worth nothing.
func (s *Sched) expireCfsRQRuntime(cfs *cfsRQ) {
	switch {
	case cfs.rq.clock < cfs.runtimeExpires || cfs.runtimeRemaining < 0:
	case cfs.expiresSeq == cfs.tg.quota.expiresSeq:
		cfs.runtimeExpires += s.cfg.Tick // the period is not over, the clock of this CPU is fast
	default:
		cfs.runtimeRemaining = 0
	}
}

// returnCfsRQRuntime is return_cfs_rq_runtime(): a queue that became empty keeps 1 ms and gives
// back the rest. Throttled queues get it when the slack timer expires.
func (s *Sched) returnCfsRQRuntime(cfs *cfsRQ) {
	if !cfs.runtimeEnabled || cfs.nrRunning > 0 {
		return
	}
	slack := cfs.runtimeRemaining - minCfsRQRuntime
	if slack <= 0 {
		return
	}
	b := &cfs.tg.quota
	if b.quota != noLimit && (!s.cfg.Fair.QuotaSlicesExpire || cfs.expiresSeq == b.expiresSeq) {
		b.runtime += slack
		if b.runtime > s.cfg.Fair.BandwidthSlice && len(b.throttled) > 0 {
			s.startCfsSlackBandwidth(cfs.tg, cfs.rq)
		}
	}
	cfs.runtimeRemaining -= slack
}

// checkCfsRQRuntime throttles cfs if nothing is left and reports that; check_cfs_rq_runtime().
func (s *Sched) checkCfsRQRuntime(cfs *cfsRQ) bool {
	switch {
	case !cfs.runtimeEnabled || cfs.runtimeRemaining > 0:
		return false
	case cfs.throttled:
		return true // it runs all the same: it was current when it was put there
	}
	return s.throttleCfsRQ(cfs)
}

// checkEnqueueThrottle is check_enqueue_throttle(): whether a queue that gets its first entity
// may run.
func (s *Sched) checkEnqueueThrottle(cfs *cfsRQ) {
	if cfs.runtimeEnabled && cfs.curr == nil && !cfs.throttled {
		s.accountCfsRQRuntime(cfs, 0)
		if cfs.runtimeRemaining <= 0 {
			s.throttleCfsRQ(cfs)
		}
	}
	s.countThrottled(cfs)
}

// throttledHierarchy reports whether the tasks of cfs are kept out of the queue of the CPU,
// because cfs or a queue above it is throttled; throttled_hierarchy(). With TaskThrottle it is
// each task that is kept out, never a queue.
func (s *Sched) throttledHierarchy(cfs *cfsRQ) bool {
	return cfs.throttleCount > 0 && !s.cfg.Fair.TaskThrottle
}

// QuotaThrottled reports whether p is runnable and kept off its CPU because its group, or one
// above, has used up its quota.
func (p *Task) QuotaThrottled() bool {
	if p.class != fairClass || !p.onRQ {
		return false
	}
	return p.throttled || p.se.onRQ && !p.se.reachable()
}

// throttledOn reports whether p would find its group throttled on rq; throttled_lb_pair(),
// lb_throttled_hierarchy() from 6.18 on. Balancing does not move it there.
func (p *Task) throttledOn(rq *RQ) bool {
	return p.group != nil && p.group.cpus[rq.cpu].cfs.throttleCount > 0
}

// quotaConstrained reports whether p, or a group above it, may use up a quota; cfs_task_bw_constrained().
func (p *Task) quotaConstrained() bool {
	return p.class == fairClass && p.onRQ && p.group != nil && p.group.quota.hierarchical != noQuota
}

// reachable reports whether all groups above se are in their queues.
func (se *schedEntity) reachable() bool {
	for up := se.parent; up != nil; up = up.parent {
		if !up.onRQ {
			return false
		}
	}
	return true
}

// forget takes cfs out of the list of throttled queues.
func (b *cfsBandwidth) forget(cfs *cfsRQ) {
	if i := slices.Index(b.throttled, cfs); i >= 0 {
		b.throttled = slices.Delete(b.throttled, i, i+1)
	}
}
