package ftracetext

import (
	"math"

	"github.com/whylate/whylate/event"
)

// maxComm bounds the search for the end of the task name. The kernel's names have 15
// bytes; Android's tools put whole process names there.
const maxComm = 256

// maxSeconds is the largest stamp that fits an event.Time.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1

// stamp says how a line writes its time.
type stamp uint8

const (
	stampNone  stamp = iota
	stampMicro       // 12.345678, or relative "33us"
	stampNano        // 12.345678901
	stampOther       // another number of digits
	stampRaw         // an integer without a unit
)

// prefix is what stands in front of an event on its line.
type prefix struct {
	comm     []byte
	flags    []byte // as printed; nil where there are none
	rawFlags bool   // flags are hexadecimal common_flags: trace-cmd report -l -R
	glued    bool   // CPU glued to the flags: latency format
	relative bool   // time in µs since the start of the trace
	hasTGID  bool   // the line has a column for it
	stamp    stamp
	body     []byte
}

// parsePrefix reads "comm-pid (tgid) [cpu] flags time: " into ev and p. It returns
// false if b is no such line; ev may then be half filled.
//
// A task name may hold spaces, colons, brackets and '-': each '-' with a number behind
// it is tried until all that follows fits too.
func parsePrefix(b []byte, ev *event.Event, p *prefix) bool {
	// The name is printed at the right of 16 columns, so blanks in front are no part of it.
	start := skipSpaces(b, 0)
	end := min(len(b), start+maxComm)
	for i := start; i+1 < end; i++ {
		if b[i] != '-' || !isDigit(b[i+1]) && b[i+1] != '?' {
			continue
		}
		if p.afterComm(b, i+1, ev) {
			p.comm = b[start:i]
			return true
		}
	}
	return false
}

// afterComm reads from the pid on, and fails early: it is tried at each '-' of a name.
func (p *prefix) afterComm(b []byte, i int, ev *event.Event) bool {
	pid, j := digits(b, i)
	if pid > math.MaxInt32 {
		return false
	}
	ev.PID = event.PID(pid)
	if j == i {
		ev.PID, j = event.NoPID, i+1 // "?", as AppendEvent writes it
	}
	ev.TGID, p.hasTGID = event.NoPID, false
	i = skipSpaces(b, j)
	if i < len(b) && b[i] == '(' {
		if i = p.tgid(b, i+1, ev); i < 0 {
			return false
		}
	}
	if i >= len(b) {
		return false
	}
	if b[i] == '[' {
		i = p.bracketCPU(b, i+1, ev)
	} else {
		i = p.gluedCPU(b, i, ev)
	}
	if i < 0 {
		return false
	}
	return p.time(b, skipSpaces(b, i), ev)
}

// tgid reads "2500) ", " 2500) " or "-------) ", the column of options/record-tgid. The
// kernel prints dashes for a task that it has not recorded, and for idle.
func (p *prefix) tgid(b []byte, i int, ev *event.Event) int {
	p.hasTGID = true
	i = skipSpaces(b, i)
	if v, j := digits(b, i); j > i && v <= math.MaxInt32 {
		ev.TGID = event.PID(v)
		i = j
	} else {
		for i < len(b) && b[i] == '-' {
			i++
		}
	}
	i = skipSpaces(b, i)
	if i >= len(b) || b[i] != ')' {
		return -1
	}
	return skipSpaces(b, i+1)
}

// bracketCPU reads "002] d.h2. " up to the time.
func (p *prefix) bracketCPU(b []byte, i int, ev *event.Event) int {
	cpu, j := digits(b, i)
	if j == i && hasPrefix(b[i:], "---") {
		cpu, j = int64(event.NoCPU), i+3 // as AppendEvent writes it
	}
	if j == i || j >= len(b) || b[j] != ']' || cpu > maxCPU {
		return -1
	}
	ev.CPU = event.CPU(cpu)
	p.flags, p.rawFlags, p.glued = nil, false, false
	i = skipSpaces(b, j+1)
	if isStamp(b, i) {
		return i
	}
	return p.flagToken(b, i)
}

// gluedCPU reads "110d...2 " or "3-0x9 " up to the time: the latency format, in which
// the first flag column, never a digit, ends the CPU number.
func (p *prefix) gluedCPU(b []byte, i int, ev *event.Event) int {
	cpu, j := digits(b, i)
	if j == i || j >= len(b) || cpu > maxCPU {
		return -1
	}
	ev.CPU = event.CPU(cpu)
	p.flags, p.rawFlags, p.glued = nil, false, true
	if b[j] == '-' {
		p.rawFlags = true
		return p.flagToken(b, j+1)
	}
	if irqLetter(b[j]) == 0 && b[j] != '.' {
		return -1
	}
	return p.flagToken(b, j)
}

// flagToken reads the flags as a word; what its letters mean is for the layout to say.
func (p *prefix) flagToken(b []byte, i int) int {
	j := i
	for j < len(b) && b[j] != ' ' && j-i <= maxColumns {
		j++
	}
	if j == i || j >= len(b) || b[j] != ' ' {
		return -1
	}
	p.flags = b[i:j]
	return j
}

// isStamp reports whether a number with a colon, or with a fraction, stands at i.
func isStamp(b []byte, i int) bool {
	j := i
	for j < len(b) && (isDigit(b[j]) || b[j] == '.') {
		j++
	}
	return j > i && isDigit(b[i]) && j < len(b) && b[j] == ':'
}

// time reads "12.345678: ", "1234567: ", "33us!: " or "0us : " and what follows it.
func (p *prefix) time(b []byte, i int, ev *event.Event) bool {
	v, j := digits(b, i)
	if j == i || j >= len(b) {
		return false
	}
	p.relative = false
	switch {
	case b[j] == '.':
		var ok bool
		if ev.Time, p.stamp, j, ok = secondsAt(b, v, j+1); !ok {
			return false
		}
	case hasPrefix(b[j:], "us"):
		if v > 1<<52 {
			return false
		}
		ev.Time, p.stamp, p.relative = event.Time(v)*1000, stampMicro, true
		if j += 2; j < len(b) && delayMark(b[j]) {
			j++
		}
	default:
		// A clock that does not count time: counter, x86-tsc.
		ev.Time, p.stamp = event.Time(v), stampRaw
	}
	if j >= len(b) || b[j] != ':' {
		return false
	}
	j++
	if j < len(b) && b[j] != ' ' && b[j] != '\t' {
		return false
	}
	p.body = trimLeft(b[j:])
	return true
}

// secondsAt reads the fraction at i of sec seconds: 6 digits, or 9 where the printer was
// asked for them. Another number of digits, which nobody prints, is scaled too.
func secondsAt(b []byte, sec int64, i int) (t event.Time, s stamp, next int, ok bool) {
	frac, j := digits(b, i)
	n := j - i
	if n == 0 || n > 9 || sec > maxSeconds {
		return 0, stampNone, i, false
	}
	s = stampOther
	switch n {
	case 6:
		s = stampMicro
		frac *= 1000
	case 9:
		s = stampNano
	default:
		for ; n < 9; n++ {
			frac *= 10
		}
	}
	return event.Time(sec*1e9 + frac), s, j, true
}

// delayMark reports whether c is the mark of a delay in the latency format:
// trace_delay() in kernel/trace/trace_output.c.
func delayMark(c byte) bool {
	switch c {
	case ' ', '+', '!', '#', '*', '@', '$':
		return true
	}
	return false
}
