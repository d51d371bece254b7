package whatif

// suggestExit: nobody waits for a dying task's memory, so it may give that back at the
// priority of ordinary tasks. It does so if it gives up its priority before it exits; a task
// that crashes or is killed cannot, which is why changes of the kernel were proposed.
func suggestExit(a *asked) []Candidate {
	if a.cause.PID < 0 {
		return nil
	}
	how, who := "rt", "dying real-time tasks"
	if a.cause.Prio < 0 {
		how, who = "all", "dying tasks" // the other change forgets deadline tasks
	}
	list := []Candidate{{Text: a.cause.Comm + " drops to SCHED_OTHER before it exits",
		Change: "task=" + a.holder() + " exit_normalize=" + how}}
	if n := realTime(a.cause.Prio); n > 0 {
		list = append(list, a.raised(n+1)...)
	}
	list = append(list, Candidate{Text: "a patched kernel: " + who + " drop to SCHED_OTHER", Change: "set exit_normalize=" + how})
	return append(list, a.apart()...)
}
