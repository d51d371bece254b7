package scenario

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sched"
)

// Kernel is a kernel that the model can imitate.
type Kernel struct {
	Profile kernel.Profile
	// Release is what events say of it: understood by kernel.Of, and marked as the model.
	Release string
}

// kernelTraits are the traits of a profile that its facts do not have.
type kernelTraits struct {
	preempt        sched.PreemptModel
	lazy           bool // fair tasks ask each other lazily to leave (Debian's RT patch)
	statRuntimeRT  bool // real-time tasks emit sched_stat_runtime
	statNoVruntime bool // without vruntime in it
	grubBeforeMax  bool // reclaiming as up to 6.4
	pushIPI        bool // RT_PUSH_IPI
	ttwuQueue      bool // TTWU_QUEUE
}

// traits by profile, as the kernels of a distribution are built: Debian's where it has one.
// Confirmed by recordings: 6.1, 6.1-rt, 6.12 and 6.12-rt. What is a difference of versions
// here is a fact by name everywhere else; package kernel has those that a trace shows.
var traits = map[string]kernelTraits{
	"3.4-rt":  {preempt: sched.PreemptRT, grubBeforeMax: true},
	"4.11":    {preempt: sched.PreemptVoluntary, grubBeforeMax: true, ttwuQueue: true},
	"6.1":     {preempt: sched.PreemptVoluntary, statRuntimeRT: true, grubBeforeMax: true, ttwuQueue: true},
	"6.1-rt":  {preempt: sched.PreemptRT, lazy: true, statRuntimeRT: true, grubBeforeMax: true, pushIPI: true},
	"6.12":    {preempt: sched.PreemptVoluntary, statRuntimeRT: true, statNoVruntime: true, ttwuQueue: true},
	"6.12-rt": {preempt: sched.PreemptRT, lazy: true, statRuntimeRT: true, statNoVruntime: true, pushIPI: true},
	"6.18":    {preempt: sched.PreemptVoluntary, statRuntimeRT: true, statNoVruntime: true, ttwuQueue: true},
}

// DefaultKernel is the profile of a scenario that names none.
const DefaultKernel = "6.12"

// KernelNamed returns the kernel of a profile; "" is DefaultKernel.
func KernelNamed(name string) (Kernel, error) {
	if name == "" {
		name = DefaultKernel
	}
	known := make([]string, 0, len(kernel.Profiles))
	for _, p := range kernel.Profiles {
		if p.Name == name {
			return Kernel{Profile: p, Release: p.Name + "-model"}, nil
		}
		known = append(known, p.Name)
	}
	return Kernel{}, fmt.Errorf("no kernel profile is called %q; there are %s", name, strings.Join(known, ", "))
}

// facts are those that the analysis will use for the model's events. They are found by the
// release alone, so that a trace that is written of a run means the same as the run.
func (k *Kernel) facts() kernel.Facts { return kernel.Of(k.Release) }

// config is the scheduler of this kernel with its defaults, before any setting.
func (k *Kernel) config(cpus int) sched.Config {
	f, t := k.facts(), traits[k.Profile.Name]
	c := sched.DefaultConfig(cpus)
	c.Tick = event.Time(f.Tick)
	c.Preempt, c.Lazy = t.preempt, t.lazy
	c.StatRuntimeRT, c.StatNoVruntime = t.statRuntimeRT, t.statNoVruntime
	c.GRUBBeforeMax = t.grubBeforeMax
	c.RTPushIPI = t.pushIPI
	c.TTWUQueue = t.ttwuQueue
	c.DLBandwidth = bandwidth(f.RTRuntime, f.RTPeriod)
	return c
}

// bandwidth is a share of a CPU in the scheduler's unit of 1 << 20; negative: no limit.
func bandwidth(runtime, period int64) int64 {
	if runtime < 0 || period <= 0 {
		return -1
	}
	return runtime / 1000 * (1 << 20) / (period / 1000)
}
