package kernel

import (
	"slices"
	"strconv"
	"strings"
)

// kernelThreadPrefixes are the beginnings of names that the kernel gives its own
// threads. A trace carries no mark for them, so the name has to do.
var kernelThreadPrefixes = []string{
	"ktimers/", "ksoftirqd/", "rcuc/", "rcuog/", "rcuop/", "rcuos/", "rcub/", "rcu_", "irq_work/", "migration/",
	"kworker/", "kcompactd", "kswapd", "khugepaged", "kthreadd", "cpuhp/", "idle_inject/", "watchdog/", "posixcputmr/",
	"ksmd", "kdevtmpfs", "kauditd", "oom_reaper", "writeback", "kblockd", "jbd2/", "kthrotld", "scsi_eh_", "khungtaskd",
	"stopper/", "backlog_napi/", "napi/", "pr/", "sugov:", "dl_server", "psimon", "hwrng", "kjournald",
}

// IsKernelThread reports whether comm is the name of a thread of the kernel itself that
// no user waits for. Interrupt threads ("irq/…") are not counted: users give them
// priorities and wait for them.
func IsKernelThread(comm string) bool {
	for _, p := range kernelThreadPrefixes {
		if strings.HasPrefix(comm, p) {
			return true
		}
	}
	return false
}

// IsStopper reports whether comm at priority 0 is the stop class: the thread
// migration/N. A SCHED_FIFO 99 task has the same number.
func IsStopper(comm string) bool { return strings.HasPrefix(comm, "migration/") }

// IsSoftirqThread reports whether comm runs softirqs as a task: ksoftirqd/N and, on
// PREEMPT_RT, ktimers/N.
func IsSoftirqThread(comm string) bool {
	return strings.HasPrefix(comm, "ksoftirqd/") || strings.HasPrefix(comm, "ktimers/")
}

// IsIRQThread reports whether comm is the thread of an interrupt handler.
func IsIRQThread(comm string) bool { return strings.HasPrefix(comm, "irq/") }

// boundPrefixes are the beginnings of the names of kernel threads of which each CPU has its own,
// bound to it; what follows is its number. Those of kworkers of a CPU go on with ":", the others
// are called "kworker/u…".
var boundPrefixes = []string{"ktimers/", "ksoftirqd/", "rcuc/", "irq_work/", "migration/", "kworker/", "cpuhp/", "idle_inject/", "watchdog/", "backlog_napi/",
	"stopper/", "posixcputmr/"}

// BoundTo returns the CPU to which the kernel thread comm is bound; false: to none, as far as the
// name tells.
func BoundTo(comm string) (cpu int, ok bool) {
	for _, p := range boundPrefixes {
		rest, found := strings.CutPrefix(comm, p)
		if !found {
			continue
		}
		rest, _, worker := strings.Cut(rest, ":")
		if worker != (p == "kworker/") {
			return 0, false
		}
		cpu, err := strconv.Atoi(rest)
		return cpu, err == nil && cpu >= 0
	}
	return 0, false
}

// exitSyscalls are the numbers of exit and exit_group by machine (uname -m); the
// kernel's published system call tables.
var exitSyscalls = map[string][2]int64{
	"x86_64":  {60, 231},
	"i386":    {1, 252},
	"i686":    {1, 252},
	"aarch64": {93, 94},
	"riscv64": {93, 94},
	"armv7l":  {1, 248},
	"ppc64le": {1, 234},
	"s390x":   {1, 248},
}

// IsExitSyscall reports whether number, or where it is negative name, is exit or
// exit_group on the machine. An unknown machine is taken for x86_64.
func IsExitSyscall(machine string, number int64, name string) bool {
	if number < 0 {
		return name == "sys_enter_exit" || name == "sys_enter_exit_group"
	}
	n, ok := exitSyscalls[machine]
	if !ok {
		n = exitSyscalls["x86_64"]
	}
	return number == n[0] || number == n[1]
}

// yieldSyscalls are the numbers of sched_yield by machine.
var yieldSyscalls = map[string]int64{
	"x86_64": 24, "i386": 158, "i686": 158, "aarch64": 124, "riscv64": 124, "armv7l": 158, "ppc64le": 158, "s390x": 158,
}

// IsYieldSyscall reports whether number, or where it is negative name, is sched_yield on
// the machine. An unknown machine is taken for x86_64.
func IsYieldSyscall(machine string, number int64, name string) bool {
	if number < 0 {
		return name == "sys_enter_sched_yield"
	}
	n, ok := yieldSyscalls[machine]
	if !ok {
		n = yieldSyscalls["x86_64"]
	}
	return number == n
}

// syncSyscalls are the numbers of read, write, readv, writev, recvfrom, sendto, recvmsg and sendmsg by
// machine.
var syncSyscalls = map[string][]int64{
	"x86_64": {0, 1, 19, 20, 45, 44, 47, 46}, "aarch64": {63, 64, 65, 66, 207, 206, 212, 211}, "riscv64": {63, 64, 65, 66, 207, 206, 212, 211},
}

// IsSyncSyscall reports whether number is a call in which pipes and sockets wake who waits for them by wakes that are
// marked as synchronous (WF_SYNC): the waker is about to sleep itself, most likely. Of machines that are not known
// none is.
func IsSyncSyscall(machine string, number int64, name string) bool {
	if number < 0 {
		switch name {
		case "sys_enter_read", "sys_enter_write", "sys_enter_readv", "sys_enter_writev", "sys_enter_recvfrom", "sys_enter_sendto", "sys_enter_recvmsg", "sys_enter_sendmsg":
			return true
		}
		return false
	}
	if machine == "" {
		machine = "x86_64"
	}
	return slices.Contains(syncSyscalls[machine], number)
}

// classSyscalls are the numbers of sched_setparam, sched_setscheduler and sched_setattr by
// machine.
var classSyscalls = map[string][3]int64{
	"x86_64": {142, 144, 314}, "i386": {154, 156, 351}, "i686": {154, 156, 351}, "aarch64": {118, 119, 274}, "riscv64": {118, 119, 274},
	"armv7l": {154, 156, 380}, "ppc64le": {154, 156, 355}, "s390x": {154, 156, 345},
}

// IsClassSyscall reports whether number, or where it is negative name, is a call that changes
// the class or the priority of a task. An unknown machine is taken for x86_64.
func IsClassSyscall(machine string, number int64, name string) bool {
	if number < 0 {
		return name == "sys_enter_sched_setparam" || name == "sys_enter_sched_setscheduler" || name == "sys_enter_sched_setattr"
	}
	n, ok := classSyscalls[machine]
	if !ok {
		n = classSyscalls["x86_64"]
	}
	return number == n[0] || number == n[1] || number == n[2]
}
