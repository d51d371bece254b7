package sched

// This file connects load tracking (pelt.go) with queues and groups.

// cfsLoad is the part of cfs_rq that tracks load.
type cfsLoad struct{}

// loadFlags say what updateLoadAvg does beside.
type loadFlags uint8

const (
	updateTG    loadFlags = 1 << iota // UPDATE_TG
	skipAgeLoad                       // SKIP_AGE_LOAD
	doAttach                          // DO_ATTACH
	doDetach                          // DO_DETACH
)

// detachFlags are those of a dequeue.
func detachFlags(se *schedEntity, _ flags) loadFlags {
	if se.task != nil && se.task.moving {
		return updateTG | doDetach
	}
	return updateTG
}

// updateLoadAvg is update_load_avg().
func (s *Sched) updateLoadAvg(*cfsRQ, *schedEntity, loadFlags) {}

// initEntityLoad is init_entity_runnable_average().
func (s *Sched) initEntityLoad(*schedEntity) {}

// attachTask is attach_task_cfs_rq(): p has become fair.
func (s *Sched) attachTask(*RQ, *Task) {}

// detachTask is detach_task_cfs_rq(): p is fair no more.
func (s *Sched) detachTask(*RQ, *Task) {}

// utilEstEnqueue is util_est_enqueue().
func (s *Sched) utilEstEnqueue(*RQ, *Task) {}

// utilEstDequeue is util_est_dequeue().
func (s *Sched) utilEstDequeue(*RQ, *Task) {}

// utilEstUpdate is util_est_update(); sleep: the task sleeps.
func (s *Sched) utilEstUpdate(*RQ, *Task, bool) {}
