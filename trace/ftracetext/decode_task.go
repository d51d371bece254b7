package ftracetext

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// decodeFork reads "comm=a pid=1 child_comm=b child_pid=2"; the raw print of trace-cmd
// says parent_comm and parent_pid, as the fields are called. Parent and child have the
// same name at this moment, unless the kernel made the child itself.
func decodeFork(s *stream, ev *event.Event, b []byte) bool {
	left, right, ok := cutLast(b, " child_comm=")
	if !ok {
		return false
	}
	var comm, pid []byte
	if v, found := cutPrefix(left, "parent_comm="); found {
		comm, pid, ok = cutLast(v, " parent_pid=")
	} else if v, found := cutPrefix(left, "comm="); found {
		comm, pid, ok = cutLast(v, " pid=")
	} else {
		return false
	}
	if !ok {
		return false
	}
	ev.TaskComm = s.cache.name(comm)
	if ev.Task, ok = pidNumber(pid); !ok {
		return false
	}
	// Behind the child's pid some kernels print more, never with this key.
	comm, pid, ok = cutLast(right, " child_pid=")
	if !ok {
		return false
	}
	ev.NextComm = s.cache.name(comm)
	pid, _ = nextToken(pid)
	ev.Next, ok = pidNumber(pid)
	return ok
}

// decodeExec reads "filename=/bin/sh pid=1 old_pid=1". old_pid differs where a thread
// other than the leader calls exec and takes over the leader's pid. The path may hold
// spaces.
func decodeExec(s *stream, ev *event.Event, b []byte) bool {
	v, ok := cutPrefix(b, "filename=")
	if !ok {
		return false
	}
	file, tail, ok := cutLast(v, " pid=")
	if !ok {
		return false
	}
	pid, tail := nextToken(tail)
	if ev.Task, ok = pidNumber(pid); !ok {
		return false
	}
	old, ok := findField(tail, "old_pid")
	if !ok {
		return false
	}
	if ev.Arg, ok = number(old); !ok {
		return false
	}
	ev.Text = s.cache.text(file)
	return true
}

// decodeNewtask reads "pid=1 comm=a clone_flags=1200000 oom_score_adj=0"; the flags are
// hexadecimal without 0x (include/trace/events/task.h).
func decodeNewtask(s *stream, ev *event.Event, b []byte) bool {
	v, ok := cutPrefix(b, "pid=")
	if !ok {
		return false
	}
	pid, v := nextToken(v)
	if ev.Task, ok = pidNumber(pid); !ok {
		return false
	}
	if v, ok = cutPrefix(v, "comm="); !ok {
		return false
	}
	comm, tail, ok := cutLast(v, " clone_flags=")
	if !ok {
		return false
	}
	ev.TaskComm = s.cache.name(comm)
	flags, _ := nextToken(tail) // oom_score_adj behind it has no place in an event
	ev.Arg, ok = hexNumber(flags)
	return ok
}

// decodeRename reads "pid=1 oldcomm=a newcomm=b oom_score_adj=0". Newer kernels leave
// the pid out where it is that of the current task.
func decodeRename(s *stream, ev *event.Event, b []byte) bool {
	// Where the pid is there it counts: /proc/PID/comm renames another task.
	ev.Task = ev.PID
	if v, ok := cutPrefix(b, "pid="); ok {
		var pid []byte
		pid, b = nextToken(v)
		if ev.Task, ok = pidNumber(pid); !ok {
			return false
		}
	}
	v, ok := cutPrefix(b, "oldcomm=")
	if !ok {
		return false
	}
	from, to, ok := cutLast(v, " newcomm=")
	if !ok {
		return false
	}
	if before, _, found := cutLast(to, " oom_score_adj="); found {
		to = before
	}
	ev.TaskComm, ev.NextComm = s.cache.name(from), s.cache.name(to)
	return true
}

// decodeSignalGenerate reads "sig=17 errno=0 code=1 comm=sh pid=147 grp=1 res=1". The
// task is the receiver; the sender is the current task, unless in an interrupt.
func decodeSignalGenerate(s *stream, ev *event.Event, b []byte) bool {
	// Only numbers stand before the name, so the first " comm=" is the real one.
	left, right, ok := bytes.Cut(b, []byte(" comm="))
	if !ok {
		return false
	}
	sig, ok := findField(left, "sig")
	if !ok {
		return false
	}
	if ev.Arg, ok = number(sig); !ok {
		return false
	}
	_, ok = s.commPID(ev, right)
	return ok
}

// decodeSignalDeliver reads "sig=17 errno=0 code=1 sa_handler=525892 sa_flags=4000000".
func decodeSignalDeliver(_ *stream, ev *event.Event, b []byte) bool {
	sig, ok := findField(b, "sig")
	if ok {
		ev.Arg, ok = number(sig)
	}
	return ok
}

// decodeGap reads what AppendEvent writes for a gap: "lost=12 from=1.000000001"; lost is
// −1 where unknown, from is absent where the CPU has no event before.
func decodeGap(_ *stream, ev *event.Event, b []byte) bool {
	lost, ok := findField(b, "lost")
	if !ok {
		return false
	}
	if ev.Arg, ok = number(lost); !ok || ev.Arg < -1 {
		return false
	}
	from, ok := findField(b, "from")
	if !ok {
		return true
	}
	sec, i := digits(from, 0)
	if i == 0 || i >= len(from) || from[i] != '.' {
		return false
	}
	t, _, end, ok := secondsAt(from, sec, i+1)
	ev.From = t
	return ok && end == len(from) && t <= ev.Time
}
