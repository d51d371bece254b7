package sched

import "fmt"

// check walks over the entities of a queue and of the groups in it and returns how many tasks
// it found.
func (cfs *cfsRQ) check() (int, error) {
	tasks, entities := 0, 0
	weight := int64(0)
	var err error
	look := func(se *schedEntity) {
		entities++
		weight += se.load.weight
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
	case weight != cfs.load.weight:
		return tasks, fmt.Errorf("load %d, the entities weigh %d", cfs.load.weight, weight)
	}
	return tasks, nil
}
