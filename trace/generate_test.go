package trace_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
)

// generator draws traces that a kernel could have recorded and that a trace.dat can hold:
// of each task one name and one process, fields as wide as the kernel's.
type generator struct {
	t      *rapid.T
	names  *event.Names
	comms  map[event.PID]event.Name
	tgids  map[event.PID]event.PID
	kernel string // one of kernels
	noFlag bool   // the trace does not tell the context
}

// kernels are those whose records differ: 6.1-rt has preempt_lazy_count, and one bit for a
// lazy reschedule where mainline has PREEMPT_RESCHED; since 6.13 mainline has one where it
// had IRQS_NOSUPPORT.
var kernels = []string{"6.1.0-50-amd64", "6.1.0-50-rt-amd64", "6.18.2"}

// pids are few, so that tasks come back.
func (g *generator) pid() event.PID {
	return rapid.SampledFrom([]event.PID{0, 1, 2, 311, 1335, 1 << 22}).Draw(g.t, "pid")
}

func (g *generator) cpu() event.CPU {
	return rapid.SampledFrom([]event.CPU{0, 1, 2, 3, 63, 64, 200}).Draw(g.t, "cpu")
}

func (g *generator) prio() event.Prio {
	return event.Prio(rapid.Int32Range(-1, 139).Draw(g.t, "prio"))
}

func (g *generator) name(label, pattern string) event.Name {
	return g.names.Intern(rapid.StringMatching(pattern).Draw(g.t, label))
}

func (g *generator) comm() event.Name {
	return g.name("comm", `[a-zA-Z(\[][a-zA-Z0-9:/_ .=>()\[\]-]{0,12}[a-zA-Z0-9/)\]-]`)
}

func (g *generator) function() event.Name { return g.name("function", `[a-z_][a-z0-9_.]{0,20}`) }
func (g *generator) text() event.Name     { return g.name("text", `([!-~][ -~]{0,150}[!-~])?`) }
func (g *generator) s32() int64           { return rapid.Int64Range(0, 1<<31-1).Draw(g.t, "s32") }
func (g *generator) s64() int64           { return rapid.Int64Range(0, 1<<62).Draw(g.t, "s64") }
func (g *generator) bool() bool           { return rapid.Bool().Draw(g.t, "bool") }

// stream draws a trace: events in order, with gaps.
func (g *generator) stream() []event.Event {
	g.comms, g.tgids = map[event.PID]event.Name{0: g.names.Intern("<idle>")}, map[event.PID]event.PID{}
	g.noFlag = rapid.IntRange(0, 9).Draw(g.t, "context") == 0
	var list []event.Event
	last := map[event.CPU]event.Time{}
	now := event.Time(rapid.Int64Range(0, 1<<60).Draw(g.t, "start"))
	for range rapid.IntRange(1, 60).Draw(g.t, "events") {
		now += event.Time(rapid.OneOf(rapid.Int64Range(0, 2), rapid.Int64Range(0, 1<<30), rapid.Int64Range(0, 1<<50)).Draw(g.t, "step"))
		ev := g.event(event.Kind(rapid.IntRange(0, int(event.NumKinds)-1).Draw(g.t, "kind")))
		ev.Time = now
		// Equal stamps are in the order of the CPUs.
		if n := len(list); n > 0 && list[n-1].Time == now && list[n-1].CPU > ev.CPU {
			ev.CPU = list[n-1].CPU
		}
		if rapid.IntRange(0, 9).Draw(g.t, "gap") == 0 {
			list = append(list, g.gap(&ev, last))
		}
		list = append(list, ev)
		last[ev.CPU] = now
	}
	return list
}

// gap is a loss in front of ev.
func (g *generator) gap(ev *event.Event, last map[event.CPU]event.Time) event.Event {
	var gap event.Event
	gap.Reset()
	gap.Kind, gap.CPU, gap.PID, gap.Time = event.Gap, ev.CPU, event.NoPID, ev.Time
	gap.Arg = rapid.SampledFrom([]int64{-1, 1, 12, 1 << 40}).Draw(g.t, "lost")
	if t, ok := last[ev.CPU]; ok {
		gap.From = t
	}
	return gap
}

// event draws an event of kind k; a Gap becomes an event that is not interpreted.
func (g *generator) event(k event.Kind) event.Event {
	if k == event.Gap {
		k = event.Other
	}
	var ev event.Event
	ev.Reset()
	ev.Kind, ev.CPU, ev.PID, ev.Name = k, g.cpu(), g.pid(), g.names.Intern(k.String())
	if _, ok := g.comms[ev.PID]; !ok {
		g.comms[ev.PID], g.tgids[ev.PID] = g.comm(), g.pid()
	}
	ev.Comm = g.comms[ev.PID]
	ev.TGID = event.NoPID
	if ev.PID != 0 {
		ev.TGID = g.tgids[ev.PID]
	}
	if !g.noFlag {
		g.context(&ev)
	}
	g.fields(&ev)
	return ev
}

// context draws flags that both the columns of a text and the bits of common_flags hold.
func (g *generator) context(ev *event.Event) {
	ev.Flags = event.FlagsKnown
	sets := [][]event.Flags{
		{0, event.NeedResched},
		{0, event.NMI | event.HardIRQ, event.NMI, event.HardIRQ | event.SoftIRQ, event.HardIRQ, event.SoftIRQ},
	}
	irqs := []event.Flags{0, event.IRQsOff, event.IRQsOff | event.BHOff, event.BHOff}
	switch g.kernel {
	case kernels[0]:
		sets = append(sets, append(irqs, event.IRQsNoSupport), []event.Flags{0, event.PreemptResched})
	case kernels[1]:
		sets = append(sets, append(irqs, event.IRQsNoSupport), []event.Flags{0, event.NeedReschedLazy})
		ev.LazyDepth = rapid.Uint8Range(0, 15).Draw(g.t, "lazy")
	default:
		sets = append(sets, irqs, []event.Flags{0, event.PreemptResched}, []event.Flags{0, event.NeedReschedLazy})
	}
	for _, set := range sets {
		ev.Flags |= rapid.SampledFrom(set).Draw(g.t, "flags")
	}
	ev.PreemptDepth = rapid.Uint8Range(0, 15).Draw(g.t, "depth")
	ev.MigrateDisable = rapid.Uint8Range(0, 15).Draw(g.t, "migrate")
}

func (g *generator) task(ev *event.Event) { ev.Task, ev.TaskComm = g.pid(), g.comm() }

// fields fills what event/kind.go lists for the kind.
func (g *generator) fields(ev *event.Event) {
	switch ev.Kind {
	case event.Other:
		ev.Name, ev.Text = g.name("event", `[a-z][a-z0-9_]{3,12}_zz`), g.text()
	case event.SchedSwitch:
		g.task(ev)
		ev.TaskPrio, ev.Next, ev.NextComm, ev.NextPrio = g.prio(), g.pid(), g.comm(), g.prio()
		ev.State = rapid.SampledFrom([]event.State{event.StateRunnable, event.StatePreempted, event.StateSleeping,
			event.StateDisk, event.StateIdle, event.StateDead, event.StateZombie, event.StateParked, event.StateUnknown,
			event.StateTraced | event.StateStopped, event.StateNew, event.StateDisk | event.StateNoLoad,
			event.StateDisk | event.StateWakekill, event.StateDeadOld | event.StateWaking}).Draw(g.t, "state")
	case event.SchedWakeup, event.SchedWakeupNew:
		g.task(ev)
		ev.TaskPrio, ev.Target, ev.Arg = g.prio(), g.cpu(), rapid.Int64Range(0, 1).Draw(g.t, "success")
	case event.SchedWaking:
		g.task(ev)
		ev.TaskPrio, ev.Target = g.prio(), g.cpu()
	case event.SchedMigrateTask:
		g.task(ev)
		ev.TaskPrio, ev.Orig, ev.Target = g.prio(), g.cpu(), g.cpu()
	case event.SchedStatRuntime:
		g.task(ev)
		ev.Arg = g.s64()
		if g.bool() {
			ev.Arg2 = g.s64()
		}
	case event.SchedPISetprio:
		g.task(ev)
		ev.TaskPrio, ev.NextPrio = g.prio(), g.prio()
	case event.SchedProcessFork:
		g.task(ev)
		ev.Next, ev.NextComm = g.pid(), g.comm()
	case event.SchedProcessExec:
		ev.Task, ev.Arg, ev.Text = g.pid(), int64(g.pid()), g.text()
	case event.SchedProcessExit, event.SchedProcessFree, event.SchedProcessWait:
		g.task(ev)
		ev.TaskPrio = g.prio()
	case event.TaskNewtask:
		g.task(ev)
		ev.Arg = g.s64()
	case event.TaskRename:
		g.task(ev)
		ev.NextComm = g.comm()
	default:
		g.interrupts(ev)
	}
}

func (g *generator) interrupts(ev *event.Event) {
	switch ev.Kind {
	case event.SignalGenerate:
		g.task(ev)
		ev.Arg = g.s32()
	case event.SignalDeliver, event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit, event.IRQHandlerExit:
		ev.Arg = g.s32()
	case event.IRQHandlerEntry:
		ev.Arg, ev.Text = g.s32(), g.text()
	case event.VectorEntry, event.VectorExit:
		ev.Arg = g.s32()
		if g.bool() {
			way := map[event.Kind]string{event.VectorEntry: "entry", event.VectorExit: "exit"}[ev.Kind]
			ev.Name = g.names.Intern(rapid.SampledFrom([]string{"local_timer_", "reschedule_"}).Draw(g.t, "vector") + way)
		}
	case event.HrtimerStart:
		ev.Arg, ev.Func, ev.Arg2, ev.Arg3 = rapid.Int64().Draw(g.t, "timer"), g.function(), g.s64(), g.s64()
	case event.HrtimerExpireEntry:
		ev.Arg, ev.Func, ev.Arg2 = rapid.SampledFrom([]int64{event.NoArg, -0x77c0, 0x10}).Draw(g.t, "timer"), g.function(), g.s64()
	case event.HrtimerExpireExit, event.HrtimerCancel:
		ev.Arg = rapid.Int64().Draw(g.t, "timer")
	case event.CPUIdle:
		ev.Arg, ev.Target = rapid.SampledFrom([]int64{0, 1, 9, event.IdleExit}).Draw(g.t, "state"), g.cpu()
	case event.IPIEntry, event.IPIExit:
		ev.Text = g.name("reason", `[A-Z][a-z A-Z"\\]{0,30}[a-z]`)
	case event.IPIRaise:
		if g.bool() {
			ev.Target = g.cpu()
		}
		switch rapid.IntRange(0, 2).Draw(g.t, "ipi") {
		case 0:
			ev.Text = g.name("reason", `[A-Z][a-z A-Z]{0,30}[a-z]`)
		case 1:
			ev.Name, ev.Func, ev.Target = g.names.Intern("ipi_send_cpu"), g.function(), g.cpu()
		default:
			ev.Name = g.names.Intern("ipi_send_cpumask")
		}
	case event.SchedWakeIdle:
		ev.Target = g.cpu()
	default:
		g.tracers(ev)
	}
}

func (g *generator) tracers(ev *event.Event) {
	switch ev.Kind {
	case event.IRQDisable, event.IRQEnable, event.PreemptDisable, event.PreemptEnable:
		if g.bool() {
			ev.Func = g.function()
		}
	case event.SysEnter, event.SysExit:
		ev.Arg = rapid.Int64Range(0, 500).Draw(g.t, "nr")
		if g.bool() {
			ev.Name, ev.Arg = g.names.Intern(ev.Kind.String()+"_read"), -1
		}
	case event.FuncEntry:
		ev.Func = g.function()
		if g.bool() {
			ev.Name = g.names.Intern("function")
		}
	case event.FuncExit:
		ev.Arg = rapid.Int64Range(0, 1<<40).Draw(g.t, "length")
		if g.bool() {
			ev.Func = g.function()
		}
	case event.Print:
		ev.Text = g.text()
		ev.Name = g.names.Intern(rapid.SampledFrom([]string{"print", "bprint", "bputs"}).Draw(g.t, "name"))
	default:
		panic(fmt.Sprint("no fields for kind ", ev.Kind))
	}
}
