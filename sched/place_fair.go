package sched

import "github.com/whylate/whylate/event"

// This file decides on which CPU a fair task that wakes, is new or executes another program
// goes on: beside the waker or where it was (place_affine.go), there on an idle CPU that shares
// the cache (place_sibling.go); or, where a domain asks for it, on the idlest of all CPUs
// (place_slow.go). All CPUs are equal, so that nothing is asked about their capacities or about energy.

// WakeFlags say how a task comes to a CPU; WF_*.
type WakeFlags uint8

const (
	// WakeSync: the waker says that it is about to sleep, as pipes and sockets do and futexes do
	// not; WF_SYNC.
	WakeSync WakeFlags = 1 << iota
	// WakeIRQ: it is not the current task of the CPU that wakes, but an interrupt or a softirq;
	// !in_task().
	WakeIRQ
	WakeFork // it is new; WF_FORK
	WakeExec // it begins another program; WF_EXEC
	wakeTTWU // it slept; WF_TTWU
)

// placement is what a scheduler needs to place fair tasks.
type placement struct {
	asking         bool    // somebody only wants to know: nothing is noted
	smtActive      bool    // some core has several threads
	idlePolicySeen bool    // something has been SCHED_IDLE
	placeMask      cpuMask // scratch
	slowPass       BalancePass
}

// wakeHabits are what placement knows of a task.
type wakeHabits struct {
	lastWakee      *Task
	wakeeFlips     uint64    // how often it woke another one than the time before
	wakeeFlipDecay int64     // when they were halved, jiffies
	recentUsedCPU  event.CPU // where it was before its last CPU; recent_used_cpu
}

// initPlacement begins as a machine that has idled for a while: its caches are known to have idle
// cores, and all CPUs of them are worth a look.
func (s *Sched) initPlacement() {
	s.placeMask = newMask(s.cfg.CPUs)
	for c := range event.CPU(s.cfg.CPUs) {
		if s.smtMask(c).count() > 1 {
			s.smtActive = true
		}
		if shared := s.llcShared(c); shared != nil {
			shared.hasIdleCores, shared.nrIdleScan = true, s.llcSize(c)
		}
	}
}

// balances are the domains in which the idlest CPU is looked for; sd_flag.
func (f WakeFlags) balances() domainFlags {
	switch {
	case f&WakeFork != 0:
		return sdBalanceFork
	case f&WakeExec != 0:
		return sdBalanceExec
	}
	return sdBalanceWake
}

// selectTaskRQFair is select_task_rq_fair(): from executes the wake, prev is where p was.
func (s *Sched) selectTaskRQFair(from event.CPU, p *Task, prev event.CPU, f WakeFlags) event.CPU {
	if s.standIn() {
		return s.placeStandIn(p, prev, f&WakeFork != 0)
	}
	if from < 0 {
		from = prev
	}
	target, affine := prev, false
	if f&wakeTTWU != 0 {
		waker := s.rqs[from].curr
		s.recordWakee(waker, p)
		affine = !s.wakeWide(from, waker, p) && p.mask.has(from)
	}
	var slow *schedDomain
	for sd := s.rqs[from].sd; sd != nil; sd = sd.parent {
		if affine && sd.flags&sdWakeAffine != 0 && sd.span.has(prev) {
			if from != prev {
				target = s.wakeAffine(sd, p, from, prev, f&WakeSync != 0)
			}
			slow = nil
			break
		}
		if sd.flags&f.balances() != 0 {
			slow = sd
		} else if !affine {
			break
		}
	}
	switch {
	case slow != nil:
		return s.findIdlestCPU(slow, p, from, prev, f)
	case f&wakeTTWU != 0:
		return s.selectIdleSibling(from, p, prev, target, f)
	}
	return prev
}

// recordWakee counts how often waker wakes another task than the time before; record_wakee(). What
// it counted is halved when it is a second old. The idle task counts for interrupts.
func (s *Sched) recordWakee(waker, p *Task) {
	if s.asking {
		return
	}
	now := s.jiffies(s.host.Now())
	if now > waker.wakeeFlipDecay+s.hz() {
		waker.wakeeFlips >>= 1
		waker.wakeeFlipDecay = now
	}
	if waker.lastWakee != p {
		waker.lastWakee = p
		waker.wakeeFlips++
	}
}

// inheritWakees gives a new task the habits of its parent, of which fork(2) makes a copy.
func (s *Sched) inheritWakees(p *Task, from event.CPU) {
	p.recentUsedCPU = from
	if parent := s.rqs[from].curr; parent.class != idleClass {
		p.lastWakee, p.wakeeFlips, p.wakeeFlipDecay = parent.lastWakee, parent.wakeeFlips, parent.wakeeFlipDecay
	}
}

// wakeWide is wake_wide(): whoever wakes more tasks in turn than a cache has CPUs, tasks that do
// the same, should spread them and not gather them around itself.
func (s *Sched) wakeWide(from event.CPU, waker, p *Task) bool {
	master, slave, factor := waker.wakeeFlips, p.wakeeFlips, uint64(s.llcSize(from))
	if s.asking && waker.lastWakee != p {
		master++ // as if the wake had been counted
	}
	if master < slave {
		master, slave = slave, master
	}
	return slave >= factor && master >= slave*factor
}

// Exec is sched_exec(), when the current task of c begins another program: as it then has next to
// nothing in the cache, it is brought to the idlest CPU.
func (s *Sched) Exec(c event.CPU) Work {
	s.begin(c)
	rq := s.rqs[c]
	p := rq.curr
	if p.class == idleClass || s.follow != nil {
		return s.work
	}
	if dest := s.chooseTaskRQ(c, p, c, WakeExec); dest != c {
		s.stopOneCPU(c, rq, stopWork{task: p, exec: true, to: dest})
	}
	return s.work
}
