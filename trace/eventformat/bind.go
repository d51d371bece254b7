package eventformat

import "github.com/whylate/whylate/event"

// target says which part of event.Event a field fills.
type target uint8

const (
	toTask target = iota
	toTaskComm
	toTaskPrio
	toNext
	toNextComm
	toNextPrio
	toState
	toOrig
	toTarget
	toArg
	toArg2
	toArg3
	toArgU32     // Arg, read as unsigned whatever the format says: cpu_idle's (u32)-1
	toFunc       // an address, named by Symbols
	toText       // text inside the record
	toTextString // an address of text that Strings knows
	toTargetMask // a CPU mask: Target if exactly one bit is set
	toCaller     // a 32-bit offset from _stext
	toDuration   // Arg = this − the field bound before to toStart
	toStart
	toMessage // text to the end of the record, without the newline
	toFormat  // the address of a format whose arguments follow in binary
	toNothing // of an Encoder: a field that the event has nothing for
	toDepth   // of an Encoder: how many functions are open
)

// want binds a part of an event to the first of the given fields that the format has:
// kernels renamed some of them.
type want struct {
	to    target
	names []string
}

func w(to target, names ...string) want { return want{to, names} }

// bindings tells for each kind which fields of the record fill which parts of the event.
// A kind that is not here fills none.
var bindings = [event.NumKinds][]want{
	event.SchedSwitch: {w(toTask, "prev_pid"), w(toTaskComm, "prev_comm"), w(toTaskPrio, "prev_prio"),
		w(toState, "prev_state"), w(toNext, "next_pid"), w(toNextComm, "next_comm"), w(toNextPrio, "next_prio")},
	event.SchedWaking:    {w(toTask, "pid"), w(toTaskComm, "comm"), w(toTaskPrio, "prio"), w(toTarget, "target_cpu")},
	event.SchedWakeup:    {w(toTask, "pid"), w(toTaskComm, "comm"), w(toTaskPrio, "prio"), w(toTarget, "target_cpu"), w(toArg, "success")},
	event.SchedWakeupNew: {w(toTask, "pid"), w(toTaskComm, "comm"), w(toTaskPrio, "prio"), w(toTarget, "target_cpu"), w(toArg, "success")},
	event.SchedMigrateTask: {w(toTask, "pid"), w(toTaskComm, "comm"), w(toTaskPrio, "prio"),
		w(toOrig, "orig_cpu"), w(toTarget, "dest_cpu")},
	event.SchedStatRuntime: {w(toTask, "pid"), w(toTaskComm, "comm"), w(toArg, "runtime"), w(toArg2, "vruntime")},
	// The two priorities are those before and after, not of two tasks.
	event.SchedPISetprio:   {w(toTask, "pid"), w(toTaskComm, "comm"), w(toTaskPrio, "oldprio"), w(toNextPrio, "newprio")},
	event.SchedProcessFork: {w(toTask, "parent_pid"), w(toTaskComm, "parent_comm"), w(toNext, "child_pid"), w(toNextComm, "child_comm")},
	event.SchedProcessExec: {w(toTask, "pid"), w(toArg, "old_pid"), w(toText, "filename")},
	event.SchedProcessExit: {w(toTask, "pid"), w(toTaskComm, "comm"), w(toTaskPrio, "prio")},
	event.SchedProcessFree: {w(toTask, "pid"), w(toTaskComm, "comm"), w(toTaskPrio, "prio")},
	event.SchedProcessWait: {w(toTask, "pid"), w(toTaskComm, "comm"), w(toTaskPrio, "prio")},
	event.TaskNewtask:      {w(toTask, "pid"), w(toTaskComm, "comm"), w(toArg, "clone_flags")},
	event.TaskRename:       {w(toTask, "pid"), w(toTaskComm, "oldcomm"), w(toNextComm, "newcomm")},

	event.SignalGenerate: {w(toTask, "pid"), w(toTaskComm, "comm"), w(toArg, "sig")},
	event.SignalDeliver:  {w(toArg, "sig")},

	// The exit does not repeat the handler's name.
	event.IRQHandlerEntry: {w(toArg, "irq"), w(toText, "name")},
	event.IRQHandlerExit:  {w(toArg, "irq")},
	event.VectorEntry:     {w(toArg, "vector")},
	event.VectorExit:      {w(toArg, "vector")},
	event.SoftirqRaise:    {w(toArg, "vec")},
	event.SoftirqEntry:    {w(toArg, "vec")},
	event.SoftirqExit:     {w(toArg, "vec")},

	event.HrtimerStart: {w(toArg, "hrtimer"), w(toFunc, "function"), w(toArg2, "softexpires"), w(toArg3, "expires")},
	event.HrtimerExpireEntry: {w(toArg, "hrtimer"), w(toFunc, "function"),
		w(toArg2, "now")},
	event.HrtimerExpireExit: {w(toArg, "hrtimer")},
	event.HrtimerCancel:     {w(toArg, "hrtimer")},

	// reason is the address of a constant text of the kernel.
	event.CPUIdle: {w(toArgU32, "state"), w(toTarget, "cpu_id")},
	event.IPIRaise: {w(toTargetMask, "target_cpus", "cpumask"), w(toTextString, "reason"), w(toTarget, "cpu"),
		w(toFunc, "callback")},
	event.IPIEntry:      {w(toTextString, "reason")},
	event.IPIExit:       {w(toTextString, "reason")},
	event.SchedWakeIdle: {w(toTarget, "cpu")},

	// trace/events/preemptirq.h stores callers as 32-bit offsets to save room.
	event.IRQDisable:     {w(toCaller, "caller_offs")},
	event.IRQEnable:      {w(toCaller, "caller_offs")},
	event.PreemptDisable: {w(toCaller, "caller_offs")},
	event.PreemptEnable:  {w(toCaller, "caller_offs")},

	// raw_syscalls has id, the events of single system calls __syscall_nr, on older kernels nr.
	event.SysEnter:  {w(toArg, "id", "__syscall_nr", "nr")},
	event.SysExit:   {w(toArg, "id", "__syscall_nr", "nr")},
	event.FuncEntry: {w(toFunc, "ip", "func")},
	// rettime has to come after calltime here: the length is their difference.
	event.FuncExit: {w(toFunc, "func"), w(toArg, "duration"), w(toStart, "calltime"), w(toDuration, "rettime")},
	event.Print:    {w(toMessage, "buf", "str")},
}

// bprintBinding is for trace_printk, whose message is stored in binary.
var bprintBinding = []want{w(toFormat, "fmt")}
