package ftracetext

import (
	"github.com/whylate/whylate/event"
)

// parsePerfPrefix reads "comm pid[/tid] [cpu] time: " as `perf script` prints it. The
// name may hold spaces, so the time is found first and the rest is read from the right:
// an optional flags column, an optional CPU, the thread, the name.
func parsePerfPrefix(b []byte, ev *event.Event, p *prefix) bool {
	if len(b) == 0 || b[0] == '\t' {
		return false // a frame of a callchain
	}
	// The first word that is a stamp and has a thread in front of it ends the search.
	end := min(len(b), maxComm)
	for i := skipSpaces(b, 0); i < end; {
		j := i
		for j < len(b) && b[j] != ' ' {
			j++
		}
		if isDigit(b[i]) && b[j-1] == ':' && isStamp(b, i) && p.time(b, i, ev) && p.stamp != stampRaw &&
			p.beforeTime(b[:i], ev) {
			return true
		}
		i = skipSpaces(b, j)
	}
	return false
}

// beforeTime reads b, all that stands left of the time.
func (p *prefix) beforeTime(b []byte, ev *event.Event) bool {
	p.flags, p.rawFlags, p.glued, p.hasTGID = nil, false, false, false
	ev.CPU, ev.TGID = event.NoCPU, event.NoPID
	for range 3 { // at most three columns: flags, CPU, thread
		var token []byte
		b, token = lastToken(b)
		if len(token) == 0 {
			return false
		}
		// The CPU stands in brackets, and only there once.
		if n := len(token); n > 2 && token[0] == '[' && token[n-1] == ']' {
			if v, ok := cpuNumber(token[1 : n-1]); ok && v >= 0 && ev.CPU == event.NoCPU {
				ev.CPU = v
				continue
			}
			return false
		}
		if perfThread(token, ev) {
			p.comm = trimLeft(b)
			return len(p.comm) > 0
		}
		if ev.CPU != event.NoCPU {
			return false
		}
		// A column of letters between CPU and time (misc, flags): not interpreted.
	}
	return false
}

// perfThread reads "13638", a thread, or "14000/14007", process and thread. perf calls the
// thread tid and the process pid; the kernel's events call the thread pid.
func perfThread(b []byte, ev *event.Event) bool {
	neg := len(b) > 1 && b[0] == '-'
	if neg {
		b = b[1:] // perf writes -1 for a thread that was gone
	}
	v, i := digits(b, 0)
	if i == 0 || v > 1<<31-1 {
		return false
	}
	if neg {
		v = -v
	}
	ev.PID = event.PID(v)
	if i == len(b) {
		return v >= -1
	}
	if b[i] != '/' {
		return false
	}
	tid, ok := pidNumber(b[i+1:])
	if ok {
		ev.TGID, ev.PID = ev.PID, tid
	}
	return ok && ev.TGID >= -1
}
