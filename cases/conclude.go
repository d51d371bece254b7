package cases

import "fmt"

// This file has the answers in a paragraph. They are made of numbers that quick runs have, too.

func concludeExit(n *numbers) string {
	c, busy, kinds := n.parts["main"], n.parts["restart-busy"], n.parts["kinds"]
	return fmt.Sprintf("A task frees its memory on the CPU where it dies, at the priority that it has then: whoever is below it there waits, here %s, and nobody on other CPUs. "+
		"Both changes take that away (A %s, B %s), and so does a task that makes itself an ordinary one before it exits (%s). The price is paid by those who wait for its memory, its locks "+
		"or its restart: nothing on an idle machine, but under real-time load a restart takes %s with A instead of %s.",
		words(latestOf(variantOf(c, none), "cyclictest0")), words(latestOf(variantOf(c, changeA), "cyclictest0")), words(latestOf(variantOf(c, changeB), "cyclictest0")),
		measured(kinds, none, "rt_latency_polite_max_ns"), measured(busy, changeA, "restart_p50_ns"), measured(busy, none, "restart_p50_ns"))
}

func concludeThrottle(n *numbers) string {
	c, r, b := n.parts["ladder"], n.parts["remedies"], n.parts["busy"]
	return fmt.Sprintf("The belt counts all real-time tasks of a CPU together. The thread that copies the disk's blocks is one of them, below the application, and uses nearly all of the CPU; when the budget of the period is gone, everybody is stopped, "+
		"the application with it: %s at 960 ms of 1 s, nothing at 980 ms or with throttling off. Raising the application's priority cannot help. As an ordinary task the thread stops nobody (%s), and the disk pays only where others compute: %s instead of %s. "+
		"A finer grain makes the windows shorter and more of them; kernels with fair servers stop real-time tasks only where an ordinary one wants the CPU, then for %s.",
		words(maxOf(variantOf(c, "960"), "app")), words(maxOf(variantOf(r, "irq-other"), "app")), readSpeed(b, "other"), readSpeed(b, "960"), words(maxOf(variantOf(b, "6.12"), "app")))
}

func concludeDefer(n *numbers) string {
	m, s, w := n.parts["main"], n.parts["shares"], n.parts["worst"]
	off, on := variantOf(m, atOnce), variantOf(m, "on")
	return fmt.Sprintf("The change does what was measured: put_prev_task() in front of a real-time task takes at most %d instructions instead of %d. But the work is only moved to the next choice of an ordinary task, with interrupts off there, too: "+
		"at the worst arrival a real-time task comes %s after it was due instead of %s. And unless the time in between is put aside, the preempted task pays for the real-time one: it is charged %s of what it ran.",
		value0(on, "put_prev_max_instructions"), value0(off, "put_prev_max_instructions"), measured(w, "on", "worst_ns"), measured(w, atOnce, "worst_ns"), of(s, "on", "charged_asker_ppm"))
}

func concludeCGroup(n *numbers) string {
	c := n.parts["load10"]
	ch := n.parts["choices"]
	return fmt.Sprintf("One level of cgroup makes the p99 of the wakeup latency %s instead of %s in the root, with the same median (%s and %s). Where one worker runs and another one is queued behind it, the load of the group at the root does not know of the second yet, so the balancer of an idle CPU passes that CPU over: "+
		"of its passes while a task waits elsewhere %s choose where none does, in the root %s. With both changes it is %s, and p99 is %s.",
		within(variantOf(c, "nested"), "p99_ns"), within(variantOf(c, inRoot), "p99_ns"), measured(c, "nested", "p50_ns"), measured(c, inRoot, "p50_ns"),
		wrongChoices(variantOf(ch, "nested")), wrongChoices(variantOf(ch, inRoot)), wrongChoices(variantOf(ch, "both")), within(variantOf(c, "both"), "p99_ns"))
}
