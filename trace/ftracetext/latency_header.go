package ftracetext

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// Latency is the header of a latency trace (wakeup, wakeup_rt, irqsoff, … or any tracer
// with options/latency-format): print_trace_header() in kernel/trace/trace.c.
type Latency struct {
	Tracer  string
	Kernel  string     // uname release
	Latency event.Time // of the traced section in ns
	Entries int64      // in the file
	Written int64      // recorded; more than Entries where some were overwritten
	CPU     event.CPU  // on which it ended; NoCPU if unknown
	CPUs    int        // online CPUs, 0 if unknown
	Preempt string     // preemption model: desktop, server, preempt, preempt_rt, …

	Task   string // of the section: the woken task, or the one that was current
	PID    event.PID
	UID    int64
	Nice   int64
	Policy int64 // SCHED_* number: 0 other, 1 FIFO, 2 RR
	RTPrio int64 // 1–99 as users write it, 0 for others

	StartedAt string // function where the section began, where the tracer says so
	EndedAt   string
}

// latencyComment reads the lines of the latency header; b has no '#' and no outer space.
func (h *header) latencyComment(b []byte) bool {
	// The first line of the header; all others only count behind it.
	if before, after, ok := cutLast(b, " latency trace v"); ok {
		if _, kernel, ok := cutLast(after, " on "); ok {
			h.latency = &Latency{Tracer: string(before), Kernel: string(kernel), CPU: event.NoCPU,
				PID: event.NoPID}
			h.dialect = dialectLatency
			return true
		}
	}
	l := h.latency
	if l == nil {
		return len(b) == 0 || plainComment(b)
	}
	if v, ok := cutPrefix(b, "latency: "); ok {
		h.latencyLine(v)
		return true
	}
	// The task is the one that was woken, or the current one of irqsoff and others.
	if v, ok := cutPrefix(b, "| task: "); ok {
		l.task(v)
		return true
	}
	if v, ok := cutPrefix(b, "=> started at: "); ok {
		l.StartedAt = string(v)
		return true
	}
	if v, ok := cutPrefix(b, "=> ended at:"); ok {
		l.EndedAt = string(trimLeft(v))
		return true
	}
	return len(b) == 0 || plainComment(b)
}

// plainComment reports whether b is one of the drawn lines over the columns.
func plainComment(b []byte) bool {
	return b[0] == '|' || b[0] == '/' || b[0] == '\\' || hasPrefix(b, "TASK-PID") || hasPrefix(b, "cmd ") ||
		hasPrefix(b, "---") || hasPrefix(b, "enabled events:") || hasPrefix(b, "WARNING") ||
		hasPrefix(b, "_---") || hasPrefix(b, "#### CPU")
}

// latencyLine reads "2447 us, #4/4, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)".
func (h *header) latencyLine(b []byte) {
	l := h.latency
	us, i := digits(b, 0)
	if i > 0 {
		l.Latency = event.Time(min(us, 1<<52)) * 1000
	}
	if _, v, ok := bytes.Cut(b, []byte(", #")); ok {
		h.entries(v)
		l.Entries, l.Written = h.inBuffer, h.written
	}
	if _, v, ok := bytes.Cut(b, []byte("CPU#")); ok {
		if n, k := digits(v, 0); k > 0 && n <= maxCPU {
			l.CPU = event.CPU(n)
		}
	}
	l.CPUs = h.cpus
	// From 6.18 on the model is written as PREEMPT(none), before as one word.
	if _, v, ok := bytes.Cut(b, []byte("(M:")); ok {
		model, _ := nextToken(v)
		l.Preempt = string(model)
	}
}

// task reads "motor/2-2501 (uid:0 nice:0 policy:1 rt_prio:80)".
func (l *Latency) task(b []byte) {
	who, rest, ok := cutLast(b, " (uid:")
	if !ok {
		return
	}
	// The name may end in '-' itself: only the last one parts it from the pid.
	if comm, pid, ok := cutLast(who, "-"); ok {
		if n, ok := pidNumber(pid); ok {
			l.Task, l.PID = string(comm), n
		}
	}
	rest = bytes.TrimSuffix(rest, []byte(")"))
	// The uid has lost its key with the cut; the others are key:value.
	uid, rest := nextToken(rest)
	l.UID, _ = number(uid)
	for len(rest) > 0 {
		var token []byte
		token, rest = nextToken(rest)
		key, value, _ := bytes.Cut(token, []byte(":"))
		n, _ := number(value)
		switch string(key) {
		case "nice":
			l.Nice = n
		case "policy":
			l.Policy = n
		case "rt_prio":
			l.RTPrio = n
		}
	}
}
