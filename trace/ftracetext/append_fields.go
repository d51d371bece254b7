package ftracetext

import (
	"strconv"

	"github.com/whylate/whylate/event"
)

// fieldWriter writes what stands behind the name of an event.
type fieldWriter struct {
	dst   []byte
	names *event.Names
}

// The helpers write one field each, key and separator included.

func (w *fieldWriter) text(s string)                 { w.dst = append(w.dst, s...) }
func (w *fieldWriter) name(key string, n event.Name) { w.text(key); w.text(w.names.String(n)) }
func (w *fieldWriter) int(key string, v int64)       { w.text(key); w.dst = strconv.AppendInt(w.dst, v, 10) }
func (w *fieldWriter) pid(key string, p event.PID)   { w.int(key, int64(p)) }
func (w *fieldWriter) prio(key string, p event.Prio) { w.int(key, int64(p)) }
func (w *fieldWriter) hex(key string, v int64) {
	w.text(key)
	w.dst = strconv.AppendUint(w.dst, uint64(v), 16)
}
func (w *fieldWriter) task(ev *event.Event) { w.name("comm=", ev.TaskComm); w.pid(" pid=", ev.Task) }
func (w *fieldWriter) cpu(key string, c event.CPU, n int) {
	w.text(key)
	w.dst = appendZeros(w.dst, int64(c), n)
}

// fields writes the fields of ev in the print format of its tracepoint: v6.12 of
// include/trace/events, with what older kernels print added where the event has it.
func (w *fieldWriter) fields(ev *event.Event) {
	// In groups, as the kernel's headers have them.
	switch ev.Kind {
	case event.SchedSwitch, event.SchedWaking, event.SchedWakeup, event.SchedWakeupNew, event.SchedMigrateTask,
		event.SchedStatRuntime, event.SchedPISetprio:
		w.sched(ev)
	case event.SchedProcessFork, event.SchedProcessExec, event.SchedProcessExit, event.SchedProcessFree,
		event.SchedProcessWait, event.TaskNewtask, event.TaskRename, event.SignalGenerate, event.SignalDeliver:
		w.process(ev)
	case event.HrtimerStart, event.HrtimerExpireEntry, event.HrtimerExpireExit, event.HrtimerCancel:
		w.hrtimer(ev)
	case event.Gap:
		// No kernel has an event of this name: the line exists to be read back.
		w.int("lost=", ev.Arg)
		if ev.From.Valid() {
			w.text(" from=")
			w.dst = appendTime(w.dst, ev.From, 0)
		}
	case event.FuncEntry, event.FuncExit, event.SysEnter, event.SysExit, event.Print, event.Other:
		w.traced(ev)
	default:
		w.interrupt(ev)
	}
}

// sched writes the events of include/trace/events/sched.h that say who runs where.
func (w *fieldWriter) sched(ev *event.Event) {
	switch ev.Kind {
	case event.SchedSwitch:
		w.name("prev_comm=", ev.TaskComm)
		w.pid(" prev_pid=", ev.Task)
		w.prio(" prev_prio=", ev.TaskPrio)
		w.text(" prev_state=")
		w.dst = ev.State.Append(w.dst)
		w.name(" ==> next_comm=", ev.NextComm)
		w.pid(" next_pid=", ev.Next)
		w.prio(" next_prio=", ev.NextPrio)
		return
	case event.SchedStatRuntime:
		w.task(ev)
		w.int(" runtime=", ev.Arg)
		w.text(" [ns]")
		if ev.Arg2 != event.NoArg {
			w.int(" vruntime=", ev.Arg2)
			w.text(" [ns]")
		}
		return
	case event.SchedPISetprio:
		w.task(ev)
		w.prio(" oldprio=", ev.TaskPrio)
		w.prio(" newprio=", ev.NextPrio)
		return
	}
	w.task(ev)
	w.prio(" prio=", ev.TaskPrio)
	if ev.Kind == event.SchedMigrateTask {
		w.int(" orig_cpu=", int64(ev.Orig))
		w.int(" dest_cpu=", int64(ev.Target))
		return
	}
	// success is only written where it says something: kernels before 4.3 print it always,
	// later ones never, and both mean a wakeup that counts.
	if ev.Arg != 1 && ev.Arg != event.NoArg {
		w.int(" success=", ev.Arg)
	}
	w.cpu(" target_cpu=", ev.Target, 3)
}

// process writes the events of the life of a task: sched.h, task.h and signal.h. Fields
// that an Event does not keep (oom_score_adj, errno, grp, res) are left out, not invented.
func (w *fieldWriter) process(ev *event.Event) {
	switch ev.Kind {
	case event.SchedProcessFork:
		w.task(ev)
		w.name(" child_comm=", ev.NextComm)
		w.pid(" child_pid=", ev.Next)
	case event.SchedProcessExec:
		w.name("filename=", ev.Text)
		w.pid(" pid=", ev.Task)
		w.int(" old_pid=", ev.Arg)
	case event.TaskNewtask:
		w.pid("pid=", ev.Task)
		w.name(" comm=", ev.TaskComm)
		w.hex(" clone_flags=", ev.Arg)
	case event.TaskRename:
		w.pid("pid=", ev.Task)
		w.name(" oldcomm=", ev.TaskComm)
		w.name(" newcomm=", ev.NextComm)
	case event.SignalGenerate:
		w.int("sig=", ev.Arg)
		w.text(" ")
		w.task(ev)
	case event.SignalDeliver:
		w.int("sig=", ev.Arg)
	default:
		w.task(ev)
		w.prio(" prio=", ev.TaskPrio)
	}
}

// hrtimer writes the events of include/trace/events/timer.h. A hidden address is written
// as the kernel hides it.
func (w *fieldWriter) hrtimer(ev *event.Event) {
	if ev.Arg == event.NoArg {
		w.text("hrtimer=(____ptrval____)")
	} else {
		w.hex("hrtimer=0x", ev.Arg)
	}
	switch ev.Kind {
	case event.HrtimerStart: // the hard expiry first, whose slack the soft one lacks
		w.name(" function=", ev.Func)
		w.int(" expires=", ev.Arg3)
		w.int(" softexpires=", ev.Arg2)
	case event.HrtimerExpireEntry:
		w.name(" function=", ev.Func)
		w.int(" now=", ev.Arg2)
	}
}

// softirqNames are the names of the vectors; show_softirq_name() in
// include/trace/events/irq.h.
var softirqNames = [...]string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"}

// interrupt writes the events of irq.h, irq_vectors.h, ipi.h, power.h and preemptirq.h. A
// handler's return value is not kept, so irq_handler_exit shows its number alone.
func (w *fieldWriter) interrupt(ev *event.Event) {
	switch ev.Kind {
	case event.IRQHandlerEntry, event.IRQHandlerExit:
		w.int("irq=", ev.Arg)
		if ev.Text != 0 {
			w.name(" name=", ev.Text)
		}
	case event.VectorEntry, event.VectorExit:
		w.int("vector=", ev.Arg)
	case event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit:
		w.int("vec=", ev.Arg)
		// Vectors beyond those known have no name; the number is what counts.
		if ev.Arg >= 0 && ev.Arg < int64(len(softirqNames)) {
			w.text(" [action=")
			w.text(softirqNames[ev.Arg])
			w.text("]")
		}
	case event.CPUIdle:
		w.int("state=", ev.Arg)
		w.int(" cpu_id=", int64(ev.Target))
	case event.IPIRaise:
		w.ipiRaise(ev)
	case event.IPIEntry, event.IPIExit:
		w.name("(", ev.Text)
		w.text(")")
	case event.SchedWakeIdle:
		w.int("cpu=", int64(ev.Target))
	case event.IRQDisable, event.IRQEnable, event.PreemptDisable, event.PreemptEnable:
		w.name("caller=", ev.Func)
	}
}

// ipiRaise writes the three events that announce an interrupt of other CPUs. A receiver
// that is not known leaves its place empty.
func (w *fieldWriter) ipiRaise(ev *event.Event) {
	switch w.names.String(ev.Name) {
	case "ipi_send_cpu":
		w.int("cpu=", int64(ev.Target))
	case "ipi_send_cpumask":
		w.text("cpumask=")
		if ev.Target >= 0 {
			w.int("", int64(ev.Target))
		}
	default:
		if ev.Target >= 0 {
			w.text("target_mask=")
			w.mask(ev.Target)
			w.text(" ")
		}
		w.name("(", ev.Text)
		w.text(")")
		return
	}
	w.text(" callback=")
	if ev.Func == 0 {
		w.text("0x0")
	}
	w.name("", ev.Func)
}

// mask writes the mask with one CPU in it: words of eight digits, the highest first.
func (w *fieldWriter) mask(cpu event.CPU) {
	for word := cpu / 32; word >= 0; word-- {
		v := uint64(0)
		if word == cpu/32 {
			v = 1 << (cpu % 32)
		}
		for shift := 28; shift >= 0; shift -= 4 {
			w.dst = append(w.dst, "0123456789abcdef"[v>>shift&15])
		}
		if word > 0 {
			w.text(",")
		}
	}
}

// traced writes the events of tracers, markers and system calls.
func (w *fieldWriter) traced(ev *event.Event) {
	switch ev.Kind {
	case event.FuncEntry:
		// The two tracers print differently; the name tells which of them it was.
		if w.names.String(ev.Name) == "function" {
			w.name("", ev.Func)
			return
		}
		w.name("|  ", ev.Func)
		w.text("() {")
	case event.FuncExit:
		// Three digits keep the nanoseconds, whatever the length.
		w.int("", ev.Arg/1000)
		w.text(".")
		w.dst = appendZeros(w.dst, ev.Arg%1000, 3)
		w.text(" us |  }")
		if ev.Func != 0 {
			w.name(" /* ", ev.Func)
			w.text(" */")
		}
	case event.SysEnter, event.SysExit:
		// sys_enter_read says by its name which call it is; a number is written beside it
		// where the trace had one.
		if name := w.names.String(ev.Name); ev.Arg >= 0 || name == "" || name == ev.Kind.String() {
			w.int("NR ", ev.Arg)
		}
	case event.Print:
		// Behind these names stands the caller, which the event does not keep.
		switch w.names.String(ev.Name) {
		case "bprint", "bputs":
			w.text("trace_printk: ")
		case "tracing_mark_write":
		default:
			w.text("tracing_mark_write: ")
		}
		w.name("", ev.Text)
	default:
		w.name("", ev.Text)
	}
}
