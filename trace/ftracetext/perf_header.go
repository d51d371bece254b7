package ftracetext

import "bytes"

// perfHeader is what `perf script --header` says before the events.
type perfHeader struct {
	kernel, machine, command string
	events                   []string // names without the subsystem
}

// maxPerfEvents bounds the list of events: a kernel has some two thousand.
const maxPerfEvents = 4096

// perfComment reads a line of that header, such as "# os release : 6.1.0"; b has no '#'
// and no outer space.
func (h *header) perfComment(b []byte) bool {
	key, value, ok := bytes.Cut(b, []byte(" : "))
	if !ok {
		return hasPrefix(b, "=======")
	}
	value = trimLeft(value)
	switch string(bytes.TrimRight(key, " ")) {
	case "os release":
		h.dialect = dialectPerf
		h.perf.kernel = string(value)
	case "arch":
		h.perf.machine = string(value)
	case "cmdline":
		h.perf.command = string(value)
	case "nrcpus online":
		if n, ok := number(value); ok && n > 0 && n <= maxCPU+1 {
			h.cpus = int(n)
		}
	case "event":
		h.perfEvent(value)
	case "captured on", "hostname", "perf version", "nrcpus avail", "cpudesc", "cpuid", "total memory",
		"header version", "data offset", "data size", "feat offset":
	default:
		return false
	}
	return true
}

// perfEvent reads "name = sched:sched_switch, , id = { 263, 264 }, …".
func (h *header) perfEvent(b []byte) {
	name, ok := cutPrefix(b, "name = ")
	if !ok || len(h.perf.events) >= maxPerfEvents {
		return
	}
	name, _, _ = bytes.Cut(name, []byte(","))
	if i := bytes.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	h.perf.events = append(h.perf.events, string(name))
}
