package timeline

import "github.com/whylate/whylate/event"

// queues knows which real-time tasks are queued on which CPU, as far as events tell.
type queues struct {
	on []queued          // by task
	n  map[event.CPU]int // real-time tasks queued on each CPU
	// since is when the first of them was woken there.
	since map[event.CPU]event.Time
}

// queued is one task that waits in a queue.
type queued struct {
	in, rt bool
	cpu    event.CPU
}

func (q *queues) of(id TaskID) *queued {
	for int(id) >= len(q.on) {
		q.on = append(q.on, queued{})
	}
	return &q.on[id]
}

// put says that task id is queued on cpu, or with in false that it is not queued any more.
func (q *queues) put(id TaskID, now queued) {
	if q.n == nil {
		q.n = make(map[event.CPU]int)
	}
	was := q.of(id)
	if was.in && was.rt {
		q.n[was.cpu]--
	}
	if now.in && now.rt {
		q.n[now.cpu]++
	}
	*was = now
}

func (q *queues) enqueue(ev *event.Event, step Step) {
	if t := step.Task; t != nil && t.Status != StatusRunning && ev.Target != event.NoCPU {
		if q.n[ev.Target] == 0 {
			if q.since == nil {
				q.since = make(map[event.CPU]event.Time)
			}
			q.since[ev.Target] = ev.Time
		}
		q.put(t.ID, queued{true, ev.TaskPrio.RealTime(), ev.Target})
	}
}

func (q *queues) move(ev *event.Event, step Step) {
	if t := step.Task; t != nil && q.of(t.ID).in {
		q.put(t.ID, queued{true, q.of(t.ID).rt, ev.Target})
	}
}

func (q *queues) setprio(ev *event.Event, t *Task) {
	if was := q.of(t.ID); was.in {
		q.put(t.ID, queued{true, ev.NextPrio.RealTime(), was.cpu})
	}
}

// leave takes in a switch: prev is queued if it could go on, next is not any more.
func (q *queues) leave(ev *event.Event, step Step) {
	if t := step.Task; !t.Idle() && ev.State.Runnable() {
		q.put(t.ID, queued{true, ev.TaskPrio.RealTime(), ev.CPU})
	}
	if t := step.Next; !t.Idle() {
		q.put(t.ID, queued{})
	}
}

// passed reports whether the task that comes is a fair one, or idle, although a real-time
// task is queued.
func (q *queues) passed(ev *event.Event, step Step) bool {
	return (step.Next.Idle() || ev.NextPrio.Fair()) && q.n[ev.CPU] > 0
}
