package ftracetext

import (
	"strconv"

	"github.com/whylate/whylate/event"
)

// AppendEvent appends ev as one line of ftrace text, without line end, with nanoseconds:
//
//	motor/2-2501    [002] d..2.   812.003520000: sched_switch: prev_comm=motor/2 …
//
// The line reads back as the same event: fields in the kernel's own print, flags in five
// columns, or in seven where the event has a lazy preempt depth. A task or CPU that is not
// known is "?" and "[---]". What an event of kind Other carries is its name and Text.
func AppendEvent(dst []byte, ev *event.Event, names *event.Names) []byte {
	layout := Layout5
	if ev.LazyDepth != 0 {
		layout = Layout7
	}
	return appendEvent(dst, &layout, ev, ev.Comm, names)
}

// appendEvent is AppendEvent with flags in the columns of a legend and a name for the task.
func appendEvent(dst []byte, layout *Layout, ev *event.Event, comm event.Name, names *event.Names) []byte {
	task := "<...>"
	if comm != 0 {
		task = names.String(comm)
	}
	dst = appendRight(dst, task, 16)
	dst = append(dst, '-')
	from := len(dst)
	if ev.PID == event.NoPID {
		dst = append(dst, '?')
	} else {
		dst = strconv.AppendInt(dst, int64(ev.PID), 10)
	}
	dst = padTo(dst, from+7)
	// A process that is not known has no column: the event does not say whether the trace
	// had one.
	if ev.TGID != event.NoPID {
		dst = append(dst, ' ', '(')
		var room [20]byte
		dst = appendRight(dst, string(strconv.AppendInt(room[:0], int64(ev.TGID), 10)), 7)
		dst = append(dst, ')')
	}
	dst = append(dst, ' ', '[')
	if ev.CPU == event.NoCPU {
		dst = append(dst, "---"...)
	} else {
		dst = appendZeros(dst, int64(ev.CPU), 3)
	}
	dst = append(dst, ']', ' ')
	if ev.Flags&event.FlagsKnown != 0 {
		dst = AppendFlags(dst, *layout, ev)
	}
	dst = append(dst, ' ')
	dst = appendTime(dst, ev.Time, 5)
	dst = append(dst, ':', ' ')
	// An event of the model may have no name of its own; its kind has one.
	if name := names.String(ev.Name); name != "" {
		dst = append(dst, name...)
	} else {
		dst = append(dst, ev.Kind.String()...)
	}
	dst = append(dst, ':', ' ')
	from = len(dst)
	w := fieldWriter{dst: dst, names: names}
	w.fields(ev)
	printable(w.dst[from:])
	return w.dst
}

// printable keeps a text on its line: markers may hold line ends and more.
func printable(b []byte) {
	for i, c := range b {
		if c < ' ' {
			b[i] = ' '
		}
	}
}

// appendTime writes seconds, at least width wide, and nine digits, as %5lu.%09lu does.
func appendTime(dst []byte, t event.Time, width int) []byte {
	if t < 0 {
		t = 0 // no trace clock is negative; a text cannot say it
	}
	var room [20]byte
	sec := strconv.AppendInt(room[:0], int64(t)/1e9, 10)
	dst = padTo(dst, len(dst)+width-len(sec))
	dst = append(append(dst, sec...), '.')
	return appendZeros(dst, int64(t)%1e9, 9)
}

// appendRight writes s at the right of a field of width bytes.
func appendRight(dst []byte, s string, width int) []byte {
	return append(padTo(dst, len(dst)+width-len(s)), s...)
}

// padTo appends blanks up to a length of n.
func padTo(dst []byte, n int) []byte {
	for len(dst) < n {
		dst = append(dst, ' ')
	}
	return dst
}

// appendZeros writes v with leading zeros, as %03d does.
func appendZeros(dst []byte, v int64, width int) []byte {
	if v < 0 {
		dst, v, width = append(dst, '-'), -v, width-1
	}
	var room [20]byte
	digits := strconv.AppendInt(room[:0], v, 10)
	for n := len(digits); n < width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
