package trace_test

import (
	"strings"

	"github.com/whylate/whylate/event"
)

// allKinds has each event that a trace.dat can hold, in every form of its record, with
// values that show if one is taken for another.
func allKinds(names *event.Names) []event.Event {
	n := names.Intern
	task := func(ev *event.Event) { ev.Task, ev.TaskComm, ev.TaskPrio = 311, n("ctl-loop"), 19 }
	fill := map[string]func(ev *event.Event){
		"sched_switch": func(ev *event.Event) {
			task(ev)
			ev.State, ev.Next, ev.NextComm, ev.NextPrio = event.StateDisk, 5298, n("logger"), 9
		},
		"sched_waking":       func(ev *event.Event) { task(ev); ev.Target = 2 },
		"sched_wakeup":       func(ev *event.Event) { task(ev); ev.Target, ev.Arg = 3, 1 },
		"sched_wakeup_new":   func(ev *event.Event) { task(ev); ev.Target, ev.Arg = 1, 1 },
		"sched_migrate_task": func(ev *event.Event) { task(ev); ev.Orig, ev.Target = 1, 2 },
		"sched_stat_runtime": func(ev *event.Event) {
			ev.Task, ev.TaskComm, ev.Arg, ev.Arg2 = 311, n("ctl-loop"), 2039235, 1052568448
		},
		"sched_pi_setprio":   func(ev *event.Event) { task(ev); ev.NextPrio = 9 },
		"sched_process_fork": func(ev *event.Event) { task(ev); ev.Next, ev.NextComm = 312, n("ctl-child") },
		"sched_process_exec": func(ev *event.Event) { ev.Task, ev.Arg, ev.Text = 312, 313, n("/usr/bin/ctl") },
		"sched_process_exit": task, "sched_process_free": task, "sched_process_wait": task,
		"task_newtask":    func(ev *event.Event) { ev.Task, ev.TaskComm, ev.Arg = 312, n("ctl-child"), 0x1200000 },
		"task_rename":     func(ev *event.Event) { ev.Task, ev.TaskComm, ev.NextComm = 312, n("ctl-child"), n("worker") },
		"signal_generate": func(ev *event.Event) { ev.Task, ev.TaskComm, ev.Arg = 311, n("ctl-loop"), 17 },
		"signal_deliver":  func(ev *event.Event) { ev.Arg = 17 },

		"irq_handler_entry": func(ev *event.Event) { ev.Arg, ev.Text = 25, n("virtio0-requests") },
		"irq_handler_exit":  func(ev *event.Event) { ev.Arg = 25 },
		"local_timer_entry": func(ev *event.Event) { ev.Kind, ev.Arg = event.VectorEntry, 236 },
		"reschedule_exit":   func(ev *event.Event) { ev.Kind, ev.Arg = event.VectorExit, 253 },
		"softirq_raise":     func(ev *event.Event) { ev.Arg = event.SoftirqTimer },
		"softirq_entry":     func(ev *event.Event) { ev.Arg = event.SoftirqHrtimer },
		"softirq_exit":      func(ev *event.Event) { ev.Arg = event.SoftirqRCU },
		"hrtimer_start": func(ev *event.Event) {
			ev.Arg, ev.Func, ev.Arg2, ev.Arg3 = -0x777f82165a40, n("hrtimer_wakeup"), 4600000000, 4600050000
		},
		"hrtimer_expire_entry": func(ev *event.Event) { ev.Arg, ev.Func, ev.Arg2 = -0x777f82165a40, n("hrtimer_wakeup"), 4596110845 },
		"hrtimer_expire_exit":  func(ev *event.Event) { ev.Arg = -0x777f82165a40 },
		"hrtimer_cancel":       func(ev *event.Event) { ev.Arg = -0x777f82165a40 },
		"cpu_idle":             func(ev *event.Event) { ev.Arg, ev.Target = event.IdleExit, 1 },
		"ipi_raise":            func(ev *event.Event) { ev.Target, ev.Text = 1, n("Function call interrupts") },
		"ipi_send_cpu":         func(ev *event.Event) { ev.Kind, ev.Target, ev.Func = event.IPIRaise, 3, n("flush_tlb_func") },
		"ipi_send_cpumask":     func(ev *event.Event) { ev.Kind, ev.Func = event.IPIRaise, n("flush_tlb_func") },
		"ipi_entry":            func(ev *event.Event) { ev.Text = n("Rescheduling interrupts") },
		"ipi_exit":             func(ev *event.Event) { ev.Text = n("Rescheduling interrupts") },

		"sched_wake_idle_without_ipi": func(ev *event.Event) { ev.Target = 3 },

		"irq_disable": func(ev *event.Event) { ev.Func = n("schedule") }, "irq_enable": func(ev *event.Event) { ev.Func = n("do_idle") },
		"preempt_disable": func(ev *event.Event) { ev.Func = n("vfs_write") }, "preempt_enable": func(ev *event.Event) { ev.Func = n("vprintk") },
		"sys_enter": func(ev *event.Event) { ev.Arg = 231 }, "sys_exit": func(ev *event.Event) { ev.Arg = 24 },
		"sys_enter_nanosleep": func(ev *event.Event) { ev.Kind, ev.Arg = event.SysEnter, 35 },
		"sys_exit_nanosleep":  func(ev *event.Event) { ev.Kind, ev.Arg = event.SysExit, 35 },
		"function":            func(ev *event.Event) { ev.Kind, ev.Func = event.FuncEntry, n("exit_mm") },
		"funcgraph_entry":     func(ev *event.Event) { ev.Func = n("exit_mmap") },
		"funcgraph_exit":      func(ev *event.Event) { ev.Func, ev.Arg = n("exit_mmap"), 1540 },
		"print":               func(ev *event.Event) { ev.Text = n("frame 7 begins") },
		"bprint":              func(ev *event.Event) { ev.Kind, ev.Text = event.Print, n("from trace_printk") },
		"bputs":               func(ev *event.Event) { ev.Kind, ev.Text = event.Print, n("from trace_puts") },
		"workqueue_queue_work": func(ev *event.Event) {
			ev.Kind, ev.Text = event.Other, n("work struct=0x10 function=vmstat_update")
		},
	}
	order := []string{"sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task", "sched_stat_runtime",
		"sched_pi_setprio", "sched_process_fork", "sched_process_exec", "sched_process_exit", "sched_process_free", "sched_process_wait",
		"task_newtask", "task_rename", "signal_generate", "signal_deliver", "irq_handler_entry", "irq_handler_exit", "local_timer_entry",
		"reschedule_exit", "softirq_raise", "softirq_entry", "softirq_exit", "hrtimer_start", "hrtimer_expire_entry", "hrtimer_expire_exit",
		"hrtimer_cancel", "cpu_idle", "ipi_raise", "ipi_send_cpu", "ipi_send_cpumask", "ipi_entry", "ipi_exit", "sched_wake_idle_without_ipi",
		"irq_disable", "irq_enable", "preempt_disable", "preempt_enable", "sys_enter", "sys_exit", "sys_enter_nanosleep", "sys_exit_nanosleep",
		"function", "funcgraph_entry", "funcgraph_exit", "print", "bprint", "bputs", "workqueue_queue_work"}
	var list []event.Event
	for i, name := range order {
		var ev event.Event
		ev.Reset()
		ev.Kind, ev.Name = event.KindOf([]byte(name)), n(name)
		ev.CPU, ev.PID, ev.Comm = event.CPU(i%4), event.PID(300+i%3), n([]string{"sh", "cyclictest", "kworker/0:1"}[i%3])
		ev.Time = 812_000_100_000 + event.Time(1_234*i)
		ev.Flags, ev.PreemptDepth, ev.MigrateDisable = event.FlagsKnown|event.IRQsOff|event.HardIRQ, 2, 1
		if name == "print" { // an event without anything special about it
			ev.Flags, ev.PreemptDepth, ev.MigrateDisable = event.FlagsKnown, 0, 0
		}
		fill[name](&ev)
		list = append(list, ev)
	}
	return list
}

// oddForms has records that differ from the usual ones of their events: what only some
// kernels, or only texts, tell.
func oddForms(names *event.Names) []event.Event {
	n := names.Intern
	var list []event.Event
	add := func(kind event.Kind, fill func(ev *event.Event)) {
		var ev event.Event
		ev.Reset()
		ev.Kind, ev.Name, ev.CPU, ev.PID, ev.Comm = kind, n(kind.String()), 1, 300, n("sh")
		ev.Time, ev.Flags = 812_000_100_000+event.Time(1_234*len(list)), event.FlagsKnown|event.SoftIRQ
		fill(&ev)
		list = append(list, ev)
	}
	wakeup := func(ev *event.Event) {
		ev.Task, ev.TaskComm, ev.TaskPrio, ev.Target, ev.Arg = 311, n("ctl-loop"), -1, 2, 1
	}
	add(event.SchedWakeup, wakeup)
	add(event.SchedWakeup, func(ev *event.Event) { wakeup(ev); ev.Arg = 0 })
	add(event.SchedStatRuntime, func(ev *event.Event) { ev.Task, ev.TaskComm, ev.Arg = 311, n("ctl-loop"), 77 })
	add(event.SchedStatRuntime, func(ev *event.Event) { ev.Task, ev.TaskComm, ev.Arg, ev.Arg2 = 311, n("ctl-loop"), 78, 0 })
	add(event.IRQDisable, func(*event.Event) {})
	add(event.SoftirqEntry, func(ev *event.Event) { ev.Arg, ev.Flags = 1, 0 })
	add(event.FuncEntry, func(ev *event.Event) { ev.Func = n("do_exit") })
	add(event.FuncExit, func(ev *event.Event) { ev.Arg = 300_000 })
	add(event.HrtimerCancel, func(ev *event.Event) { ev.Arg = event.NoArg })
	add(event.SchedMigrateTask, func(ev *event.Event) { wakeup(ev); ev.Arg = event.NoArg; ev.Orig, ev.Target = 130, event.NoCPU })
	add(event.Print, func(ev *event.Event) { ev.Text = n(strings.Repeat("a long text, ", 150) + "its end") })
	add(event.Other, func(ev *event.Event) { ev.Name, ev.Text = n("sched_stat_wait"), n(`comm=a "b" pid=3 delay=4 [ns]`) })
	add(event.CPUIdle, func(ev *event.Event) { ev.Arg, ev.Target = 2, 130 })
	for _, s := range []event.State{event.StateRunnable, event.StateSleeping, event.StateDisk, event.StateStopped,
		event.StateTraced, event.StateDead, event.StateZombie, event.StateParked, event.StateIdle} {
		add(event.SchedSwitch, func(ev *event.Event) {
			ev.Task, ev.TaskComm, ev.TaskPrio, ev.State = 311, n("ctl-loop"), 19, s
			ev.NextComm, ev.Next, ev.NextPrio = n("swapper/1"), 0, 120
		})
	}
	return list
}
