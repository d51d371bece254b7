package ftracetext

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// isNoise reports whether b is a line that printers put between events and that says
// nothing about the trace: stack frames, separators, the debug lines of trace-cmd.
func isNoise(b []byte) bool {
	b = trimLeft(b)
	switch {
	case len(b) == 0:
		return true // perf ends each sample with a blank line
	case b[0] == '=':
		return hasPrefix(b, "=> ")
	case b[0] == '-':
		return hasPrefix(b, "-----")
	case b[0] == 'T':
		return hasPrefix(b, "TIME EXTEND:") || hasPrefix(b, "TIME STAMP:")
	case b[0] == 'C':
		return hasPrefix(b, "CPU:") && indexOf(b, "[SUBBUFFER START]") > 0
	}
	return false
}

// isLossLine is lossLine for who only wants to know.
func isLossLine(b []byte) bool {
	_, _, ok := lossLine(b)
	return ok
}

// lossLine reads the lines that announce lost events of a CPU:
//
//	CPU:1 [LOST 123 EVENTS]       CPU:1 [LOST EVENTS]           (tracefs)
//	CPU:3 [9601 EVENTS DROPPED]   CPU:3 [EVENTS DROPPED]        (trace-cmd)
//	##### CPU 1 buffer started ####                             (tracefs)
//
// The last says that what CPU 1 recorded before was overwritten. lost is −1 if the line
// does not tell how many.
func lossLine(b []byte) (cpu event.CPU, lost int64, ok bool) {
	if v, found := cutPrefix(b, "##### CPU "); found {
		n, i := digits(v, 0)
		return event.CPU(n), -1, i > 0 && n <= maxCPU && hasPrefix(v[i:], " buffer started")
	}
	v, found := cutPrefix(b, "CPU:")
	if !found {
		return event.NoCPU, 0, false
	}
	n, i := digits(v, 0)
	if i == 0 || n > maxCPU || !hasPrefix(v[i:], " [") {
		return event.NoCPU, 0, false
	}
	v = bytes.TrimRight(v[i+2:], " ")
	if len(v) == 0 || v[len(v)-1] != ']' {
		return event.NoCPU, 0, false
	}
	return lossText(event.CPU(n), v[:len(v)-1])
}

// lossText reads what stands between the brackets. The kernel leaves the number out where
// the ring buffer had no room to store it.
func lossText(cpu event.CPU, v []byte) (event.CPU, int64, bool) {
	if string(v) == "LOST EVENTS" || string(v) == "EVENTS DROPPED" {
		return cpu, -1, true
	}
	if w, ok := cutPrefix(v, "LOST "); ok {
		n, i := digits(w, 0)
		return cpu, n, i > 0 && string(w[i:]) == " EVENTS"
	}
	n, i := digits(v, 0)
	return cpu, n, i > 0 && string(v[i:]) == " EVENTS DROPPED"
}
