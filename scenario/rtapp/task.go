package rtapp

// mostThreads is the highest number of threads that a file may start. Linux could number
// 4,194,304 (PID_MAX_LIMIT), but whoever asks for more than this made a mistake, and the
// rooms that make threads of tasks must not run out of memory over it.
const mostThreads = 1 << 16

// taskOnly are keys that rt-app reads in a task and ignores in a phase.
var taskOnly = []string{"instance", "delay", "phases", "period", "deadline"}

// tasks reads the object "tasks". rt-app dies of one that is no object.
func (n *notes) tasks(root *members, f *File) []Task {
	v, at := root.take("tasks"), root.at.member("tasks")
	if v == nil {
		n.errorf(root.off, at, `the file has no "tasks"`)
		return nil
	}
	if v.kind != object {
		root.wrongType(v, "tasks", "an object")
		return nil
	}
	if len(v.list) == 0 && (f.Whylate == nil || len(f.Whylate.Programs) == 0) {
		n.warnf(v.off, at, "no task: rt-app ends at once")
	}
	var list []Task
	// rt-app numbers threads, not tasks: the number in a thread's name counts all instances
	// before it.
	first := 0
	for i := range v.list {
		t := n.task(&v.list[i], at.member(v.list[i].key), &f.Global)
		t.First = first
		if first += t.Instances; first > mostThreads {
			n.errorf(v.list[i].off, at.member(t.Name), "more than %d threads up to here", mostThreads)
			return list
		}
		list = append(list, t)
	}
	return list
}

// task reads one task. What rt-app does with it depends on "phases": with them the task
// has only properties, without them it is a phase too.
func (n *notes) task(e *member, at *place, g *Global) Task {
	t := Task{Name: e.key, Pos: n.pos(e.off), Loop: Forever}
	if e.value.kind != object {
		n.errorf(e.value.off, at, "a task must be an object, not %s", e.value.describe())
		return t
	}
	// A template (instance 0) is read and checked like any other task.
	m := n.membersOf(&e.value, at)
	switch i := m.intOr("instance", 1); {
	case i < 0:
		m.errorf("instance", "must not be negative")
	case i > mostThreads:
		m.errorf("instance", "more than %d threads", mostThreads)
	default:
		t.Instances = int(i)
	}
	t.Delay = m.time("delay", 0)
	t.Props = n.props(m, g.DefaultPolicy, true)
	phases := m.take("phases")
	t.Direct = phases == nil
	n.oldRuntime(m, &t)
	if t.Direct {
		n.direct(m, &t)
	} else {
		t.Loop = m.intOr("loop", Forever)
		n.phases(phases, m, &t)
	}
	n.scheduling(m, &t)
	m.ignored(eventNames...)
	return t
}

// oldRuntime warns where the key runtime, once the budget of a deadline task and now an
// event, does not do what it seems to.
func (n *notes) oldRuntime(m *members, t *Task) {
	const key = "runtime"
	switch {
	case !m.has(key):
	case !t.Direct && m.has("dl-runtime"):
		m.warnf(key, "rt-app ignores this: dl-runtime counts")
	case !t.Direct || m.has("dl-runtime"):
	case t.Props.Policy == Deadline:
		m.warnf(key, "rt-app reads this twice: as the budget of the task and as an event; "+
			"write dl-runtime for the budget")
	case t.Props.Policy.Nice():
		m.warnf(key, "rt-app reads this twice: as an event and as a custom slice of %d µs; "+
			`call the event "runtime0" to have no slice`, t.Props.DL.Runtime/1000)
	}
}

// direct reads the events that stand in the task itself. They are one phase: with a loop
// that is repeated so often and the task ends, without one the task repeats it for ever.
func (n *notes) direct(m *members, t *Task) {
	p := Phase{Pos: t.Pos, Loop: 1, Props: Props{UtilMin: -1, UtilMax: -1}}
	// The loop of a task without phases is read twice: as that of its phase, and as a sign
	// that the task ends after it.
	if m.has("loop") {
		t.Loop = 1
	}
	p.Loop = phaseLoop(m)
	p.Events = n.events(m, t)
	t.Phases = []Phase{p}
}

// phaseLoop reads the loop of a phase. rt-app counts up and compares for equality, so
// zero and less are never reached.
func phaseLoop(m *members) int64 {
	l := m.intOr("loop", 1)
	switch {
	case l > 0:
		return l
	case l == 0:
		m.warnf("loop", "rt-app repeats a phase with loop 0 for ever; −1 says the same")
	}
	return Forever
}

// phases reads the object "phases". rt-app dies of an empty one.
func (n *notes) phases(v *value, task *members, t *Task) {
	at := task.at.member("phases")
	switch {
	case v.kind != object:
		task.wrongType(v, "phases", "an object")
		return
	case len(v.list) == 0:
		n.errorf(v.off, at, "no phase in it")
		return
	}
	switch {
	case t.Loop < 0:
		t.Loop = Forever
	case t.Loop == 0:
		task.warnf("loop", "the threads end without having done anything")
	}
	for i := range v.list {
		e := &v.list[i]
		if e.value.kind != object {
			n.errorf(e.value.off, at.member(e.key), "a phase must be an object, not %s", e.value.describe())
			continue
		}
		m := n.membersOf(&e.value, at.member(e.key))
		p := Phase{Name: e.key, Pos: n.pos(e.off), Loop: phaseLoop(m)}
		p.Props = n.props(m, Keep, false)
		p.Events = n.events(m, t)
		t.Phases = append(t.Phases, p)
		for _, key := range taskOnly {
			switch has := m.take(key) != nil; {
			case has && key == "delay":
				m.warnf(key, "rt-app ignores a delay in a phase; write sleep at its beginning")
			case has:
				m.warnf(key, "rt-app ignores this in a phase; it belongs to the task")
			}
		}
		m.ignored(eventNames...)
	}
	// Events beside the phases are keys that nobody reads, but worth more than the usual
	// warning: rt-app does not run them.
	for i := range task.list {
		if e := &task.list[i]; !task.used[i] && eventOf(e.key) >= 0 {
			task.used[i] = true
			n.warnf(e.off, task.at.member(e.key), `rt-app ignores events beside "phases"`)
		}
	}
}

// scheduling follows policy and taskgroup through the phases, as rt-app does when it reads
// them, and checks what depends on both. It looks at the first round only, as rt-app does.
func (n *notes) scheduling(task *members, t *Task) {
	policy, group := t.Props.Policy, t.Props.Taskgroup
	n.checkProps(task, &t.Props, policy, group)
	if t.Direct {
		return
	}
	// The phases that were read stand in the order of the members, less those that are no
	// objects.
	phases := task.take("phases")
	if phases.kind != object {
		return // that was told
	}
	i := 0
	for j := range phases.list {
		e := &phases.list[j]
		if e.value.kind != object {
			continue
		}
		p := &t.Phases[i].Props
		i++
		if p.Policy != Keep {
			policy = p.Policy
		}
		if p.Taskgroup != "" {
			group = p.Taskgroup
		}
		n.checkProps(n.membersOf(&e.value, task.at.member("phases").member(e.key)), p, policy, group)
	}
}

// checkProps checks p, which a thread of the given policy and taskgroup gets.
func (n *notes) checkProps(m *members, p *Props, policy Policy, group string) {
	switch {
	// rt-app itself checks nice values, when the thread sets them; other priorities go to the
	// kernel, whose range for them never changed.
	case !m.has("priority"):
	case policy.Nice() && (p.Priority < -20 || p.Priority > 19):
		m.errorf("priority", "%d nice invalid. Valid between -20 and 19", p.Priority)
	case policy.RealTime() && (p.Priority < 1 || p.Priority > 99):
		m.errorf("priority", "%d is no real-time priority; they go from 1 to 99", p.Priority)
	case !policy.Nice() && !policy.RealTime() && p.Priority != 0:
		m.warnf("priority", "without effect for %s", policy)
	}
	if group != "" && !policy.Group() {
		key := "policy"
		if !m.has(key) {
			key = "taskgroup"
		}
		m.errorf(key, "no taskgroup support for policy %s", policy)
	}
	// sched_setattr(2) refuses parameters of another shape with EINVAL; which values a machine
	// admits is the kernel's business. rt-app sets all of them again in every phase that sets
	// anything.
	switch d := p.DL; {
	case policy != Deadline || !p.SetsScheduling():
	case d.Runtime == 0:
		m.errorf("dl-runtime", "SCHED_DEADLINE needs a dl-runtime here")
	case d.Runtime < 1024:
		m.errorf("dl-runtime", "must be at least 1024 ns, so 2 µs") // man 7 sched
	case d.Runtime > d.Deadline || d.Deadline > d.Period:
		m.errorf("dl-runtime", "SCHED_DEADLINE wants runtime ≤ deadline ≤ period, found %d, %d, %d µs",
			d.Runtime/1000, d.Deadline/1000, d.Period/1000)
	}
}
