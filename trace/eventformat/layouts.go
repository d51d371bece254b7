package eventformat

import "github.com/whylate/whylate/event"

// layouts are those of 6.1 (include/trace/events, kernel/trace/trace_entries.h), so that
// the plugins of trace-cmd and other people's readers know them. Fields that an Event does
// not keep (oom_score_adj, errno, ret, …) are left out: 0 would be a lie.
var layouts = [event.NumKinds]layout{
	// What is not interpreted keeps its name and, where it was asked for, its text.
	event.Other: record(ownSystem, "%s", data(toText, "text")),

	event.SchedSwitch: record("sched",
		"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d",
		comm(toTaskComm, "prev_comm"), s32(toTask, "pid_t prev_pid"), s32(toTaskPrio, "int prev_prio"),
		s64(toState, "long prev_state"),
		comm(toNextComm, "next_comm"), s32(toNext, "pid_t next_pid"), s32(toNextPrio, "int next_prio")),
	// From here on most records begin with the task that the event speaks of.
	event.SchedWaking:      taskRecord("target_cpu=%03d", targetCPU),
	event.SchedWakeup:      taskRecord("target_cpu=%03d", targetCPU),
	event.SchedWakeupNew:   taskRecord("target_cpu=%03d", targetCPU),
	event.SchedMigrateTask: taskRecord("orig_cpu=%d dest_cpu=%d", s32(toOrig, "int orig_cpu"), s32(toTarget, "int dest_cpu")),
	event.SchedStatRuntime: record("sched", "comm=%s pid=%d runtime=%Lu [ns] vruntime=%Lu [ns]",
		comm(toTaskComm, "comm"), s32(toTask, "pid_t pid"), u64(toArg, "u64 runtime"), u64(toArg2, "u64 vruntime")),
	event.SchedPISetprio: record("sched", "comm=%s pid=%d oldprio=%d newprio=%d",
		comm(toTaskComm, "comm"), s32(toTask, "pid_t pid"), s32(toTaskPrio, "int oldprio"), s32(toNextPrio, "int newprio")),
	event.SchedProcessFork: record("sched", "comm=%s pid=%d child_comm=%s child_pid=%d",
		comm(toTaskComm, "parent_comm"), s32(toTask, "pid_t parent_pid"),
		comm(toNextComm, "child_comm"), s32(toNext, "pid_t child_pid")),
	// Only the name of the program has no fixed length: it stands behind the record.
	event.SchedProcessExec: record("sched", "filename=%s pid=%d old_pid=%d",
		data(toText, "filename"), s32(toTask, "pid_t pid"), s32(toArg, "pid_t old_pid")),
	event.SchedProcessExit: taskRecord(""),
	event.SchedProcessFree: taskRecord(""),
	event.SchedProcessWait: taskRecord(""),
	event.SchedWakeIdle:    record("sched", "cpu=%d", s32(toTarget, "int cpu")),
	event.TaskNewtask: record("task", "pid=%d comm=%s clone_flags=%lx",
		s32(toTask, "pid_t pid"), comm(toTaskComm, "comm"), u64(toArg, "unsigned long clone_flags")),
	event.TaskRename: record("task", "pid=%d oldcomm=%s newcomm=%s",
		s32(toTask, "pid_t pid"), comm(toTaskComm, "oldcomm"), comm(toNextComm, "newcomm")),
	event.SignalGenerate: record("signal", "sig=%d comm=%s pid=%d",
		s32(toArg, "int sig"), comm(toTaskComm, "comm"), s32(toTask, "pid_t pid")),
	event.SignalDeliver: record("signal", "sig=%d", s32(toArg, "int sig")),

	// irq_handler_exit has no name in any kernel: readers pair the two by CPU and number.
	event.IRQHandlerEntry: record("irq", "irq=%d name=%s", s32(toArg, "int irq"), data(toText, "name")),
	event.IRQHandlerExit:  record("irq", "irq=%d", s32(toArg, "int irq")),
	event.VectorEntry:     record("irq_vectors", "vector=%d", s32(toArg, "int vector")),
	event.VectorExit:      record("irq_vectors", "vector=%d", s32(toArg, "int vector")),
	event.SoftirqRaise:    record("irq", "vec=%u [action=%s]", softirqVec),
	event.SoftirqEntry:    record("irq", "vec=%u [action=%s]", softirqVec),
	event.SoftirqExit:     record("irq", "vec=%u [action=%s]", softirqVec),

	event.HrtimerStart: record("timer", "hrtimer=%p function=%ps expires=%llu softexpires=%llu",
		hrtimer, hrtimerFunc, s64(toArg3, "s64 expires"), s64(toArg2, "s64 softexpires")),
	// The kernel prints the function in front of now, which the record has first.
	event.HrtimerExpireEntry: record("timer", "hrtimer=%p function=%ps now=%llu",
		hrtimer, s64(toArg2, "s64 now").printed(""), hrtimerFunc.printed("REC->function, REC->now")),
	event.HrtimerExpireExit: record("timer", "hrtimer=%p", hrtimer),
	event.HrtimerCancel:     record("timer", "hrtimer=%p", hrtimer),

	// u32, so that the end of idling is 4294967295 there and not −1.
	event.CPUIdle:  record("power", "state=%u cpu_id=%u", u32(toArgU32, "u32 state"), u32(toTarget, "u32 cpu_id")),
	event.IPIRaise: record("ipi", "target_mask=%s (%s)", targetMask, ipiReason),
	event.IPIEntry: record("ipi", "(%s)", ipiReason),
	event.IPIExit:  record("ipi", "(%s)", ipiReason),

	// An offset from the start of the kernel's text saves four bytes of eight.
	event.IRQDisable:     record("preemptirq", "caller=%ps", callerOffs),
	event.IRQEnable:      record("preemptirq", "caller=%ps", callerOffs),
	event.PreemptDisable: record("preemptirq", "caller=%ps", callerOffs),
	event.PreemptEnable:  record("preemptirq", "caller=%ps", callerOffs),

	// Arguments and results of system calls are no part of an event.
	event.SysEnter: record("raw_syscalls", "NR %ld", s64(toArg, "long id")),
	event.SysExit:  record("raw_syscalls", "NR %ld", s64(toArg, "long id")),
	// The depth is not the event's: it is counted, since trace-cmd draws nothing without.
	event.FuncEntry: record("ftrace", "--> %ps (%d)",
		u64(toFunc, "unsigned long func").printed("(void *)REC->func"), s32(toDepth, "int depth")),
	event.FuncExit: record("ftrace", "<-- %ps (%d) start: %llx end: %llx",
		u64(toFunc, "unsigned long func").printed("(void *)REC->func"), s32(toDepth, "int depth"),
		u64(toStart, "unsigned long long calltime"),
		u64(toDuration, "unsigned long long rettime")),
	event.Print: record("ftrace", "%ps: %s", callerIP, column{from: toMessage, decl: "char buf[]", signed: true}.printed("REC->buf")),
}

// Layouts of events that share a kind with another one.
var (
	functionLayout = record("ftrace", "%ps <-- %ps", u64(toFunc, "unsigned long ip").printed("(void *)REC->ip"),
		u64(toNothing, "unsigned long parent_ip").printed("(void *)REC->parent_ip"))
	// The text of a trace_printk is the argument of a format that is nothing but "%s".
	bprintLayout = record("ftrace", "%ps: %s", callerIP, u64(toFormat, "const char * fmt"),
		column{from: toMessage, decl: "u32 buf[]"}.printed(""))
	bputsLayout   = record("ftrace", "%ps: %s", callerIP, u64(toTextString, "const char * str"))
	syscallLayout = record("syscalls", "nr=%d", s32(toArg, "int __syscall_nr"))
	ipiSendLayout = record("ipi", "cpu=%u callback=%ps", u32(toTarget, "unsigned int cpu"), u64(toFunc, "void * callback"))
	ipiMaskLayout = record("ipi", "cpumask=%s callback=%ps",
		column{from: toTargetMask, decl: "__data_loc cpumask_t cpumask", size: 4}.printed("__get_bitmask(cpumask)"),
		u64(toFunc, "void * callback"))
	// Old kernels say whether a wakeup found something to do; new ones leave the virtual
	// runtime out of sched_stat_runtime; text traces may not name a caller.
	successLayout = taskRecord("success=%d target_cpu=%03d", s32(toArg, "int success"), targetCPU)
	noVruntime    = record("sched", "comm=%s pid=%d runtime=%Lu [ns]",
		comm(toTaskComm, "comm"), s32(toTask, "pid_t pid"), u64(toArg, "u64 runtime"))
	noCallerLayout = record("preemptirq", "caller=")
)

// Fields that several events have.
var (
	targetCPU   = s32(toTarget, "int target_cpu")
	hrtimer     = u64(toArg, "void * hrtimer")
	hrtimerFunc = u64(toFunc, "void * function")
	softirqVec  = u32(toArg, "unsigned int vec").printed("REC->vec, __print_symbolic(REC->vec, " +
		`{ 0, "HI" }, { 1, "TIMER" }, { 2, "NET_TX" }, { 3, "NET_RX" }, { 4, "BLOCK" }, ` +
		`{ 5, "IRQ_POLL" }, { 6, "TASKLET" }, { 7, "SCHED" }, { 8, "HRTIMER" }, { 9, "RCU" })`)
	targetMask = column{from: toTargetMask, decl: "__data_loc unsigned long[] target_cpus", size: 4}.printed("__get_bitmask(target_cpus)")
	ipiReason  = u64(toTextString, "const char * reason")
	callerIP   = u64(toNothing, "unsigned long ip").printed("(void *)REC->ip")
	callerOffs = s32(toCaller, "s32 caller_offs").printed("(void *)((unsigned long)(_stext) + REC->caller_offs)")
)
