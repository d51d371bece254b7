package sched

import "github.com/whylate/whylate/event"

// dlServer is the deadline server of the fair tasks of a CPU, rq->fair_server: a deadline
// entity that runs no code of its own but chooses fair tasks, in front of the real-time ones
// that starve them. It is deferred: at first it only waits for the moment at which it would
// have to run to get its runtime before its deadline, and what fair tasks get meanwhile, or
// the CPU idles, counts as its runtime.
//
// It is in one of these states: stopped; waiting for that moment (armed, throttled); running
// (in the queue of the deadline class); out of runtime (throttled, running) until its next
// period, where it does not wait again unless fair tasks have got a whole runtime by
// themselves.
type dlServer struct {
	task    *Task // carries the entity; never current, nil where there is no server
	active  bool  // dl_server_active: there were fair tasks when it was last looked at
	armed   bool  // dl_defer_armed: its timer is for the last moment
	running bool  // dl_defer_running: it had to serve, and serves on
	timer   bool  // dl_timer is queued
	expires event.Time
}

// serverMinRes is the runtime for which a timer that came too early is not started again;
// dl_server_min_res.
const serverMinRes event.Time = 1_000_000

// initFairServer makes the server of rq; fair_server_init() and what dl_server_start() does
// when it is called for the first time.
func (s *Sched) initFairServer(rq *RQ, comm event.Name) {
	if s.cfg.FairServerPeriod <= 0 {
		return
	}
	t := s.newTask(0, comm, Deadline, rq.cpu)
	t.prio, t.class = event.PrioDeadline, dlClass
	t.dl.member = true
	rq.server.task = t
	s.setServerParams(&t.dl, s.cfg.FairServerRuntime, s.cfg.FairServerPeriod)
	rq.dl.addThisBW(t.dl.dlBW)
	rq.dl.extraBW -= t.dl.dlBW
}

func (s *Sched) setServerParams(d *dlEntity, runtime, period event.Time) {
	d.dlRuntime, d.dlDeadline, d.dlPeriod = runtime, period, period
	d.dlBW = toRatio(period, runtime)
	d.dlDensity = d.dlBW
	d.runtime, d.deadline = 0, longAgo
}

// FairServer returns the entity of c's server, for the host to keep its timers; nil where
// the kernel has none. It is never current and in no list of tasks.
func (s *Sched) FairServer(c event.CPU) *Task { return s.rqs[c].server.task }

// FairServed reports whether a fair task has c because the server of the fair class goes
// before real-time tasks there.
func (s *Sched) FairServed(c event.CPU) bool {
	rq := s.rqs[c]
	return rq.curr.class == fairClass && rq.server.queued()
}

// queued reports whether the server could choose a task now.
func (sv *dlServer) queued() bool { return sv.task != nil && sv.task.dl.queued() }

// dlServerStart is dl_server_start(): the first fair task came. The CPU schedules in any
// case.
func (s *Sched) dlServerStart(rq *RQ) {
	sv := &rq.server
	if sv.task == nil || sv.task.dl.dlRuntime == 0 || sv.active {
		return
	}
	sv.active = true
	s.enqueueServer(rq, flagWakeup)
	s.serverPreempts(s.hereOr(rq), rq)
}

// serverPreempts asks for a choice where the current task does not go before the server.
func (s *Sched) serverPreempts(from event.CPU, rq *RQ) {
	if rq.curr.class != dlClass || dlEntityPreempt(rq.server.task, rq.curr) {
		s.reschedCurr(from, rq)
	}
}

// dlServerStop is dl_server_stop(): it found no fair task.
func (s *Sched) dlServerStop(rq *RQ) {
	sv := &rq.server
	if sv.task == nil || sv.task.dl.dlRuntime == 0 || !sv.active {
		return
	}
	s.dequeueServer(rq)
	s.taskNonContending(rq, sv.task)
	s.cancelServerTimer(sv)
	sv.armed, sv.active = false, false
	sv.task.dl.throttled = false
}

// enqueueServer is enqueue_dl_entity() for a server: it comes into the queue if it does not
// have to wait for its timer.
func (s *Sched) enqueueServer(rq *RQ, f flags) {
	sv := &rq.server
	d := &sv.task.dl
	if f&flagWakeup != 0 {
		s.taskContending(rq, sv.task)
		s.updateServer(rq)
	} else {
		s.replenishServer(rq)
	}
	if d.throttled && s.startServerTimer(rq) {
		return
	}
	if d.throttled {
		s.cancelServerTimer(sv)
		sv.armed, d.throttled = false, false
	}
	rq.dl.queue.insert(&d.node, int64(d.deadline))
	rq.dl.nrRunning++
	s.earliestChanged(rq)
}

func (s *Sched) dequeueServer(rq *RQ) {
	if d := &rq.server.task.dl; d.queued() {
		rq.dl.queue.remove(&d.node)
		rq.dl.nrRunning--
		s.earliestChanged(rq)
	}
}

// updateServer is update_dl_entity() for a server that starts: it keeps its deadline if its
// runtime still fits.
func (s *Sched) updateServer(rq *RQ) {
	sv := &rq.server
	d := &sv.task.dl
	switch {
	case d.deadline >= rq.clock && !dlEntityOverflow(d, rq.clock):
		if !sv.running {
			sv.armed, d.throttled = true, true
		}
	case sv.running && d.deadline >= rq.clock:
		d.runtime = event.Time(mulDiv(int64(d.deadline-rq.clock), d.dlDensity, bwUnit)) // the revised rule
	default:
		sv.running = false
		s.newServerPeriod(rq)
	}
}

// newServerPeriod is replenish_dl_new_period(): a server that does not serve waits again for
// the last moment.
func (s *Sched) newServerPeriod(rq *RQ) {
	sv := &rq.server
	sv.task.dl.newPeriod(rq)
	if !sv.running {
		sv.armed, sv.task.dl.throttled = true, true
	}
}

// replenishServer is replenish_dl_entity() for a server.
func (s *Sched) replenishServer(rq *RQ) {
	sv := &rq.server
	d := &sv.task.dl
	if sv.armed && dlEntityOverflow(d, rq.clock) {
		d.newPeriod(rq) // at the last moment nothing fits any more: it begins now
	}
	if d.runtime <= 0 {
		n := -d.runtime/d.dlRuntime + 1
		d.deadline += n * d.dlPeriod
		d.runtime += n * d.dlRuntime
	}
	if d.deadline < rq.clock {
		s.newServerPeriod(rq)
	}
	d.throttled = false
	if sv.armed {
		sv.armed = false
		return
	}
	if sv.running || rq.clock >= d.deadline-d.runtime {
		return
	}
	sv.armed, d.throttled = true, true
	if !s.startServerTimer(rq) {
		s.cancelServerTimer(sv)
		sv.armed, d.throttled = false, false
	}
}

// startServerTimer is start_dl_timer() for a server: for the last moment while it is
// deferred, else for the next period.
func (s *Sched) startServerTimer(rq *RQ) bool {
	sv := &rq.server
	d := &sv.task.dl
	at := d.nextPeriod()
	if sv.armed {
		at = d.deadline - d.runtime
	}
	if (at-rq.clock)/1000 < 0 {
		return false
	}
	if !sv.timer {
		s.setServerTimer(rq, s.hereOr(rq), at)
	}
	return true
}

func (s *Sched) setServerTimer(rq *RQ, c event.CPU, at event.Time) {
	rq.server.timer, rq.server.expires = true, at
	s.host.SetTimer(Timer{Kind: TimerDL, CPU: c, Task: rq.server.task}, at)
}

func (s *Sched) cancelServerTimer(sv *dlServer) {
	if sv.timer {
		sv.timer = false
		s.host.CancelTimer(Timer{Kind: TimerDL, CPU: sv.task.cpu, Task: sv.task})
	}
}

// dlServerTimer is dl_server_timer(). Where fair tasks have got some runtime since it was
// started, the last moment has moved: it waits on.
func (s *Sched) dlServerTimer(at event.CPU, rq *RQ) {
	sv := &rq.server
	d := &sv.task.dl
	sv.timer = false
	if !d.throttled || d.dlRuntime == 0 {
		return
	}
	s.updateRQClock(rq)
	if sv.armed {
		if left := d.deadline - rq.clock - d.runtime; left > serverMinRes {
			n := (rq.clock-sv.expires)/left + 1
			s.setServerTimer(rq, at, sv.expires+n*left)
			return
		}
		sv.running = true
	}
	s.enqueueServer(rq, flagReplenish)
	s.serverPreempts(at, rq)
	if rq.dl.pushable.n > 0 {
		s.pushDLTask(at, rq)
	}
}

// dlServerUpdate charges a server for what a fair task has run, whoever chose that;
// dl_server_update() with update_curr_dl_se().
func (s *Sched) dlServerUpdate(rq *RQ, delta event.Time) {
	sv := &rq.server
	if !sv.active || sv.task.dl.dlRuntime == 0 {
		return
	}
	d := &sv.task.dl
	d.runtime -= delta
	switch {
	case d.runtime > 0:
	case d.throttled:
		// Fair tasks have had all of it without help: nothing starves for a period.
		sv.running = false
		s.cancelServerTimer(sv)
		s.newServerPeriod(rq)
		s.startServerTimer(rq)
	default:
		d.throttled = true
		s.dequeueServer(rq)
		if !s.startServerTimer(rq) {
			s.enqueueServer(rq, flagReplenish)
		}
		if !rq.dl.leftmost(sv.task) {
			s.reschedCurr(rq.cpu, rq)
		}
	}
}

// dlServerLeft is what follows where a fair task leaves the CPU at the very moment at which
// the runtime of the server ended. In a kernel its clock has moved on since, be it by a
// nanosecond, and that is charged, too: fair tasks ran without the server, so this waits for
// the last moment again.
func (s *Sched) dlServerLeft(rq *RQ) {
	if sv := &rq.server; sv.active && sv.running && sv.task.dl.throttled {
		s.dlServerUpdate(rq, 0)
	}
}

// dlServerUpdateIdle takes the time in which p, the current task, had nothing to do from the
// runtime of the server: a real-time task that left the CPU idle has not starved anybody;
// dl_server_update_idle_time().
func (s *Sched) dlServerUpdateIdle(rq *RQ, p *Task) {
	sv := &rq.server
	if sv.task == nil || sv.task.dl.runtime < 0 {
		return
	}
	delta := rq.clock - p.execStart
	if delta < 0 {
		return
	}
	d := &sv.task.dl
	if d.runtime -= delta; d.runtime < 0 {
		sv.running = false
		d.runtime = 0
	}
	p.execStart = rq.clock
}
