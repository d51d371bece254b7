package cases

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/stats"
)

// The ways of dealing with put_prev_task(): as kernels do, put off, put off with the time put
// aside, and Linux put away as a whole.
var fourWays = []string{asIs, "on", "settle", "co-kernel"}

// atOnce is the name of the first.
const atOnce = "off"

var deferCase = &Case{
	Name:  "defer",
	Title: "put_prev_task() of a fair task in the way of a real-time task",
	Question: "When a real-time task preempts an ordinary one, the scheduler first puts that back: it updates its load at every level of its groups and inserts it into a tree. " +
		"Should it do so when the next ordinary task is chosen instead? What does that gain, and who pays?",
	Symptom:  "2017, quad-core ARM A57, across the call. Before: at most 1114 to 1122 instructions, at least 9, average 11; at most 2.5 to 3.6 µs, at least 32 ns, average 64 ns. After: at most 12 to 44 instructions, at least 9, average 10 to 11; at most 160 to 480 ns.",
	conclude: concludeDefer,
	parts: []part{
		{id: "main", file: "main.json", variants: fourWays, name: atOnce, seeds: 2, quickSeeds: 2, duration: 10 * second,
			tasks: []string{"cyclictest*"}, measures: mixMeasures, watch: watchPutPrevs, answer: answerMix},
		{id: "depth", file: "depth.json", question: "What does it cost by the depth of the group, 0 to 4, and where PELT periods end?",
			variants: fourWays[:3], name: atOnce, seeds: 2, quickSeeds: 2, tasks: []string{"rt*"}, measures: depthMeasures, watch: watchPutPrevs, answer: answerDepth},
		{id: "shares", file: "shares.json", question: "Who is charged for the real-time task, and what becomes of the shares, where an ordinary task hands work to it?",
			variants: fourWays, name: atOnce, seeds: 2, quickSeeds: 2, tasks: []string{"server*"}, measures: shareMeasures, watch: watchPutPrevs, answer: answerCharged},
		{id: "timer", file: "timer.json", question: "And where it comes by a timer, whoever has the CPU then?",
			variants: fourWays, name: atOnce, seeds: 2, quickSeeds: 2, tasks: []string{"server*"}, measures: shareMeasures, watch: watchPutPrevs, answer: answerCharged},
		{id: "light", file: "light.json", question: "What does light testing see: cyclictest for ten seconds?",
			variants: fourWays, name: atOnce, seeds: 5, quickSeeds: 2, tasks: []string{"rt*"}, measures: lightMeasures, watch: watchPutPrevs, answer: answerLight},
		{id: "hardware", file: "hardware.json", question: "The same where the hardware takes the CPU away for 10 to 25 µs now and then, from whatever kernel?",
			variants: fourWays, name: atOnce, seeds: 5, quickSeeds: 2, tasks: []string{"rt*"}, measures: lightMeasures, watch: watchPutPrevs, answer: answerLight},
		{id: "worst", file: "worst.json", question: "And the worst arrival of all, where the scheduler alone keeps interrupts off?",
			variants: fourWays, name: atOnce, seeds: 2, quickSeeds: 2, search: &search{task: "rt", budget: 5000, quick: 600, less: 1400, step: 250, length: 45_000_000}},
		{id: "worst-section", file: "worst-section.json", question: "The same where ordinary tasks keep interrupts off for 20 µs in system calls?",
			variants: fourWays, name: atOnce, seeds: 2, quickSeeds: 2, search: &search{task: "rt", budget: 5000, quick: 600, less: 1400, step: 250, length: 45_000_000}},
	},
	objections: deferObjections,
	limits: []string{
		"Instructions are those of Debian's 6.1 for x86-64, counted one by one under emulation: 348 to 518 without groups, 315 to 441 more for each level. The discussion measured a kernel of 2017 on an ARM A57: another instruction set, another compiler and load tracking of another version. The figures stand beside each other; none was fitted to the other.",
		"Time is instructions times a price, 3 ns in the mix (what the published maxima say of cold caches: 2.3 to 3.2 ns) and 1 ns else. Caches are not modelled, so a price is the same for every call.",
		"What no kernel does, remembering a task and settling it later, is priced by estimates of 4 to 8 instructions.",
		"Load tracking counts the real-time task's time as running of the task that is put off, also with settle: util_avg of that task is too high for a while. Only its run time is put aside.",
		"The worst case over all arrivals is the worst that a search found (`whylate worst`, docs/worst.md), with the number of arrivals that were tried; with the machine's own work no theory bounds it.",
	},
}

var mixMeasures = []experiment.Measure{
	{Name: "put_prev_min_instructions", Title: "put_prev_task(): least instructions"},
	{Name: "put_prev_avg_instructions", Title: "average instructions"},
	{Name: "put_prev_max_instructions", Title: "most instructions"},
	{Name: "put_prev_max_ns", Title: "that is, at 3 ns each"},
	{Name: "put_prev_fair_ppm", Title: "calls that put back a fair task", Assume: stats.Normal},
	{Name: "latency_avg_ns", Title: "real-time tasks, from due to running (average)", Assume: stats.Normal},
	{Name: "latency_max_ns", Title: "real-time tasks, from due to running (longest seen)"},
	{Name: "scheduler_ns", Title: "the scheduler's own work, all CPUs", Assume: stats.Normal},
}

var depthMeasures = func() []experiment.Measure {
	var list []experiment.Measure
	for d := range 5 {
		name, title := fmt.Sprintf("put_prev_depth%d", d), fmt.Sprintf("depth %d", d)
		list = append(list, experiment.Measure{Name: name + "_least_instructions", Title: title + ": least instructions for a fair task"},
			experiment.Measure{Name: name + "_avg_instructions", Title: title + ": average instructions"},
			experiment.Measure{Name: name + "_max_instructions", Title: title + ": most instructions"})
	}
	return append(list, experiment.Measure{Name: "scheduler_ns", Title: "the scheduler's own work, all CPUs"})
}()

var shareMeasures = []experiment.Measure{
	{Name: "ran_asker_ppm", Title: "asker: share of what ordinary tasks had", Assume: stats.Normal},
	{Name: "ran_hog_ppm", Title: "hog: share of it", Assume: stats.Normal},
	{Name: "charged_asker_ppm", Title: "asker: charged, of what it ran", Assume: stats.Normal},
	{Name: "charged_hog_ppm", Title: "hog: charged, of what it ran", Assume: stats.Normal},
	{Name: "scheduler_ns", Title: "the scheduler's own work"},
}

var lightMeasures = []experiment.Measure{
	{Name: "latency_avg_ns", Title: "from due to running (average)", Assume: stats.Normal},
	{Name: "latency_max_ns", Title: "from due to running (longest seen)"},
	{Name: "scheduler_ns", Title: "the scheduler's own work", Assume: stats.Normal},
}

func answerMix(c *result.Comparison) string {
	var list []string
	for i := range c.Variants {
		m := c.Variants[i].Measures
		list = append(list, fmt.Sprintf("%s %d, %d, %d", c.Variants[i].Name, m["put_prev_min_instructions"], m["put_prev_avg_instructions"], m["put_prev_max_instructions"]))
	}
	return fmt.Sprintf("Instructions at least, on average and at most: %s (published: before 9, 11, 1114 to 1122; after 9, 10 to 11, 12 to 44). %s of the calls put back a fair task.",
		strings.Join(list, "; "), hundredths(c.Variants[0].Measures["put_prev_fair_ppm"]))
}

func answerDepth(c *result.Comparison) string {
	v, d := variantOf(c, atOnce), variantOf(c, "on")
	if v == nil || d == nil {
		return ""
	}
	var list, least, after []string
	for i := range 5 {
		name := fmt.Sprintf("put_prev_depth%d_", i)
		list = append(list, fmt.Sprint(v.Measures[name+"max_instructions"]))
		least = append(least, fmt.Sprint(v.Measures[name+"least_instructions"]))
		after = append(after, fmt.Sprint(d.Measures[name+"least_instructions"]))
	}
	return fmt.Sprintf("Instructions for a fair task at depth 0 to 4, at most: %s, where PELT periods have ended; at least: %s; put off: %s. Counted in 6.1, three tasks, depth 0 to 4: at most 518, 961, 1402, 1843, 2284; where no period has ended, medians of 378, 693, 1006, 1289, 1632.", strings.Join(list, ", "), strings.Join(least, ", "), strings.Join(after, ", "))
}

func answerCharged(c *result.Comparison) string {
	var list []string
	for i := range c.Variants {
		m := c.Variants[i].Measures
		list = append(list, fmt.Sprintf("%s %s to %s (charged %s of what it ran)", c.Variants[i].Name, hundredths(m["ran_asker_ppm"]), hundredths(m["ran_hog_ppm"]), hundredths(m["charged_asker_ppm"])))
	}
	return fmt.Sprintf("asker to hog, in ten seconds: %s.", strings.Join(list, "; "))
}

func answerLight(c *result.Comparison) string {
	return fmt.Sprintf("Average: %s. Longest that was seen: %s.", each(c, "latency_avg_ns"), each(c, "latency_max_ns"))
}

// hundredths is a share in per cent.
func hundredths(ppm int64) string { return fmt.Sprintf("%d.%02d %%", ppm/10_000, ppm%10_000/100) }
