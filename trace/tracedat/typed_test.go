package tracedat

import (
	"strconv"

	"github.com/whylate/whylate/event"
)

// typed returns what the event says of a field of the record, as text; false where the
// event model has no place for it.
func typed(e *event.Event, name, field string, names func(event.Name) string) (string, bool) {
	num := func(n int64) (string, bool) { return strconv.FormatInt(n, 10), true }
	text := func(n event.Name) (string, bool) { return names(n), true }
	switch name + ":" + field {
	case "sched_switch:prev_pid", "sched_waking:pid", "sched_wakeup:pid", "sched_wakeup_new:pid", "sched_migrate_task:pid",
		"sched_stat_runtime:pid", "sched_pi_setprio:pid", "sched_process_fork:parent_pid", "sched_process_exec:pid",
		"sched_process_exit:pid", "sched_process_free:pid", "sched_process_wait:pid", "task_newtask:pid", "task_rename:pid",
		"signal_generate:pid":
		return num(int64(e.Task))
	case "sched_switch:prev_comm", "sched_waking:comm", "sched_wakeup:comm", "sched_wakeup_new:comm", "sched_migrate_task:comm",
		"sched_stat_runtime:comm", "sched_pi_setprio:comm", "sched_process_fork:parent_comm", "sched_process_exit:comm",
		"sched_process_free:comm", "sched_process_wait:comm", "task_newtask:comm", "task_rename:oldcomm", "signal_generate:comm":
		return text(e.TaskComm)
	case "sched_switch:prev_prio", "sched_waking:prio", "sched_wakeup:prio", "sched_wakeup_new:prio", "sched_migrate_task:prio",
		"sched_pi_setprio:oldprio", "sched_process_exit:prio", "sched_process_free:prio", "sched_process_wait:prio":
		return num(int64(e.TaskPrio))
	case "sched_switch:next_pid", "sched_process_fork:child_pid":
		return num(int64(e.Next))
	case "sched_switch:next_comm", "sched_process_fork:child_comm", "task_rename:newcomm":
		return text(e.NextComm)
	case "sched_switch:next_prio", "sched_pi_setprio:newprio":
		return num(int64(e.NextPrio))
	case "sched_waking:target_cpu", "sched_wakeup:target_cpu", "sched_wakeup_new:target_cpu", "sched_migrate_task:dest_cpu",
		"cpu_idle:cpu_id":
		return num(int64(e.Target))
	case "sched_migrate_task:orig_cpu":
		return num(int64(e.Orig))
	case "sched_stat_runtime:runtime", "irq_handler_entry:irq", "irq_handler_exit:irq", "softirq_raise:vec", "softirq_entry:vec",
		"softirq_exit:vec", "cpu_idle:state", "signal_generate:sig", "signal_deliver:sig", "sched_process_exec:old_pid",
		"task_newtask:clone_flags", "sched_wakeup:success":
		return num(e.Arg)
	case "sched_stat_runtime:vruntime", "hrtimer_start:softexpires", "hrtimer_expire_entry:now":
		return num(e.Arg2)
	case "hrtimer_start:expires":
		return num(e.Arg3)
	case "hrtimer_start:hrtimer", "hrtimer_expire_entry:hrtimer", "hrtimer_expire_exit:hrtimer", "hrtimer_cancel:hrtimer":
		return "0x" + strconv.FormatUint(uint64(e.Arg), 16), true
	case "hrtimer_start:function", "hrtimer_expire_entry:function", "funcgraph_entry:func", "funcgraph_exit:func":
		return text(e.Func)
	case "irq_handler_entry:name", "sched_process_exec:filename", "print:buf":
		return text(e.Text)
	}
	return "", false
}
