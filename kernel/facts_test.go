package kernel

import "testing"

// TestFactsByRelease: what a release string tells about scheduling. 6.12 took RT throttling
// out and brought the fair server; -rt is in the name of a kernel until it came to mainline.
func TestFactsByRelease(t *testing.T) {
	for _, c := range []struct {
		release                string
		known                  bool
		rt, server, throttling Answer
	}{
		{"", false, Maybe, Maybe, Maybe},
		{"linux", false, Maybe, Maybe, Maybe},
		{"6", false, Maybe, Maybe, Maybe},
		{"6.", false, Maybe, Maybe, Maybe},
		{"-1.2.3", false, Maybe, Maybe, Maybe},
		{"3.4.15-rt24", true, Yes, No, Yes},
		{"4.11.0-rc8", true, No, No, Yes},
		{"4.1.18-rt17", true, Yes, No, Yes},
		{"6.1.0-50-amd64", true, No, No, Yes},
		{"6.1.0-50-rt-amd64", true, Yes, No, Yes},
		{"6.11.99", true, No, No, Yes},
		{"6.12", true, Maybe, Yes, No},
		{"6.12.107+deb12-amd64", true, Maybe, Yes, No},
		{"6.12.107+deb12-rt-amd64", true, Yes, Yes, No},
		{"7.0.1", true, Maybe, Yes, No},
		{"10.2", true, Maybe, Yes, No},
		{"5.10.0-rtx", true, No, No, Yes}, // a word that only begins with rt
		{"999999999999.1", false, Maybe, Maybe, Maybe},
	} {
		f := Of(c.release)
		if f.Known != c.known || f.PreemptRT != c.rt || f.FairServer != c.server || f.RTThrottling != c.throttling {
			t.Errorf("%q: known %v rt %d server %d throttling %d", c.release, f.Known, f.PreemptRT, f.FairServer, f.RTThrottling)
		}
		if f.Release != c.release || f.Tick <= 0 || f.RTRuntime >= f.RTPeriod || f.FairServerRuntime >= f.FairServerPeriod {
			t.Errorf("%q: %+v", c.release, f)
		}
	}
}

// TestProfiles: a release has the profile of its series, if there is one.
func TestProfiles(t *testing.T) {
	for release, want := range map[string]string{
		"6.1.0-50-amd64": "6.1", "6.1.176-rt": "6.1-rt", "6.12.107+deb12-rt-amd64": "6.12-rt", "3.4.15-rt24": "3.4-rt",
		"3.4.15": "", "4.11.0-rc8": "4.11", "6.18.0": "6.18", "6.2.0": "", "": "", "linux": "",
	} {
		if got := ProfileOf(release); got != want {
			t.Errorf("%q: profile %q, want %q", release, got, want)
		}
	}
}

// TestThreadsByName: who is a thread of the kernel that no user waits for.
func TestThreadsByName(t *testing.T) {
	for _, c := range []struct {
		comm                           string
		kernel, stopper, softirqs, irq bool
	}{
		{"migration/0", true, true, false, false},
		{"ktimers/3", true, false, true, false},
		{"ksoftirqd/11", true, false, true, false},
		{"rcuc/1", true, false, false, false},
		{"rcu_preempt", true, false, false, false},
		{"irq_work/0", true, false, false, false},
		{"kworker/0:2", true, false, false, false},
		{"kworker/u8:3-ev", true, false, false, false},
		{"kcompactd0", true, false, false, false},
		{"irq/25-eth0", false, false, false, true},
		{"migrate", false, false, false, false},
		{"ksh", false, false, false, false},
		{"rcu", false, false, false, false},
		{"cyclictest", false, false, false, false},
		{"swapper/0", false, false, false, false},
		{"", false, false, false, false},
	} {
		if IsKernelThread(c.comm) != c.kernel || IsStopper(c.comm) != c.stopper || IsSoftirqThread(c.comm) != c.softirqs || IsIRQThread(c.comm) != c.irq {
			t.Errorf("%q: kernel %v stopper %v softirqs %v irq %v", c.comm, IsKernelThread(c.comm), IsStopper(c.comm),
				IsSoftirqThread(c.comm), IsIRQThread(c.comm))
		}
	}
}

// TestThreadsOfOneCPU: which CPU a thread of the kernel is bound to, by the names of recordings.
func TestThreadsOfOneCPU(t *testing.T) {
	for comm, want := range map[string]int{"ksoftirqd/3": 3, "migration/12": 12, "kworker/0:1": 0, "kworker/2:1H": 2, "rcuc/1": 1, "ktimers/0": 0,
		"kworker/u8:0": -1, "kworker/R-rcu_g": -1, "kworker/0": -1, "rcuop/3": -1, "kcompactd0": -1, "bash": -1, "cpuhp/": -1, "migration/-1": -1, "irq/3-x": -1} {
		cpu, ok := BoundTo(comm)
		if ok != (want >= 0) || ok && cpu != want {
			t.Errorf("%q is bound to %d %v, want %d", comm, cpu, ok, want)
		}
	}
}

// TestSystemCallNumbers: exit, exit_group and sched_yield of the machines' published
// tables, and by name where the trace has the events of single calls.
func TestSystemCallNumbers(t *testing.T) {
	for _, c := range []struct {
		machine          string
		exit, exitGroup  int64
		yield, something int64
	}{
		{"x86_64", 60, 231, 24, 1},
		{"", 60, 231, 24, 93}, // taken for x86_64
		{"aarch64", 93, 94, 124, 60},
		{"riscv64", 93, 94, 124, 231},
		{"i686", 1, 252, 158, 231},
		{"armv7l", 1, 248, 158, 60},
		{"ppc64le", 1, 234, 158, 93},
		{"s390x", 1, 248, 158, 231},
	} {
		if !IsExitSyscall(c.machine, c.exit, "") || !IsExitSyscall(c.machine, c.exitGroup, "") || !IsYieldSyscall(c.machine, c.yield, "") {
			t.Errorf("%s: exit, exit_group or sched_yield is not known", c.machine)
		}
		if IsExitSyscall(c.machine, c.something, "") || IsYieldSyscall(c.machine, c.something, "") {
			t.Errorf("%s: system call %d is neither an exit nor a yield", c.machine, c.something)
		}
	}
	for name, want := range map[string][2]bool{
		"sys_enter_exit": {true, false}, "sys_enter_exit_group": {true, false}, "sys_enter_sched_yield": {false, true},
		"sys_enter_read": {false, false}, "sys_enter": {false, false},
	} {
		if got := [2]bool{IsExitSyscall("x86_64", -1, name), IsYieldSyscall("x86_64", -1, name)}; got != want {
			t.Errorf("%s: exit %v, yield %v", name, got[0], got[1])
		}
	}
}

// TestWhereAnExitIsTold: sched_process_exit moved in front of exit_mm() with 6.16.
func TestWhereAnExitIsTold(t *testing.T) {
	for release, want := range map[string]Answer{"": Maybe, "4.11.0-rc8": No, "6.1.0-50-rt-amd64": No, "6.12.107+deb12-amd64": No, "6.15.9": No,
		"6.16.0-rc1": Yes, "6.18-model": Yes} {
		if got := Of(release).ExitToldFirst; got != want {
			t.Errorf("%s: %v, want %v", release, got, want)
		}
	}
}

// TestClassSyscallNumbers: sched_setparam, sched_setscheduler and sched_setattr of the machines'
// published tables, and by name.
func TestClassSyscallNumbers(t *testing.T) {
	for machine, numbers := range map[string][3]int64{"x86_64": {142, 144, 314}, "": {142, 144, 314}, "aarch64": {118, 119, 274},
		"i686": {154, 156, 351}, "armv7l": {154, 156, 380}, "s390x": {154, 156, 345}} {
		for _, n := range numbers {
			if !IsClassSyscall(machine, n, "") {
				t.Errorf("%q: %d changes a class", machine, n)
			}
		}
		if IsClassSyscall(machine, 1, "") || IsClassSyscall(machine, 60, "") {
			t.Errorf("%q: write and exit change no class", machine)
		}
	}
	if !IsClassSyscall("x86_64", -1, "sys_enter_sched_setattr") || IsClassSyscall("x86_64", -1, "sys_enter_sched_getattr") {
		t.Error("sched_setattr changes a class, sched_getattr does not")
	}
}
