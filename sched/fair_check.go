package sched

import (
	"fmt"

	"github.com/whylate/whylate/event"
)

// check walks over the entities of a queue and of the groups in it and returns how many tasks
// it found.
func (cfs *cfsRQ) check() (int, error) {
	tasks, entities, delayed := 0, 0, 0
	idle, idleTasks := 0, 0
	weight := int64(0)
	var err error
	look := func(se *schedEntity) {
		entities++
		weight += se.load.weight
		if se.task != nil && se.delayed {
			delayed++
		}
		if se.isIdle() {
			idle++
		}
		idleTasks += se.idleTasks()
		switch {
		case err != nil:
		case se.cfsRQ != cfs || !se.onRQ:
			err = fmt.Errorf("an entity of another queue, or on_rq %v", se.onRQ)
		case se.task != nil:
			if tasks++; se.task.cpu != cfs.rq.cpu {
				err = fmt.Errorf("task %d of CPU %d", se.task.PID, se.task.cpu)
			}
		default:
			var n int
			n, err = se.myQ.check()
			tasks += n
			delayed += se.myQ.hNrDelayed
		}
	}
	if c := cfs.curr; c != nil && c.onRQ {
		look(c)
	}
	cfs.timeline.each(func(n *node) { look(n.se) })
	switch {
	case err != nil:
		return tasks, err
	case entities != cfs.nrRunning || tasks != cfs.hNrRunning:
		return tasks, fmt.Errorf("nr_running %d, h_nr_running %d; in the queues %d, %d", cfs.nrRunning, cfs.hNrRunning, entities, tasks)
	case idle != cfs.idleNr || idleTasks != cfs.idleHNr:
		return tasks, fmt.Errorf("idle_nr_running %d, idle_h_nr_running %d; in the queues %d, %d", cfs.idleNr, cfs.idleHNr, idle, idleTasks)
	case weight != cfs.load.weight:
		return tasks, fmt.Errorf("load %d, the entities weigh %d", cfs.load.weight, weight)
	case delayed != cfs.hNrDelayed:
		return tasks, fmt.Errorf("h_nr_delayed %d, in the queues %d", cfs.hNrDelayed, delayed)
	}
	for _, se := range []*schedEntity{cfs.next, cfs.last, cfs.skip} {
		// Who yields is skipped in all queues above, also where a quota has just taken them out.
		if se != nil && (se.cfsRQ != cfs || !se.onRQ && se != cfs.skip) {
			return tasks, fmt.Errorf("a buddy of another queue, or on_rq %v", se.onRQ)
		}
	}
	return tasks, cfs.checkOrder()
}

// idleTasks are the tasks of se that are idle to the queue above.
func (se *schedEntity) idleTasks() int {
	switch {
	case se.task == nil && se.myQ.idle:
		return se.myQ.hNrRunning
	case se.task == nil:
		return se.myQ.idleHNr
	case se.isIdle():
		return 1
	}
	return 0
}

// checkOrder looks whether the timeline is in the order of its keys.
func (cfs *cfsRQ) checkOrder() error {
	n := 0
	var before *node
	for at := cfs.timeline.first; at != nil; at = at.next() {
		if n++; before != nil && at.before(before) {
			return fmt.Errorf("%d is behind %d in the timeline", at.key, before.key)
		}
		before = at
	}
	if n != cfs.timeline.n {
		return fmt.Errorf("a timeline of %d entities says %d", n, cfs.timeline.n)
	}
	return nil
}

// checkEEVDF does so for all queues.
func (s *Sched) checkEEVDF() error {
	if !s.eevdf() {
		return nil
	}
	for c, rq := range s.rqs {
		err := rq.cfs.checkEEVDF()
		for i := 0; i < len(s.groups) && err == nil; i++ {
			err = s.groups[i].cpus[c].cfs.checkEEVDF()
		}
		if err != nil {
			return fmt.Errorf("CPU %d: %w", c, err)
		}
	}
	return nil
}

// checkEEVDF computes anew what a queue of EEVDF keeps of its timeline.
func (cfs *cfsRQ) checkEEVDF() error {
	var sum, load, least int64
	var slice event.Time
	var err error
	cfs.timeline.each(func(n *node) {
		se := n.se
		if load == 0 {
			least, slice = se.vruntime, se.slice
		}
		sum += (se.vruntime - cfs.minVruntime) * se.scaledWeight()
		load += se.scaledWeight()
		least, slice = min(least, se.vruntime), min(slice, se.slice)
		if n.key != se.deadline || n.value != se.vruntime || n.slice != se.slice {
			err = fmt.Errorf("an entity with deadline %d, vruntime %d, slice %d stands as %d, %d, %d", se.deadline, se.vruntime, se.slice, n.key, n.value, n.slice)
		}
	})
	r := cfs.timeline.root
	switch {
	case err != nil:
	case sum != cfs.avgVruntime || load != cfs.avgLoad:
		err = fmt.Errorf("avg_vruntime %d, avg_load %d; the timeline has %d, %d", cfs.avgVruntime, cfs.avgLoad, sum, load)
	case r != nil && (r.least != least || r.leastSlice != slice):
		err = fmt.Errorf("the least vruntime is %d and the least slice %d; the timeline says %d, %d", least, slice, r.least, r.leastSlice)
	}
	return err
}

// checkLeaves looks whether the list of queues whose load may change has all of them, those of groups before
// those above.
func (s *Sched) checkLeaves(rq *RQ) error {
	n, before := 0, (*cfsRQ)(nil)
	for cfs := rq.leafHead; cfs != nil; cfs = cfs.leafNext {
		n++
		switch {
		case cfs.rq != rq || !cfs.onList || cfs.leafPrev != before:
			return fmt.Errorf("a queue of another CPU, or a broken link, in the list of leaves")
		case cfs.se != nil && cfs.leafNext == nil:
			return fmt.Errorf("the root is not the last leaf")
		}
		before = cfs
	}
	for _, g := range s.groups {
		cfs := &g.cpus[rq.cpu].cfs
		if !cfs.onList {
			if cfs.load.weight != 0 {
				return fmt.Errorf("group %d has tasks and is not in the list of leaves", g.id)
			}
			continue
		}
		n--
		for up := cfs.leafPrev; up != nil; up = up.leafPrev {
			if up == cfs.se.cfsRQ {
				return fmt.Errorf("group %d comes after the one above it", g.id)
			}
		}
	}
	if n != 1 {
		return fmt.Errorf("%d leaves are of no group", n)
	}
	return nil
}
