package cases

import (
	"fmt"

	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/result"
)

const second = 1_000_000_000

// Parts ask one question each, with one scenario each, so that a reader can run that one alone.
// In most of them processes with different names die one after the other: which of them died
// is then a part of a measure's name, and one run compares them under the same seed.

// The names of the variants: no change, and the two that were proposed.
const (
	none    = "none"
	changeA = "A"
	changeB = "B"
)

var threeWays = []string{asIs, changeA, changeB}

var exitCase = &Case{
	Name:  "exit",
	Title: "a dying real-time task holds its CPU",
	Question: "A real-time task that has locked its memory exits, and frees that memory at its own priority. By how much does that delay " +
		"others, and is it better to make it an ordinary task first?",
	Symptom:  "2016: cyclictest -p 10 below 150 µs for minutes; about 11 ms when a SCHED_RR 11 process exits on an ARM board (4.1.18-rt17), about 3 ms on an Intel i7 (3.14.43-rt42).",
	conclude: concludeExit,
	parts: []part{
		{id: "main", file: "main.json",
			variants: threeWays, name: none, seeds: 20, quickSeeds: 6, duration: second, tasks: []string{"cyclictest*"},
			measures: []experiment.Measure{lengths("death_victim", "a death, until the parent knows", "p50"), lengths("death_victim", "a death, until the parent knows", "max")},
			watch:    watchDeaths("victim"), answer: answerExit},
		{id: "sizes", file: "sizes.json", question: "What does each MB cost?",
			variants: threeWays, name: none, seeds: 10, quickSeeds: 4, tasks: []string{"cyclictest0*"},
			measures: perKind("mb0", "mb16", "mb64", "mb128"), watch: watchSizes("mb0", "mb16", "mb64", "mb128"), answer: answerSizes},
		{id: "recorded", file: "recorded.json", question: "Does the model agree with the recordings of 0, 64 and 256 MB?",
			variants: threeWays, name: none, seeds: 2, quickSeeds: 2, tasks: []string{"cyclictest0*"},
			measures: perKind("mb0", "mb32", "mb64", "mb256"), watch: watchSizes("mb0", "mb32", "mb64", "mb256"), answer: answerRecorded},
		{id: "vmas", file: "vmas.json", question: "What does each mapping cost?",
			variants: threeWays, name: none, seeds: 10, tasks: []string{"cyclictest0*"},
			measures: perKind("vma1", "vma1k", "vma10k"), watch: watchDeaths("vma1", "vma1k", "vma10k"), answer: answerVMAs},
		{id: "kinds", file: "kinds.json", question: "Does it matter who dies and how?",
			variants: threeWays, name: none, seeds: 10, quickSeeds: 4, tasks: []string{"cyclictest*", "fair*"},
			measures: kindMeasures, watch: watchDeaths(kinds...), answer: answerKinds},
		{id: "restart-idle", file: "restart-idle.json", question: "How long until a killed service is at work again, on an idle machine?",
			variants: threeWays, name: none, seeds: 10, quickSeeds: 4, tasks: []string{"supervisor*"}, measures: restartMeasures, watch: watchDeaths("service"), answer: answerRestart},
		{id: "restart-busy", file: "restart-busy.json", question: "The same while real-time tasks of a lower priority take 90 % of both CPUs?",
			variants: threeWays, name: none, seeds: 10, quickSeeds: 4, tasks: []string{"supervisor*"}, measures: restartMeasures, watch: watchDeaths("service"), answer: answerRestart},
		{id: "restart-full", file: "restart-full.json", question: "The same while they take all that throttling leaves them?",
			variants: threeWays, name: none, seeds: 6, tasks: []string{"supervisor*"}, measures: restartMeasures, watch: watchDeaths("service"), answer: answerRestart},
		{id: "locks-pi", file: "locks-pi.json", question: "How long does a task wait for a lock of the dying one, with priority inheritance?",
			variants: threeWays, name: none, seeds: 10, quickSeeds: 4, tasks: []string{"waiter*"}, measures: lockMeasures, watch: watchDeaths("owner"), answer: answerLock},
		{id: "locks-robust", file: "locks-robust.json", question: "The same with a robust mutex without priority inheritance?",
			variants: threeWays, name: none, seeds: 10, quickSeeds: 4, tasks: []string{"waiter*"}, measures: lockMeasures, watch: watchDeaths("owner"), answer: answerLock},
		{id: "preempt", file: "preempt.json", question: "What remains of it with change A, by the kernel's preemption model?",
			variants: []string{"A-rt", "A-full", "A-voluntary", "A-none"}, seeds: 10, tasks: []string{"cyclictest0*"},
			measures: perKind("victim"), watch: watchDeaths("victim"), answer: answerPreempt},
		{id: "preempt-recorded", file: "recorded.json", question: "The same with the costs of the emulated machine, by kernel: what remains with change A of up to 256 MB?",
			variants: []string{changeA, "A-6.1", "A-6.1-full", "A-6.12"}, seeds: 2, quickSeeds: 2, tasks: []string{"cyclictest0*"},
			measures: perKind("mb32", "mb256"), watch: watchDeaths("mb0", "mb32", "mb64", "mb256"), answer: answerDrain},
		{id: "kernels", file: "main.json", question: "Is it so on other kernels? Neither change is in any of them.",
			variants: []string{asIs, "6.1", "6.12", "6.12-rt", "6.12-rt-A"}, name: "6.1-rt", seeds: 10, tasks: []string{"cyclictest0*"},
			measures: perKind("victim"), watch: watchDeaths("victim"), answer: answerPreempt},
		{id: "isolation", file: "isolation.json", question: "What does a task of a higher priority do that does not die but computes?",
			variants: []string{asIs, changeA, changeB, "unthrottled"}, name: none, seeds: 6, quickSeeds: 4, tasks: []string{"cyclictest0*"}, answer: answerIsolation},
	},
	summary: []summary{
		{"sizes", "death_ns_per_mb", "death_ns_per_mb", "a death for each MB"},
		{"restart-idle", "restart_p50_ns", "restart_p50_ns", "restart of a killed service, idle machine"},
		{"restart-busy", "restart_p50_ns", "restart_busy_p50_ns", "restart, 90 % of real-time load"},
		{"restart-full", "restart_p50_ns", "restart_full_p50_ns", "restart, all that throttling leaves"},
		{"locks-pi", "lock_p50_ns", "lock_pi_p50_ns", "lock of the dying task, PI"},
		{"locks-robust", "lock_p50_ns", "lock_robust_p50_ns", "lock of the dying task, robust without PI"},
		{"kinds", "rt_latency_dl_max_ns", "rt_latency_deadline_max_ns", "cyclictest behind a dying deadline task"},
		{"kinds", "rt_latency_core_max_ns", "rt_latency_core_max_ns", "cyclictest behind a core dump of 30 MB"},
	},
	objections: exitObjections,
	limits: []string{
		"The model's teardown costs 0.4 µs a page (0.1 ms a MB, as the reproducer takes natively) and 0.5 µs a mapping; neither is a measurement of one of the two machines of 2016, whose address spaces are not known. At 0.1 ms a MB 30 MB give the 3 ms of the Intel i7; the 11 ms of the ARM board would be 105 MB, or memory that is slower to free. The traced costs of the discussion (20 µs a page, 8–14 µs a mapping) contain the tracer.",
		"The machine is the model's 6.1-rt, not 3.14-rt or 4.1-rt.",
		"A core dump is a fixed time for each MB; a real one waits for its disk.",
	},
}

var kinds = []string{"pinned", "free", "polite", "killed", "core", "dl", "nice"}

// lengths is a measure of a tally.
func lengths(name, title, which string) experiment.Measure {
	said := map[string]string{"p50": "median", "max": "longest"}[which]
	return experiment.Measure{Name: name + "_" + which + "_ns", Title: title + " (" + said + ")"}
}

// perKind are the measures of victims that differ.
func perKind(names ...string) []experiment.Measure {
	var list []experiment.Measure
	for _, n := range names {
		list = append(list, lengths("death_"+n, "death of "+n, "p50"), lengths("rt_latency_"+n, "cyclictest during it", "max"))
	}
	if len(names) > 2 && names[0] == "mb0" {
		list = append(list, experiment.Measure{Name: "death_ns_per_mb", Title: "death for each MB"}, experiment.Measure{Name: "rt_latency_ns_per_mb", Title: "maximum of cyclictest for each MB"})
	}
	return list
}

var kindMeasures = func() []experiment.Measure {
	var list []experiment.Measure
	for _, n := range kinds {
		list = append(list, lengths("rt_latency_"+n, n+": cyclictest", "max"), lengths("fair_latency_"+n, n+": fair tasks", "max"), lengths("death_"+n, n+": the death", "p50"))
	}
	return list
}()

var restartMeasures = []experiment.Measure{lengths("told", "death until the supervisor runs", "p50"), lengths("told", "death until the supervisor runs", "max"),
	lengths("restart", "death until the new service is at work", "p50"), lengths("restart", "death until the new service is at work", "max")}

var lockMeasures = []experiment.Measure{lengths("lock", "death of the owner until the waiter has the lock", "p50"), lengths("lock", "death of the owner until the waiter has the lock", "max"),
	lengths("death_owner", "the owner's death", "p50")}

func answerExit(c *result.Comparison) string {
	here, elsewhere := "cyclictest0", int64(0)
	for i := range c.Variants {
		for j := range c.Variants[i].Tasks {
			if t := &c.Variants[i].Tasks[j]; kindOf(t.Comm) != here {
				elsewhere = max(elsewhere, t.Timer.MaxNS)
			}
		}
	}
	return fmt.Sprintf("What cyclictest would print as its maximum on the CPU of the dying task: %s; on the other CPUs at most %s in any variant.", latest(c, here), words(elsewhere))
}

func answerSizes(c *result.Comparison) string {
	return fmt.Sprintf("Medians over the runs: a death takes for each MB: %s; the maximum of cyclictest in a run grows for each MB by: %s.", each(c, "death_ns_per_mb"), each(c, "rt_latency_ns_per_mb"))
}

// answerRecorded stands beside the true answers of the recordings exit-0, exit-64 and exit-256.
func answerRecorded(c *result.Comparison) string {
	return fmt.Sprintf("With the costs of the emulated machine, which were fitted on other recordings, cyclictest waits at most %s behind 64 MB and %s behind 256 MB, %s for each MB; recorded were 35.8 ms and 142 ms, 557 µs for each MB. One death is one phase of the 2 ms between two of its timers.",
		measured(c, none, "rt_latency_mb64_max_ns"), measured(c, none, "rt_latency_mb256_max_ns"), measured(c, none, "rt_latency_ns_per_mb"))
}

func answerVMAs(c *result.Comparison) string {
	return fmt.Sprintf("Maximum of cyclictest in a run, median over the runs, with 1 mapping: %s; with 1,000: %s; with 10,000: %s.", each(c, "rt_latency_vma1_max_ns"),
		each(c, "rt_latency_vma1k_max_ns"), each(c, "rt_latency_vma10k_max_ns"))
}

func answerKinds(c *result.Comparison) string {
	text := "Maximum of cyclictest in a run, median over the runs"
	for i, k := range kinds {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		text += fmt.Sprintf("%s%s: %s", sep, k, each(c, "rt_latency_"+k+"_max_ns"))
	}
	return text + "."
}

func answerRestart(c *result.Comparison) string {
	return fmt.Sprintf("From the kill until the new service is at work, median: %s; longest of a run: %s.", each(c, "restart_p50_ns"), each(c, "restart_max_ns"))
}

func answerLock(c *result.Comparison) string {
	return fmt.Sprintf("From the kill until the waiter has the lock, median: %s; longest of a run: %s.", each(c, "lock_p50_ns"), each(c, "lock_max_ns"))
}

func answerPreempt(c *result.Comparison) string {
	return fmt.Sprintf("Maximum of cyclictest during a death, median over the runs: %s.", each(c, "rt_latency_victim_max_ns"))
}

func answerDrain(c *result.Comparison) string {
	return fmt.Sprintf("Maximum of cyclictest during a death of 256 MB: %s.", each(c, "rt_latency_mb256_max_ns"))
}

func answerIsolation(c *result.Comparison) string {
	return fmt.Sprintf("Maximum of cyclictest: %s.", latest(c, "cyclictest0"))
}
