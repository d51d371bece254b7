package ftracetext

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// decodeUnnamed reads what some events print instead of their name: the function tracer,
// system calls, stack traces, the rows of the wakeup and timerlat tracers. tracefs has an
// own print function for each of these types, which leaves the name out:
// kernel/trace/trace_output.c and trace_syscalls.c.
func (s *stream) decodeUnnamed(ev *event.Event, b []byte) bool {
	ok := false
	switch {
	case len(b) == 0:
	case hasPrefix(b, "sys_"):
		ok = s.decodeSyscallText(ev, b)
	case isDigit(b[0]):
		ok = s.decodeWakeupRow(ev, b)
	case b[0] == '#':
		ev.Name = s.cache.name([]byte("timerlat"))
		s.otherText(ev, b)
		return s.opt.Want.Has(event.Other)
	case hasPrefix(b, "<stack trace>") || hasPrefix(b, "<user stack trace>"):
		ev.Name = s.cache.name([]byte("kernel_stack"))
		return s.opt.Want.Has(event.Other)
	}
	// Checked after the others: "sys_read <-do_syscall_64" is a function, too.
	if !ok && indexOf(b, " <-") > 0 {
		ev.Kind, ev.Name = event.FuncEntry, s.cache.name([]byte("function"))
		ok = decodeFuncEntry(s, ev, b)
	}
	if ok {
		return s.opt.Want.Has(ev.Kind)
	}
	if s.head.tracer != "" && s.head.tracer != "nop" {
		ev.Name = s.cache.name([]byte(s.head.tracer)) // osnoise, hwlat, … print rows of numbers
		s.otherText(ev, b)
		return s.opt.Want.Has(event.Other)
	}
	s.notUnderstood(ev, b)
	return s.opt.Want.Has(event.Other)
}

// decodeFuncEntry reads "schedule <-do_idle" of the function tracer, and of trace-cmd
//
//	|  mmput() {                         an entry
//	1.540 us   |  unmap_page_range();    an entry whose exit came next on its CPU
//	func=mmput depth=0                   raw
//
// The caller behind "<-" is dropped: an Event has no place for it.
func decodeFuncEntry(s *stream, ev *event.Event, b []byte) bool {
	if v, ok := cutPrefix(b, "func="); ok {
		name, _ := nextToken(v)
		ev.Func = s.function(name)
		return ev.Func != 0
	}
	if bar := bytes.IndexByte(b, '|'); bar >= 0 {
		return s.graphEntry(ev, b[:bar], trimLeft(b[bar+1:]))
	}
	b = trimLeft(b)
	name, _ := nextToken(b)
	ev.Func = s.function(name)
	return ev.Func != 0
}

// graphEntry reads the two halves around the bar. A leaf, which ends in ";", also stands
// for its exit, after the time printed. Without it the depth of calls would grow at each
// leaf for whoever pairs entries with exits.
func (s *stream) graphEntry(ev *event.Event, left, call []byte) bool {
	open := bytes.IndexByte(call, '(')
	if open <= 0 {
		return false
	}
	ev.Func = s.function(call[:open])
	rest := bytes.TrimRight(call, " ")
	if rest[len(rest)-1] != ';' {
		return rest[len(rest)-1] == '{'
	}
	length, ok := microseconds(left)
	switch {
	case !ok:
	case s.opt.Want.Has(event.FuncExit):
		s.addLeaf(ev, length)
	default:
		s.passed++
	}
	return ok
}

// isLeaf reports whether graphEntry would find a leaf in b.
func isLeaf(b []byte) bool {
	left, call, ok := bytes.Cut(b, []byte("|"))
	if !ok || !bytes.HasSuffix(bytes.TrimRight(call, " "), []byte(";")) || bytes.IndexByte(trimLeft(call), '(') <= 0 {
		return false
	}
	_, ok = microseconds(left)
	return ok
}

// decodeFuncExit reads "+ 17.441 us  |    }", the same with "/* func */", and the raw
// "func=mmput depth=0 overrun=0 calltime=b24005b2b rettime=b2400612f".
func decodeFuncExit(s *stream, ev *event.Event, b []byte) bool {
	if v, ok := cutPrefix(b, "func="); ok {
		name, tail := nextToken(v)
		ev.Func = s.function(name)
		call, ok1 := findField(tail, "calltime")
		ret, ok2 := findField(tail, "rettime")
		if !ok1 || !ok2 {
			return false
		}
		from, ok1 := hexNumber(call)
		to, ok2 := hexNumber(ret)
		ev.Arg = to - from // on the tracer's clock: the stamps differ by its own cost
		return ok1 && ok2
	}
	bar := bytes.IndexByte(b, '|')
	if bar < 0 {
		return false
	}
	var ok bool
	if ev.Arg, ok = microseconds(b[:bar]); !ok {
		return false
	}
	rest := trimLeft(b[bar+1:])
	if len(rest) == 0 || rest[0] != '}' {
		return false
	}
	// The name stands there with options/funcgraph-tail, or where the entry was lost.
	if _, v, ok := bytes.Cut(rest, []byte("/* ")); ok {
		name, _ := nextToken(v)
		ev.Func = s.function(name)
	}
	return true
}

// microseconds reads "+ 17.441 us" into ns; the mark in front, for lengths from 10 µs up,
// is optional. Longer times are printed with fewer digits, so the fraction may have any
// number of them.
func microseconds(b []byte) (int64, bool) {
	b = trimLeft(b)
	if len(b) > 0 && delayMark(b[0]) {
		b = trimLeft(b[1:])
	}
	whole, i := digits(b, 0)
	if i == 0 || whole > 1<<52/1000 {
		return 0, false
	}
	ns := whole * 1000
	if i < len(b) && b[i] == '.' {
		frac, j := digits(b, i+1)
		n := j - i - 1
		if n == 0 || n > 6 {
			return 0, false
		}
		for ; n < 3; n++ {
			frac *= 10
		}
		for ; n > 3; n-- {
			frac /= 10
		}
		ns += frac
		i = j
	}
	return ns, hasPrefix(trimLeft(b[i:]), "us")
}

// maxLeaves bounds the exits of leaf functions that are still to come to what the queue can take at once.
const maxLeaves = slack - 8

// addLeaf notes that the function entered with ev returns after length ns.
func (s *stream) addLeaf(ev *event.Event, length int64) {
	if len(s.leaves) >= maxLeaves {
		return
	}
	exit := *ev
	exit.Kind, exit.Arg = event.FuncExit, length
	exit.Name = s.cache.name([]byte("funcgraph_exit"))
	exit.Time += event.Time(length)
	s.leaves = append(s.leaves, exit)
}

// flushLeaves inserts the exits that come before an event on cpu at now. The time printed
// includes the tracer's own, so an exit may seem to lie behind the next event of its CPU;
// it cannot.
func (s *stream) flushLeaves(cpu event.CPU, now event.Time) {
	kept := s.leaves[:0]
	for i := range s.leaves {
		exit := &s.leaves[i]
		if exit.Time > now {
			if exit.CPU != cpu {
				kept = append(kept, *exit)
				continue
			}
			exit.Time = now
		}
		s.queue.insert(exit)
	}
	s.leaves = kept
}

// decodeSyscall reads "NR 1 (7, 7ffe, 1)" and "NR 1 = 5" of sys_enter and sys_exit
// (include/trace/events/syscalls.h). The events of single calls (sys_enter_read) tell
// the name only: their arguments, and what a call returned, are not kept.
func decodeSyscall(s *stream, ev *event.Event, b []byte) bool {
	if v, ok := cutPrefix(b, "NR "); ok {
		nr, _ := nextToken(v)
		ev.Arg, ok = number(nr)
		return ok
	}
	if v, ok := cutPrefix(b, "id="); ok { // raw
		nr, _ := nextToken(v)
		ev.Arg, ok = number(nr)
		return ok
	}
	ev.Arg = -1
	for _, key := range [...]string{"__syscall_nr", "nr"} { // raw
		if nr, ok := findField(b, key); ok {
			ev.Arg, ok = anyNumber(nr)
			return ok
		}
	}
	name := s.f.names.String(ev.Name)
	return name != "sys_enter" && name != "sys_exit"
}

// decodeSyscallText reads "sys_read(fd: 3, …)" and "sys_read -> 0x5", as the kernel's own
// text writes the events sys_enter_read and sys_exit_read.
func (s *stream) decodeSyscallText(ev *event.Event, b []byte) bool {
	i := len("sys_")
	for i < len(b) && nameByte(b[i]) {
		i++
	}
	name, rest := b[len("sys_"):i], b[i:]
	var full [80]byte
	if len(name) == 0 || len(name) > 60 {
		return false
	}
	switch {
	case len(rest) > 0 && rest[0] == '(':
		ev.Kind = event.SysEnter
		ev.Name = s.cache.name(append(append(full[:0], "sys_enter_"...), name...))
	case hasPrefix(rest, " -> "):
		ev.Kind = event.SysExit
		ev.Name = s.cache.name(append(append(full[:0], "sys_exit_"...), name...))
	default:
		return false
	}
	ev.Arg = -1
	return true
}

// decodePrint reads the text of markers and of trace_printk. trace-cmd and perf put the
// caller in front of it, by name ("tracing_mark_write: text") or by address; tracefs
// writes the caller in place of the event's name, where only that of markers is known to
// be one.
func decodePrint(s *stream, ev *event.Event, b []byte) bool {
	if v, ok := cutPrefix(b, "ip="); ok { // raw
		left, text, ok := bytes.Cut(v, []byte(" buf="))
		if !ok { // bputs
			left, text, ok = bytes.Cut(v, []byte(" str="))
		}
		if ok && indexOf(left, " fmt=") < 0 { // a bprint has its text in the kernel's own form
			ev.Text = s.cache.text(text)
		}
		return ok
	}
	if name := s.f.names.String(ev.Name); name != "tracing_mark_write" {
		if i := indexOf(b, ": "); i > 0 && i < 128 && bytes.IndexByte(b[:i], ' ') < 0 {
			b = b[i+2:]
		}
	}
	ev.Text = s.cache.text(b)
	return true
}

// decodeWakeupRow reads the rows of the wakeup tracers:
//
//	2600:  9:R   + [002]  2501: 19:R motor/2     a wakeup of 2501
//	2600:  9:S ==> [002]  2501: 19:R motor/2     a switch to it
func (s *stream) decodeWakeupRow(ev *event.Event, b []byte) bool {
	pid, prio, state, b, ok := rowTask(b)
	if !ok {
		return false
	}
	// The CPU in brackets is the one that the task on the right belongs to.
	mark, b := nextToken(b)
	b = trimLeft(b)
	if len(b) < 5 || b[0] != '[' {
		return false
	}
	shut := bytes.IndexByte(b, ']')
	if shut < 0 {
		return false
	}
	cpu, ok := cpuNumber(b[1:shut])
	if !ok {
		return false
	}
	next, nextPrio, _, comm, ok := rowTask(trimLeft(b[shut+1:]))
	if !ok {
		return false
	}
	name := s.cache.name(trimLeft(comm))
	switch string(mark) {
	case "+":
		ev.Kind, ev.Task, ev.TaskPrio, ev.TaskComm, ev.Target, ev.Arg = event.SchedWakeup, next, nextPrio, name, cpu, 1
		ev.Name = s.cache.name([]byte("sched_wakeup"))
	case "==>":
		ev.Kind, ev.Task, ev.TaskPrio, ev.State = event.SchedSwitch, pid, prio, event.ParseState(state)
		// The row has no name for the one that leaves, but it is current on this line.
		if ev.PID == pid {
			ev.TaskComm = ev.Comm
		}
		ev.Next, ev.NextPrio, ev.NextComm = next, nextPrio, name
		ev.Name = s.cache.name([]byte("sched_switch"))
	default:
		return false
	}
	return true
}

// rowTask reads "2600:  9:R rest".
func rowTask(b []byte) (pid event.PID, prio event.Prio, state, rest []byte, ok bool) {
	p, i := digits(b, 0)
	if i == 0 || i >= len(b) || b[i] != ':' || p > 1<<31-1 {
		return 0, 0, nil, nil, false
	}
	b = trimLeft(b[i+1:])
	colon := bytes.IndexByte(b, ':')
	if colon < 0 {
		return 0, 0, nil, nil, false
	}
	if prio, ok = prioNumber(b[:colon]); !ok {
		return 0, 0, nil, nil, false
	}
	state, rest = nextToken(b[colon+1:])
	return event.PID(p), prio, state, rest, len(state) > 0
}
