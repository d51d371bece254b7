package whatif

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// Known is what the rules may ask about the machine and its tasks.
type Known struct {
	CPUs   int
	Facts  kernel.Facts
	Traits kernel.Traits
	Tasks  []Task
	IRQs   []IRQ
	Groups []Group // those above first
	// FairClass: a replay runs fair tasks by the rules of their class. Slices: tasks may ask for slices.
	FairClass, Slices bool
	// RTRuntime and RTPeriod are sched_rt_runtime_us and sched_rt_period_us; runtime −1: no
	// limit. FairRuntime and FairPeriod are the fair servers', in ns.
	RTRuntime, RTPeriod     int64
	FairRuntime, FairPeriod int64
}

// Task is a task of the recording.
type Task struct {
	Comm string
	PID  int32
	Attr sched.Attr  // the last that it becomes, but for SCHED_OTHER, which many are at their beginning and end
	CPUs []event.CPU // nil: all
	Dies bool        // its exit is in the recording
	// Group is 1 + the index of its group in Known.Groups, 0: the root.
	Group int
}

// Group is a control group that recorded tasks are in.
type Group struct {
	workload.Group
	Up int // 1 + the index of the group above, 0: the root
}

// IRQ is an interrupt of the recording.
type IRQ struct {
	Number int64
	Name   string
}

// KnownOf is what a load tells the rules.
func KnownOf(l *replay.Load) *Known {
	k := &Known{CPUs: l.CPUs, Facts: kernel.Of(l.Info.Kernel)}
	if !k.Facts.Known {
		k.Facts = kernel.Of(l.Kernel)
	}
	if setup, err := scenario.KernelNamed(l.Kernel); err == nil {
		k.Traits = setup.Profile.Traits()
	}
	k.Traits.Preempt = l.Preempt
	k.RTRuntime, k.RTPeriod = k.Facts.RTRuntime/1000, k.Facts.RTPeriod/1000
	k.FairRuntime, k.FairPeriod = k.Facts.FairServerRuntime, k.Facts.FairServerPeriod
	for _, v := range l.Values {
		to := map[string]*int64{"sched_rt_runtime_us": &k.RTRuntime, "sched_rt_period_us": &k.RTPeriod,
			"fair_server_runtime_ns": &k.FairRuntime, "fair_server_period_ns": &k.FairPeriod}[v.Name]
		if n, err := strconv.ParseInt(v.To, 10, 64); err == nil && to != nil {
			*to = n
		}
	}
	for i := range l.Tasks {
		t := &l.Tasks[i]
		known := Task{Comm: l.Names.String(t.Comm), PID: int32(t.PID), Attr: t.Attr, CPUs: t.CPUs, Group: t.Group}
		for j := range t.Ops {
			known.Dies = known.Dies || t.Ops[j].Dying
			if a := t.Ops[j].Attr; t.Ops[j].Kind == replay.OpAttr && a.Policy != sched.Normal {
				known.Attr = a
			}
		}
		k.Tasks = append(k.Tasks, known)
	}
	k.FairClass = l.FairClass
	if setup, err := l.Setup(); err == nil {
		k.Slices = setup.Machine.Sched.Fair.CustomSlices
	}
	for i := range l.Groups {
		k.Groups = append(k.Groups, Group{l.Groups[i].Group, l.Groups[i].Parent + 1})
	}
	for i := range l.Lines {
		if !l.Lines[i].Softirq {
			k.IRQs = append(k.IRQs, IRQ{l.Lines[i].Number, l.Names.String(l.Lines[i].Name)})
		}
	}
	return k
}

// task finds the task with a pid and, of several that had it one after the other, the one
// called comm; nil if there is none.
func (k *Known) task(comm string, pid int32) *Task {
	var found *Task
	for i := range k.Tasks {
		t := &k.Tasks[i]
		if t.PID == pid && (found == nil || t.Comm == comm) {
			found = t
		}
	}
	return found
}

// pattern names a task in a change: by its name where nobody else has it, else with its pid.
func (k *Known) pattern(comm string, pid int32) string {
	if t := k.task(comm, pid); t != nil {
		comm = t.Comm // a task may have had several names
	}
	same := 0
	for i := range k.Tasks {
		if k.Tasks[i].Comm == comm && k.Tasks[i].PID != pid {
			same++
		}
	}
	if same == 0 {
		return scenario.PatternOf(comm)
	}
	return fmt.Sprintf("%s/%d", scenario.PatternOf(comm), pid)
}

// change is the beginning of a change of a task. The thread of an interrupt is named by that:
// its number is in its name, so nobody else has it.
func (k *Known) change(comm string, pid int32) string {
	if name, ok := strings.CutPrefix(comm, "irq/"); ok && kernel.IsIRQThread(comm) {
		return "irq=" + quoted(scenario.PatternOf(name))
	}
	return "task=" + quoted(k.pattern(comm, pid))
}

// otherCPUs lists the CPUs beside c as taskset and smp_affinity_list want them: 0,2-3. "":
// there is none.
func (k *Known) otherCPUs(c int32) string {
	var parts []string
	add := func(low, high int) {
		switch {
		case low == high:
			parts = append(parts, strconv.Itoa(low))
		case low < high:
			parts = append(parts, fmt.Sprintf("%d-%d", low, high))
		}
	}
	if c < 0 || int(c) >= k.CPUs {
		return ""
	}
	add(0, int(c)-1)
	add(int(c)+1, k.CPUs-1)
	return strings.Join(parts, ",")
}
