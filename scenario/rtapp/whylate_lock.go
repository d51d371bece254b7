package rtapp

// lockWords and protocolWords are the kinds and protocols of locks.
var (
	lockWords     = []string{"mutex", "spinlock"}
	protocolWords = []string{"none", "inherit", "protect"}
)

// readLock reads what a mutex of the events is.
func readLock(name string, pos Pos, s strict) LockExtra {
	l := LockExtra{Name: name, Pos: pos, Kind: s.oneOf("kind", lockWords), Protocol: s.oneOf("protocol", protocolWords)}
	l.Ceiling = int(s.number("ceiling", 1, 99, 0))
	l.Robust = s.boolOr("robust", false)
	if l.Kind == "spinlock" {
		for _, key := range []string{"protocol", "ceiling", "robust"} {
			if s.has(key) {
				s.errorf(key, "a spinlock is no mutex of user space: it has none")
			}
		}
		return l
	}
	if protect := l.Protocol == "protect"; protect != s.has("ceiling") {
		if protect {
			s.errorf("protocol", `protect needs a "ceiling"`)
		} else {
			s.errorf("ceiling", `needs the protocol "protect"`)
		}
	}
	return l
}

// checkLocks looks for the mutexes that "locks" names among the events.
func (n *notes) checkLocks(f *File) {
	if len(f.Whylate.Locks) == 0 {
		return
	}
	known := names{}
	for i := range f.Tasks {
		for j := range f.Tasks[i].Phases {
			for _, e := range f.Tasks[i].Phases[j].Events {
				switch e.Kind {
				case Lock, Unlock:
					known.add(e.Ref)
				case Wait, Sync, Suspend, Resume:
					known.add(e.Mutex)
				}
			}
		}
	}
	at := (&place{}).member("whylate").member("locks")
	for _, l := range f.Whylate.Locks {
		if !known.set[l.Name] {
			n.errorAt(l.Pos, at.member(l.Name), "no event uses this mutex%s", n.suggestion(l.Name, known.list))
		}
	}
}
