package cases

import "fmt"

var exitObjections = []objection{
	{text: "Why does the application not drop its priority itself before it exits?", parts: []string{"kinds"},
		answer: func(n *numbers) string {
			c := n.parts["kinds"]
			return fmt.Sprintf("A task that becomes SCHED_OTHER before it ends makes cyclictest wait %s. One that is killed has no chance to: %s; with change A %s.",
				measured(c, none, "rt_latency_polite_max_ns"), measured(c, none, "rt_latency_killed_max_ns"), measured(c, changeA, "rt_latency_killed_max_ns"))
		}},
	{text: "A task of a high priority that crashes means bigger problems than latency.", parts: []string{"main", "kinds"},
		answer: func(n *numbers) string {
			c := n.parts["main"]
			return fmt.Sprintf("As a real-time task the dying one never ran for more than 20 µs at a time; its death took %s (median) at its priority, and cyclictest, which has nothing to do with it, was up to %s late. With change A: %s.",
				measured(c, none, "death_victim_p50_ns"), words(latestOf(variantOf(c, none), "cyclictest0")), words(latestOf(variantOf(c, changeA), "cyclictest0")))
		}},
	{text: "Is part of it a long stretch with preemption off, which dropping the priority would not cure?", parts: []string{"preempt", "preempt-recorded"},
		answer: func(n *numbers) string {
			return fmt.Sprintf("What remains with change A, 30 MB: %s; 256 MB with the costs of the emulated machine (A is 6.1-rt): %s. The loops look after every page whether they should make way, and giving pages back holds preemption off for a batch at a time. Kernels from 5.14 to 6.6 without PREEMPT_RT empty their lists of free pages at the end with interrupts off: that part is cured by no priority.",
				each(n.parts["preempt"], "rt_latency_victim_max_ns"), each(n.parts["preempt-recorded"], "rt_latency_mb256_max_ns"))
		}},
	{text: "Priority inversion for whoever waits for the death: a supervisor that restarts the process.", parts: []string{"restart-idle", "restart-busy"},
		answer: func(n *numbers) string {
			text := fmt.Sprintf("On an idle machine: %s until the service is at work again (%s). With real-time tasks of a lower priority on 90 %% of both CPUs: %s",
				each(n.parts["restart-idle"], "restart_p50_ns"), shown(n.parts["restart-idle"], "restart_p50_ns"), each(n.parts["restart-busy"], "restart_p50_ns"))
			if a, ok := measure(n.parts["restart-busy"], none, "restart_p50_ns"); ok {
				if b, ok := measure(n.parts["restart-busy"], changeA, "restart_p50_ns"); ok {
					text += fmt.Sprintf(" (A: %s as long)", times(a, b))
				}
			}
			if a, ok := measure(n.parts["restart-busy"], none, "restart_max_ns"); ok && variantOf(n.parts["restart-busy"], none).Measures["restart_p50_ns"]*2 < a {
				text += fmt.Sprintf(". Without a change the longest is %s: a death at real-time priority uses real-time budget, and with the load beside it that runs out", words(a))
			}
			if c := n.parts["restart-full"]; c != nil {
				text += fmt.Sprintf(". With all that throttling leaves them: %s", each(c, "restart_p50_ns"))
			}
			text += fmt.Sprintf(" (%s)", shown(n.parts["restart-busy"], "restart_p50_ns"))
			return text + ". Where a change makes that longer, it moves the delay from everybody at or below the priority of the dying task to whoever waits for its end."
		}},
	{text: "Change A forgets SCHED_DEADLINE and negative nice values.", parts: []string{"kinds"},
		answer: func(n *numbers) string {
			c := n.parts["kinds"]
			return fmt.Sprintf("A dying deadline task makes cyclictest wait: %s. A dying task with nice -20 makes fair tasks wait: %s; %s. Real-time tasks wait for it: %s.",
				each(c, "rt_latency_dl_max_ns"), each(c, "fair_latency_nice_max_ns"), shown(c, "fair_latency_nice_max_ns"), each(c, "rt_latency_nice_max_ns"))
		}},
	{text: "exit_mm() begins by giving up robust and PI futexes: tasks that wait for a lock of the dying task wait longer, too.", parts: []string{"locks-pi", "locks-robust"},
		answer: func(n *numbers) string {
			return fmt.Sprintf("With real-time tasks of a middle priority on 90 %% of both CPUs the waiter has the lock after: with priority inheritance %s (longest %s); without %s (longest %s). Change A keeps what a lock lends.",
				each(n.parts["locks-pi"], "lock_p50_ns"), each(n.parts["locks-pi"], "lock_max_ns"), each(n.parts["locks-robust"], "lock_p50_ns"), each(n.parts["locks-robust"], "lock_max_ns"))
		}},
	{text: "SCHED_FIFO and SCHED_RR give no isolation from a badly behaved task anyway.", parts: []string{"isolation"},
		answer: func(n *numbers) string {
			return fmt.Sprintf("A task of a higher priority that computes for long makes cyclictest late: %s. The difference is that a dying task did nothing wrong.",
				latest(n.parts["isolation"], "cyclictest0"))
		}},
	{text: "What about a core dump?", parts: []string{"kinds"},
		answer: func(n *numbers) string {
			c := n.parts["kinds"]
			return fmt.Sprintf("It is written when the signal is handled, before the exit begins, so neither change can take that away; what they take away is the exit behind it. cyclictest waits %s (%s) where a core is dumped (without one, killed: %s).",
				each(c, "rt_latency_core_max_ns"), shown(c, "rt_latency_core_max_ns"), each(c, "rt_latency_killed_max_ns"))
		}},
}
