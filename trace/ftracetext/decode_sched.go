package ftracetext

import "github.com/whylate/whylate/event"

// decodeSwitch reads sched_switch: the kernel's print
//
//	prev_comm=a prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=b next_pid=2 next_prio=120
//
// the same without "==>" from `trace-cmd report -R`, and the plugin's
//
//	a:1 [120] R ==> b:2 [120]
func decodeSwitch(s *stream, ev *event.Event, b []byte) bool {
	v, ok := cutPrefix(b, "prev_comm=")
	if !ok {
		return s.pluginSwitch(ev, b)
	}
	// Both halves end in numbers, so each name reaches to the last place where its pid can
	// begin; a name of 15 bytes cannot hold " next_comm=" and what must follow it.
	left, right, ok := cutLast(v, " next_comm=")
	if !ok {
		return false
	}
	// The raw print lists the fields without the arrow.
	if before, arrow := lastToken(left); string(arrow) == "==>" {
		left = before
	}
	comm, tail, ok := cutLast(left, " prev_pid=")
	if !ok {
		return false
	}
	ev.TaskComm = s.cache.name(comm)
	token, tail := nextToken(tail)
	if ev.Task, ok = pidNumber(token); !ok {
		return false
	}
	// Fields are found by name: vendor kernels add their own between them.
	ev.State = event.StateUnknown
	for len(tail) > 0 {
		var key, value []byte
		key, value, tail = nextField(tail)
		switch string(key) {
		case "prev_prio":
			if ev.TaskPrio, ok = prioNumber(value); !ok {
				return false
			}
		case "prev_state":
			ev.State = s.state(value)
		}
	}
	comm, tail, ok = cutLast(right, " next_pid=")
	if !ok {
		return false
	}
	ev.NextComm = s.cache.name(comm)
	token, tail = nextToken(tail)
	if ev.Next, ok = pidNumber(token); !ok {
		return false
	}
	// Behind next_prio Android kernels print more; a switch without it is cut off.
	value, ok := findField(tail, "next_prio")
	if ok {
		ev.NextPrio, ok = prioNumber(value)
	}
	return ok
}

// pluginSwitch reads "a:1 [120] R ==> b:2 [120]", the text of the sched_switch plugin of
// libtraceevent, which `trace-cmd report` prints unless told -R, and perf where it finds
// the plugin. A name may hold the arrow, so each one is tried, the last first; both sides
// must read as a task from end to end, which only the true one does.
func (s *stream) pluginSwitch(ev *event.Event, b []byte) bool {
	const arrow = " ==> "
	for end := len(b); ; {
		left, _, ok := cutLast(b[:end], arrow)
		if !ok {
			return false
		}
		end = len(left)
		right := b[len(left)+len(arrow):]
		comm, pid, prio, rest, ok := pluginTask(right)
		if !ok || len(rest) > 0 {
			continue
		}
		before, letters := lastToken(left)
		comm2, pid2, prio2, rest2, ok := pluginTask(before)
		if !ok || len(rest2) > 0 {
			continue
		}
		ev.TaskComm, ev.Task, ev.TaskPrio = s.cache.name(comm2), pid2, prio2
		ev.State = s.pluginState(letters)
		ev.NextComm, ev.Next, ev.NextPrio = s.cache.name(comm), pid, prio
		return true
	}
}

// pluginTask reads "comm:pid [prio] rest" from the right: the name may hold anything.
func pluginTask(b []byte) (comm []byte, pid event.PID, prio event.Prio, rest []byte, ok bool) {
	// From the right, the first "[prio]" with ":pid " in front of it is the real one: what
	// comes behind it ("success=1 CPU:002", nothing) never holds a bracket.
	open := len(b)
	for {
		if open = lastByte(b[:open], '['); open < 2 {
			return nil, 0, 0, nil, false
		}
		shut := open + 1
		for shut < len(b) && b[shut] != ']' {
			shut++
		}
		if shut == len(b) || b[open-1] != ' ' {
			continue
		}
		prio, ok = prioNumber(b[open+1 : shut])
		colon := lastByte(b[:open-1], ':')
		if !ok || colon < 0 {
			continue
		}
		if pid, ok = pidNumber(b[colon+1 : open-1]); !ok {
			continue
		}
		return b[:colon], pid, prio, trimLeft(b[shut+1:]), true
	}
}

func lastByte(b []byte, c byte) int {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] == c {
			return i
		}
	}
	return -1
}

// decodeWakeup reads sched_waking, sched_wakeup and sched_wakeup_new:
//
//	comm=a pid=1 prio=120 success=1 target_cpu=002
//
// success was printed until 4.3; it told a wakeup of a task that was runnable already, and
// since then the event comes for true wakeups only, so it counts as 1. Android's kernels
// print more fields behind it. The plugin has "a:1 [120] success=1 CPU:002".
func decodeWakeup(s *stream, ev *event.Event, b []byte) bool {
	if ev.Kind != event.SchedWaking {
		ev.Arg = 1
	}
	v, ok := cutPrefix(b, "comm=")
	if !ok {
		return s.pluginWakeup(ev, b)
	}
	tail, ok := s.commPID(ev, v)
	if !ok {
		return false
	}
	for len(tail) > 0 {
		var key, value []byte
		key, value, tail = nextField(tail)
		ok := true
		switch string(key) {
		case "prio":
			ev.TaskPrio, ok = prioNumber(value)
		case "success":
			ev.Arg, ok = number(value)
		case "target_cpu", "cpu":
			ev.Target, ok = cpuNumber(value)
		}
		if !ok {
			return false
		}
	}
	// A line cut off behind the pid says neither where nor how urgent: no wakeup.
	return ev.TaskPrio != event.NoPrio || ev.Target != event.NoCPU
}

func (s *stream) pluginWakeup(ev *event.Event, b []byte) bool {
	comm, pid, prio, rest, ok := pluginTask(b)
	if !ok {
		return false
	}
	ev.TaskComm, ev.Task, ev.TaskPrio = s.cache.name(comm), pid, prio
	for len(rest) > 0 {
		var token []byte
		token, rest = nextToken(rest)
		if v, found := cutPrefix(token, "success="); found {
			ev.Arg, ok = number(v)
		} else if v, found := cutPrefix(token, "CPU:"); found {
			ev.Target, ok = cpuNumber(v)
		}
		if !ok {
			return false
		}
	}
	return ev.Target != event.NoCPU
}

// commPID reads "name pid=1 rest" into the task of ev. Most events of include/trace/events/
// sched.h begin like this.
func (s *stream) commPID(ev *event.Event, b []byte) (tail []byte, ok bool) {
	comm, tail, ok := cutLast(b, " pid=")
	if !ok {
		return nil, false
	}
	ev.TaskComm = s.cache.name(comm)
	token, tail := nextToken(tail)
	ev.Task, ok = pidNumber(token)
	return tail, ok
}

// findField returns the value of key in a tail of key=value words. Words without "=", such
// as the unit "[ns]", are passed over.
func findField(b []byte, key string) ([]byte, bool) {
	for len(b) > 0 {
		var k, value []byte
		k, value, b = nextField(b)
		if string(k) == key {
			return value, true
		}
	}
	return nil, false
}

// decodeMigrate reads "comm=a pid=1 prio=120 orig_cpu=0 dest_cpu=1", the print of
// sched_migrate_task in all versions.
func decodeMigrate(s *stream, ev *event.Event, b []byte) bool {
	tail, ok := s.taskPrio(ev, b)
	if !ok {
		return false
	}
	orig, ok1 := findField(tail, "orig_cpu")
	dest, ok2 := findField(tail, "dest_cpu")
	if !ok1 || !ok2 {
		return false
	}
	ev.Orig, ok1 = cpuNumber(orig)
	ev.Target, ok2 = cpuNumber(dest)
	return ok1 && ok2
}

// decodeTask reads "comm=a pid=1 prio=120", as sched_process_exit and others print.
func decodeTask(s *stream, ev *event.Event, b []byte) bool {
	_, ok := s.taskPrio(ev, b)
	return ok
}

func (s *stream) taskPrio(ev *event.Event, b []byte) (tail []byte, ok bool) {
	v, ok := cutPrefix(b, "comm=")
	if !ok {
		return nil, false
	}
	if tail, ok = s.commPID(ev, v); !ok {
		return nil, false
	}
	prio, ok := findField(tail, "prio")
	if ok {
		ev.TaskPrio, ok = prioNumber(prio)
	}
	return tail, ok
}

// decodeStatRuntime reads "comm=a pid=1 runtime=578104 [ns] vruntime=9 [ns]". vruntime is
// gone in newer kernels (present in 6.1, absent in 6.12); for real-time tasks it is 0,
// which shows under which class the time was charged.
func decodeStatRuntime(s *stream, ev *event.Event, b []byte) bool {
	v, ok := cutPrefix(b, "comm=")
	if !ok {
		return false
	}
	tail, ok := s.commPID(ev, v)
	if !ok {
		return false
	}
	runtime, ok := findField(tail, "runtime")
	if ok {
		ev.Arg, ok = number(runtime)
	}
	if vruntime, found := findField(tail, "vruntime"); found && ok {
		ev.Arg2, ok = number(vruntime)
	}
	return ok
}

// decodePISetprio reads "comm=a pid=1 oldprio=120 newprio=9". Both priorities are
// effective ones: the unboosted one is not in the trace.
func decodePISetprio(s *stream, ev *event.Event, b []byte) bool {
	v, ok := cutPrefix(b, "comm=")
	if !ok {
		return false
	}
	tail, ok := s.commPID(ev, v)
	if !ok {
		return false
	}
	from, ok1 := findField(tail, "oldprio")
	to, ok2 := findField(tail, "newprio")
	if !ok1 || !ok2 {
		return false
	}
	ev.TaskPrio, ok1 = prioNumber(from)
	ev.NextPrio, ok2 = prioNumber(to)
	return ok1 && ok2
}
