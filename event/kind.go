package event

// Kind says what an event is and which fields of Event it fills.
type Kind uint8

// The kinds, with the fields that each fills beside Time, CPU, PID and Flags. "task" is
// Task, TaskComm, TaskPrio; "next" is Next, NextComm, NextPrio.
const (
	// Other is an event that whylate reads but does not interpret: Name and Text.
	Other Kind = iota
	// Gap marks lost events on CPU: From is the last trusted moment, Time the first one
	// again, Arg how many were lost (−1: unknown).
	Gap

	// SchedSwitch: task is the one that leaves (prev), State its prev_state, next the
	// one that comes. The stamp lies before the actual switch.
	SchedSwitch
	// SchedWaking: task is about to be woken; Target is the CPU it last ran on, since
	// the event comes before placement. The waker is PID unless in interrupt context.
	SchedWaking
	// SchedWakeup: task is on the runqueue of Target. Arg is success (1 where the kernel
	// no longer prints it).
	SchedWakeup
	// SchedWakeupNew: as SchedWakeup, for a task that never ran.
	SchedWakeupNew
	// SchedMigrateTask: task moves from Orig to Target.
	SchedMigrateTask
	// SchedStatRuntime: task was charged Arg ns; Arg2 is its vruntime or NoArg.
	SchedStatRuntime
	// SchedPISetprio: priority inheritance moves task from TaskPrio (oldprio) to NextPrio
	// (newprio).
	SchedPISetprio
	// SchedProcessFork: task (the parent) created next (the child).
	SchedProcessFork
	// SchedProcessExec: Task runs a new program Text; Arg is its old pid.
	SchedProcessExec
	// SchedProcessExit: task is in do_exit, after it gave back its memory.
	SchedProcessExit
	// SchedProcessFree: task's last reference is gone.
	SchedProcessFree
	// SchedProcessWait: task waits for a child.
	SchedProcessWait
	// TaskNewtask: Task was created with clone flags Arg and name TaskComm.
	TaskNewtask
	// TaskRename: Task changes its name from TaskComm to NextComm.
	TaskRename

	// SignalGenerate: signal Arg is sent to Task, TaskComm.
	SignalGenerate
	// SignalDeliver: signal Arg is handled by the current task.
	SignalDeliver

	// IRQHandlerEntry and IRQHandlerExit: interrupt number Arg, handler name Text.
	IRQHandlerEntry
	IRQHandlerExit
	// VectorEntry and VectorExit: an interrupt of the CPU itself (local_timer_entry,
	// reschedule_exit, …): vector Arg, Name is the event's name.
	VectorEntry
	VectorExit
	// SoftirqRaise, SoftirqEntry, SoftirqExit: vector Arg (SoftirqTimer, …).
	SoftirqRaise
	SoftirqEntry
	SoftirqExit

	// HrtimerStart: timer Arg with function Func, soft expiry Arg2, expiry Arg3, on the
	// clock of the timer's base.
	HrtimerStart
	// HrtimerExpireEntry: timer Arg with function Func is served; Arg2 is now on the
	// clock of the timer's base, read once per interrupt.
	HrtimerExpireEntry
	// HrtimerExpireExit and HrtimerCancel: timer Arg.
	HrtimerExpireExit
	HrtimerCancel

	// CPUIdle: the CPU Target enters idle state Arg; IdleExit means that it leaves.
	CPUIdle
	// IPIRaise: an inter-processor interrupt is sent to Target (NoCPU: to several, or the
	// trace does not say), for the reason Text (ipi_raise) or to run the function Func
	// (ipi_send_cpu, ipi_send_cpumask, which x86 has; 0: to reschedule).
	IPIRaise
	// IPIEntry, IPIExit: one is served, reason Text.
	IPIEntry
	IPIExit
	// SchedWakeIdle: sched_wake_idle_without_ipi to Target.
	SchedWakeIdle

	// IRQDisable, IRQEnable, PreemptDisable, PreemptEnable: the preemptirq events; Func
	// is the caller where known.
	IRQDisable
	IRQEnable
	PreemptDisable
	PreemptEnable

	// SysEnter and SysExit: system call number Arg (−1 if only its name Name is known).
	SysEnter
	SysExit
	// FuncEntry: function Func begins (function or function_graph tracer).
	FuncEntry
	// FuncExit: function Func returns after Arg ns; Func is 0 where the trace hides it.
	FuncExit
	// Print: Text was written to trace_marker or by trace_printk.
	Print

	// NumKinds is the number of kinds.
	NumKinds
)

// NoArg is an Arg that the trace does not have.
const NoArg int64 = -1 << 63

// IdleExit is the state of cpu_idle that means leaving: (u32)-1.
const IdleExit int64 = 4294967295

// The softirq vectors; include/linux/interrupt.h.
const (
	SoftirqHi int64 = iota
	SoftirqTimer
	SoftirqNetTx
	SoftirqNetRx
	SoftirqBlock
	SoftirqIRQPoll
	SoftirqTasklet
	SoftirqSched
	SoftirqHrtimer
	SoftirqRCU
)

// kindNames has the kernel's name of each event; "" where there are several.
var kindNames = [NumKinds]string{
	Gap:                "gap",
	SchedSwitch:        "sched_switch",
	SchedWaking:        "sched_waking",
	SchedWakeup:        "sched_wakeup",
	SchedWakeupNew:     "sched_wakeup_new",
	SchedMigrateTask:   "sched_migrate_task",
	SchedStatRuntime:   "sched_stat_runtime",
	SchedPISetprio:     "sched_pi_setprio",
	SchedProcessFork:   "sched_process_fork",
	SchedProcessExec:   "sched_process_exec",
	SchedProcessExit:   "sched_process_exit",
	SchedProcessFree:   "sched_process_free",
	SchedProcessWait:   "sched_process_wait",
	TaskNewtask:        "task_newtask",
	TaskRename:         "task_rename",
	SignalGenerate:     "signal_generate",
	SignalDeliver:      "signal_deliver",
	IRQHandlerEntry:    "irq_handler_entry",
	IRQHandlerExit:     "irq_handler_exit",
	SoftirqRaise:       "softirq_raise",
	SoftirqEntry:       "softirq_entry",
	SoftirqExit:        "softirq_exit",
	HrtimerStart:       "hrtimer_start",
	HrtimerExpireEntry: "hrtimer_expire_entry",
	HrtimerExpireExit:  "hrtimer_expire_exit",
	HrtimerCancel:      "hrtimer_cancel",
	CPUIdle:            "cpu_idle",
	IPIRaise:           "ipi_raise",
	IPIEntry:           "ipi_entry",
	IPIExit:            "ipi_exit",
	SchedWakeIdle:      "sched_wake_idle_without_ipi",
	IRQDisable:         "irq_disable",
	IRQEnable:          "irq_enable",
	PreemptDisable:     "preempt_disable",
	PreemptEnable:      "preempt_enable",
	SysEnter:           "sys_enter",
	SysExit:            "sys_exit",
	FuncEntry:          "funcgraph_entry",
	FuncExit:           "funcgraph_exit",
	Print:              "print",
}

// String is the kernel's name of the event, or "other", "vector_entry", "vector_exit"
// where one kind stands for several.
func (k Kind) String() string {
	switch {
	case k == VectorEntry:
		return "vector_entry"
	case k == VectorExit:
		return "vector_exit"
	case k < NumKinds && kindNames[k] != "":
		return kindNames[k]
	}
	return "other"
}

var kindByName = func() map[string]Kind {
	m := make(map[string]Kind, NumKinds)
	for k, name := range kindNames {
		if name != "" && Kind(k) != Gap {
			m[name] = Kind(k)
		}
	}
	m["function"] = FuncEntry
	m["bprint"] = Print
	m["tracing_mark_write"] = Print
	m["ipi_send_cpu"], m["ipi_send_cpumask"] = IPIRaise, IPIRaise
	m["vector_entry"], m["vector_exit"] = VectorEntry, VectorExit // as String calls them
	for _, v := range vectorNames {
		m[v+"_entry"], m[v+"_exit"] = VectorEntry, VectorExit
	}
	return m
}()

// vectorNames are the x86 interrupt vectors with entry and exit events; events of the
// subsystem irq_vectors.
var vectorNames = []string{"local_timer", "reschedule", "call_function", "call_function_single", "irq_work",
	"x86_platform_ipi", "error_apic", "spurious_apic", "thermal_apic", "deferred_error_apic", "threshold_apic"}

// KindOf returns the kind of the event that the kernel calls name, Other if whylate
// does not interpret it.
func KindOf(name []byte) Kind { return kindByName[string(name)] }
