package ftracetext

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// decodeIRQ reads "irq=25 name=virtio0-requests" and "irq=25 ret=handled" (ret=1 raw).
// The name reaches to the end of the line: drivers choose it, with spaces too.
func decodeIRQ(s *stream, ev *event.Event, b []byte) bool {
	v, ok := cutPrefix(b, "irq=")
	if !ok {
		return false
	}
	irq, rest := nextToken(v)
	if ev.Arg, ok = number(irq); !ok {
		return false
	}
	if name, ok := cutPrefix(rest, "name="); ok {
		ev.Text = s.cache.text(name)
	}
	return true
}

// decodeVector reads "vector=236" of the interrupt vectors and "vec=1 [action=TIMER]" of
// softirqs; the action is only the name of the number.
func decodeVector(_ *stream, ev *event.Event, b []byte) bool {
	v, ok := cutPrefix(b, "vec=")
	if !ok {
		if v, ok = cutPrefix(b, "vector="); !ok {
			return false
		}
	}
	vec, _ := nextToken(v)
	ev.Arg, ok = number(vec)
	return ok
}

// decodeHrtimer reads the four hrtimer events:
//
//	hrtimer=0xffff88807d9a35c0 function=tick_sched_timer expires=4600000000 softexpires=4600000000 mode=…
//	hrtimer=0xffff88807d9a35c0 now=4596110845 function=tick_sched_timer
//
// The kernel's own text hides or hashes the address; "(____ptrval____)" is NoArg.
func decodeHrtimer(s *stream, ev *event.Event, b []byte) bool {
	v, ok := cutPrefix(b, "hrtimer=")
	if !ok {
		return false
	}
	timer, tail := nextToken(v)
	ev.Arg, ok = hexNumber(timer)
	if !ok {
		if len(timer) == 0 || timer[0] != '(' {
			return false
		}
		ev.Arg = event.NoArg
	}
	seen := 0
	for len(tail) > 0 {
		var key, value []byte
		key, value, tail = nextField(tail)
		ok := true
		switch string(key) {
		case "function":
			ev.Func = s.function(value)
		case "expires":
			ev.Arg3, ok = anyNumber(value)
			seen++
		case "softexpires":
			ev.Arg2, ok = anyNumber(value)
			seen++
		case "now":
			ev.Arg2, ok = anyNumber(value)
			seen++
		}
		if !ok {
			return false
		}
	}
	// A timer event without its times was cut off; entry and start are useless then.
	switch ev.Kind {
	case event.HrtimerStart:
		return seen == 2
	case event.HrtimerExpireEntry:
		return seen == 1
	}
	return true
}

// function interns the name of a function without its offset ("tick_sched_timer/0x0",
// "schedule+0x10/0x90").
func (s *stream) function(b []byte) event.Name {
	if i := bytes.IndexAny(b, "+/"); i > 0 {
		b = b[:i]
	}
	return s.cache.name(b)
}

// decodeCPUIdle reads "state=1 cpu_id=0"; state 4294967295 is the exit, (u32)-1, which some
// printers write as -1.
func decodeCPUIdle(_ *stream, ev *event.Event, b []byte) bool {
	state, ok1 := findField(b, "state")
	cpu, ok2 := findField(b, "cpu_id")
	if !ok1 || !ok2 {
		return false
	}
	ev.Arg, ok1 = anyNumber(state)
	if ev.Arg == -1 {
		ev.Arg = event.IdleExit
	}
	ev.Target, ok2 = cpuNumber(cpu)
	return ok1 && ok2
}

// decodeIPI reads "(Function call interrupts)", and "target_mask=00000000,00000001
// (Function call interrupts)" of ipi_raise.
func decodeIPI(s *stream, ev *event.Event, b []byte) bool {
	if v, ok := cutPrefix(b, "reason="); ok { // raw
		ev.Text = s.cache.text(v)
		return true
	}
	open := bytes.IndexByte(b, '(')
	if open < 0 || b[len(b)-1] != ')' {
		return false
	}
	ev.Text = s.cache.text(b[open+1 : len(b)-1])
	return true
}

// decodeWakeIdle reads "cpu=3" of sched_wake_idle_without_ipi: an idle CPU that polls was
// told by a flag, so no interrupt follows.
func decodeWakeIdle(_ *stream, ev *event.Event, b []byte) bool {
	cpu, ok := findField(b, "cpu")
	if ok {
		ev.Target, ok = cpuNumber(cpu)
	}
	return ok
}

// decodePreemptIRQ reads "caller=schedule+0x10/0x90 parent=0x0" of irq_disable,
// preempt_disable and their counterparts (include/trace/events/preemptirq.h).
func decodePreemptIRQ(s *stream, ev *event.Event, b []byte) bool {
	if v, ok := cutPrefix(b, "caller="); ok {
		caller, _ := nextToken(v)
		ev.Func = s.function(caller)
		return true
	}
	return hasPrefix(b, "caller_offs=") // raw: an offset that only the kernel can resolve
}
