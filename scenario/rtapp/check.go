package rtapp

import "strings"

// mostTaskgroups is the number of taskgroups that rt-app is built for.
const mostTaskgroups = 32

// check looks at what no single task can tell. It runs also where there are errors, so it
// relies on nothing that they leave out.
func (n *notes) check(f *File) {
	n.checkNames(f)
	n.checkTargets(f)
	n.checkBarriers(f)
	n.checkBuffers(f)
	n.checkGroups(f)
	if f.Whylate != nil {
		n.checkExtras(f)
	}
}

// eventAt is the place of an event that was read before.
func eventAt(t *Task, p *Phase, e *Event) *place {
	at := (&place{}).member("tasks").member(t.Name)
	if !t.Direct {
		at = at.member("phases").member(p.Name)
	}
	return at.member(e.Key)
}

// checkNames looks at what becomes of the names of tasks: of threads and of log files. The
// name of the last instance is the longest.
func (n *notes) checkNames(f *File) {
	root := (&place{}).member("tasks")
	for i := range f.Tasks {
		t := &f.Tasks[i]
		last := t.ThreadName(max(0, t.Instances-1))
		switch {
		case len(last) > maxComm:
			n.warnAt(t.Pos, root.member(t.Name), "%s is longer than %d characters: Linux does not set it, "+
				"and traces will show rt-app", quoted(last), maxComm)
		case strings.Contains(t.Name, "/") && f.Global.LogSize != "disable":
			n.warnAt(t.Pos, root.member(t.Name), "rt-app makes a log file of this name and cannot where it has a /")
		}
	}
}

// names is a set of names, and some of them for suggestions.
type names struct {
	set  map[string]bool
	list []string
}

// add enters name. All names are in the set; suggestions come from the first ones.
func (s *names) add(name string) {
	const some = 1000 // a suggestion is not worth comparing with more
	if s.set == nil {
		s.set = make(map[string]bool)
	}
	if s.set[name] = true; len(s.list) < some {
		s.list = append(s.list, name)
	}
}

// checkTargets looks for the tasks that fork and resume name.
func (n *notes) checkTargets(f *File) {
	tasks := names{}
	for i := range f.Tasks {
		tasks.add(f.Tasks[i].Name)
	}
	// rt-app finds out about a fork when it comes to the event, and exits then. A resume of
	// nobody it never notices.
	f.each(func(t *Task, p *Phase, e *Event) {
		switch {
		case tasks.set[e.Ref]:
		case e.Kind == Fork:
			n.errorAt(e.Pos, eventAt(t, p, e), "can't fork unknown task %s%s", quoted(e.Ref), n.suggestion(e.Ref, tasks.list))
		case e.Kind == Resume:
			n.warnAt(e.Pos, eventAt(t, p, e), "no task %s: this wakes nobody%s", quoted(e.Ref), n.suggestion(e.Ref, tasks.list))
		}
	})
}

// checkBarriers warns where the number of users, which rt-app counts when it reads the
// file, is not the number of threads that come.
func (n *notes) checkBarriers(f *File) {
	forked := make(map[string]bool)
	f.each(func(_ *Task, _ *Phase, e *Event) {
		if e.Kind == Fork {
			forked[e.Ref] = true
		}
	})
	seen := make(map[[2]string]bool)
	f.each(func(t *Task, p *Phase, e *Event) {
		if e.Kind != Barrier {
			return
		}
		// A thread that comes twice to the same barrier counts for two users: it waits for
		// itself.
		use := [2]string{t.Name, e.Ref}
		switch {
		case forked[t.Name] || t.Instances == 0:
			n.warnAt(e.Pos, eventAt(t, p, e), "rt-app does not count forked threads at a barrier")
		case seen[use]:
			n.warnAt(e.Pos, eventAt(t, p, e), "this task uses barrier %s twice: "+
				"rt-app waits for one more thread than there are", quoted(e.Ref))
		}
		seen[use] = true
	})
}

// checkBuffers compares the events that share a memory buffer.
func (n *notes) checkBuffers(f *File) {
	first := make(map[[2]string]*Event)
	f.each(func(t *Task, p *Phase, e *Event) {
		if e.Memory == nil || !e.Memory.Shared {
			return
		}
		// The three operations keep their buffers apart, even under one name.
		buffer := [2]string{e.Memory.Op, e.Ref}
		other := first[buffer]
		if other == nil {
			first[buffer] = e
			return
		}
		a, b := other.Memory, e.Memory
		if a.Size != b.Size || a.Stride != b.Stride || a.Sequential != b.Sequential {
			n.errorAt(e.Pos, eventAt(t, p, e), "buffer %s is shared with the event at %s: "+
				"they must agree on size, stride and pattern", quoted(e.Ref), other.Pos)
		}
	})
}

// checkGroups counts the different taskgroups, of which rt-app has a table of fixed size.
func (n *notes) checkGroups(f *File) {
	groups := make(map[string]bool)
	use := func(p *Props, pos Pos, at *place) {
		if p.Taskgroup == "" || groups[p.Taskgroup] {
			return
		}
		if groups[p.Taskgroup] = true; len(groups) == mostTaskgroups+1 {
			n.errorAt(pos, at, "more than %d taskgroups", mostTaskgroups)
		}
	}
	for i := range f.Tasks {
		t := &f.Tasks[i]
		at := (&place{}).member("tasks").member(t.Name)
		use(&t.Props, t.Pos, at)
		for j := range t.Phases {
			p := &t.Phases[j]
			use(&p.Props, p.Pos, at.member("phases").member(p.Name))
		}
	}
}
