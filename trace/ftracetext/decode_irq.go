package ftracetext

import (
	"bytes"
	"math/bits"

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

// decodeIPI reads "(Function call interrupts)" and, of ipi_raise, with the receivers in
// front: "target_mask=00000000,00000001 (Function call interrupts)".
func decodeIPI(s *stream, ev *event.Event, b []byte) bool {
	if v, ok := cutPrefix(b, "reason="); ok { // raw
		ev.Text = s.cache.text(v)
		return true
	}
	if hasPrefix(b, "target_cpus=") { // raw, and the mask as an array of bytes or words: not read
		_, v, ok := cutLast(b, " reason=")
		ev.Text = s.cache.text(v)
		return ok
	}
	if hasPrefix(b, "cpu=") || hasPrefix(b, "cpumask=") {
		return s.decodeIPISend(ev, b)
	}
	open := bytes.IndexByte(b, '(')
	if open < 0 || b[len(b)-1] != ')' {
		return false
	}
	if mask, ok := cutPrefix(b[:open], "target_mask="); ok {
		ev.Target = onlyCPU(bytes.TrimRight(mask, " "))
	}
	ev.Text = s.cache.text(b[open+1 : len(b)-1])
	return true
}

// decodeIPISend reads ipi_send_cpu and ipi_send_cpumask:
//
//	cpu=0 callsite=on_each_cpu_cond_mask+0x20/0x60 callback=generic_smp_call_function_single_interrupt+0x0/0x10
//	cpumask=0,2-3 callsite=… callback=…
//	cpumask=00000000,0000000d callsite=… callback=…       trace-cmd
func (s *stream) decodeIPISend(ev *event.Event, b []byte) bool {
	for len(b) > 0 {
		var key, value []byte
		key, value, b = nextField(b)
		switch string(key) {
		case "cpu":
			var ok bool
			if ev.Target, ok = cpuNumber(value); !ok {
				return false
			}
		case "cpumask": // more than one CPU has no place in an event
			if len(value) >= 8 { // no CPU has so many digits
				ev.Target = onlyCPU(value)
			} else if cpu, ok := cpuNumber(value); ok && cpu >= 0 {
				ev.Target = cpu
			}
		case "callback":
			if string(value) != "0x0" {
				ev.Func = s.function(value)
			}
		}
	}
	return true
}

// onlyCPU returns the CPU of a mask in hexadecimal, such as "00000000,00000004", NoCPU
// unless it is exactly one.
func onlyCPU(mask []byte) event.CPU {
	found, bit := event.NoCPU, event.CPU(0)
	for i := len(mask) - 1; i >= 0 && bit <= maxCPU; i-- {
		if mask[i] == ',' {
			continue
		}
		v, ok := hexNumber(mask[i : i+1])
		if !ok || v != 0 && found != event.NoCPU {
			return event.NoCPU
		}
		switch v {
		case 0:
		case 1, 2, 4, 8:
			found = bit + event.CPU(bits.TrailingZeros64(uint64(v)))
		default:
			return event.NoCPU
		}
		bit += 4
	}
	return found
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
	// Raw: an offset that only the kernel can resolve, or nothing where no caller is known.
	return hasPrefix(b, "caller_offs=") || len(b) == 0
}
