package scenario

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// Kernel is a kernel that the model can imitate.
type Kernel struct {
	Profile kernel.Profile
	// Release is what events say of it: understood by kernel.Of, and marked as the model.
	Release string
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
	return Kernel{}, nearest.Unknown("kernel profile", name, known)
}

// preemptModels are the scheduler's words for the kernel's.
var preemptModels = map[kernel.Preempt]sched.PreemptModel{
	kernel.PreemptNone: sched.PreemptNone, kernel.PreemptVoluntary: sched.PreemptVoluntary,
	kernel.PreemptFull: sched.PreemptFull, kernel.PreemptRT: sched.PreemptRT,
}

// facts are those that the analysis will use for the model's events. They are found by the
// release alone, so that a trace that is written of a run means the same as the run.
func (k *Kernel) facts() kernel.Facts { return kernel.Of(k.Release) }

// config is the scheduler of this kernel with its defaults, before any setting.
func (k *Kernel) config(cpus int) sched.Config {
	f, t := k.facts(), k.Profile.Traits()
	c := sched.DefaultConfig(cpus)
	c.Tick = event.Time(f.Tick)
	c.Fair = fairOf(k.Profile.Fair(), cpus)
	c.Preempt, c.PreemptDynamic, c.Lazy = preemptModels[t.Preempt], t.PreemptDynamic, t.Lazy
	if t.Preempt == kernel.PreemptRT {
		c.Fair.NrMigrate = 8 // SCHED_NR_MIGRATE_BREAK
	}
	c.StatRuntimeRT, c.StatNoVruntime = t.StatRuntimeRT, t.StatNoVruntime
	c.GRUBBeforeMax = t.GRUBBeforeMax
	c.RTPushIPI = t.RTPushIPI
	c.TTWUQueue = t.TTWUQueue
	c.RTRuntimeShare, c.RTTimerKeepsGrid = t.RTRuntimeShare, t.RTTimerKeepsGrid
	c.DLBandwidth = bandwidth(f.RTRuntime, f.RTPeriod)
	if f.FairServer == kernel.Yes {
		c.FairServerRuntime, c.FairServerPeriod = event.Time(f.FairServerRuntime), event.Time(f.FairServerPeriod)
		if t.ServersCounted {
			c.ServersBW = int64(cpus) * bandwidth(f.FairServerRuntime, f.FairServerPeriod)
		}
	}
	return c
}

// interrupts is how this kernel deals with interrupts.
func (k *Kernel) interrupts() machine.Interrupts {
	t := k.Profile.Traits()
	return machine.Interrupts{KTimers: t.KTimers, SleepersInSoftirq: t.SleepersInSoftirq,
		DaemonPriority: t.KsoftirqdPriority, DaemonFirst: t.KsoftirqdFirst, HandlersBHOff: !t.HandlersIRQsOff, TickTimer: t.TickTimer}
}

// bandwidth is a share of a CPU in the scheduler's unit of 1 << 20; negative: no limit.
func bandwidth(runtime, period int64) int64 {
	if runtime < 0 || period <= 0 {
		return -1
	}
	return runtime / 1000 * (1 << 20) / (period / 1000)
}
