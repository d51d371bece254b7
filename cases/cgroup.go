package cases

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/stats"
)

// The variants of the comparison that was published, and the two changes together.
var rootAndNested = []string{asIs, "nested", "both"}

// inRoot is the name of the scenario as it is.
const inRoot = "root"

var cgroupCase = &Case{
	Name:  "cgroup",
	Title: "the load balancer looks at the wrong CPU",
	Question: "On a machine that is mostly idle schbench has a p99 of 0.9 ms in the root cgroup and one of 7 ms in a cgroup of its own with the greatest weight, " +
		"with the same medians. Why, and what would bring it back?",
	Symptom: "2017, v4.11-rc8, one socket of 16 cores and 32 threads, schbench -m 2 -t 16 -s 10000 -c 15000 -r 30 beside some variable management load. " +
		"µs at 50, 75, 90, 95, 99, 99.5, 99.9 % and the longest: root 26, 62, 74, 86, 887, 3692, 10832, 13374; one level of cgroup 31, 65, 71, 91, 7288, 10352, 12496, 13023.",
	conclude: concludeCGroup,
	parts: []part{
		schbenchAt(10, ""),
		schbenchAt(5, "The same beside a load of 5 % of each CPU?"),
		schbenchAt(15, "And beside 15 %?"),
		schbenchAt(20, "And beside 20 %?"),
		schbenchAt(30, "And beside 30 %?"),
		side("patches", "What does each of the two changes do alone, and what do both do in the root? (10 %)", "nested", "group", "runnable", "both", asIs, "root-both"),
		{id: "choices", file: "main.json", question: "How often does the balancer of an idle CPU choose wrongly? (10 %)", changes: atLoad(10),
			variants: []string{asIs, "nested", "group", "both", "6.1", "6.1-nested", "6.12", "6.12-nested"}, quick: rootAndNested, name: inRoot, seeds: 3, length: choiceTime, quickSeeds: 2, duration: quickChoices,
			noWorst: true, tasks: benchTasks, together: true, kinds: benchKinds, measures: choiceMeasures, watch: watchChoices, answer: answerChoices},
		side("depth", "And deeper, 0 to 4 levels of groups? (10 %)", asIs, "nested", "2", "3", "4", "2-both", "4-both"),
		side("settings", "Do HZ and the weight of the group matter? (10 %)", asIs, "nested", "root-1000", "nested-1000", "both-1000", "nested-100", "both-100", "nested-shares"),
		side("kernels", "And on later kernels, 6.1 and 6.12? (10 %)", asIs, "nested", "6.1", "6.1-nested", "6.12", "6.12-nested"),
	},
	objections: cgroupObjections,
	limits: []string{
		"The management load of 2017 was not published. Here it is tasks in the root that compute for 0.1 to 2.4 ms and sleep for 11.25 ms on average, at random; their number makes 5 to 30 % of each CPU. The figures stand beside the published ones; none was fitted to them.",
		"The two threads of a core take nothing from each other, caches and frequencies are not modelled, and a CPU leaves its idle state in a microsecond.",
		"A futex call is priced at 1 µs, the rest of a wake at the round figures of the table typical. The medians are made of these; the tails are not.",
		"HZ of the machine of 2017 is not known; here it is 250, and the part settings has 1000 beside it. The greatest weight is that of cgroup v2, 10000, which is 102,400 in cpu.shares; that of v1, 262,144, is there, too.",
		"The two changes are those of the discussion, not those that were merged later: kernels since 5.5 balance by other metrics.",
	},
}

var benchTasks = []string{"schbench"}

// benchKinds are the events that are looked at beside those of waits.
var benchKinds = event.Kinds(event.SchedMigrateTask)

// How long each variant goes: in a quick run, at each of which there are some 6,000 wakeups, and in parts
// of a full run that ask for more than the published comparison.
const (
	quickBench   event.Time = 5 * second
	quickChoices event.Time = 2 * second
	sideBench    event.Time = 6 * second
	choiceTime   event.Time = 3 * second
)

// loads are the loads beside schbench in the scenario, in per cent of each CPU; each adds its daemons to those before.
var loads = []int{5, 10, 15, 20, 30}

// atLoad leaves the daemons beyond a load out.
func atLoad(percent int) []string {
	var list []string
	for _, p := range loads {
		if p > percent {
			list = append(list, fmt.Sprintf("remove task=%d-*", p))
		}
	}
	return list
}

// schbenchAt is the comparison beside a load; without a question it is the main part.
func schbenchAt(percent int, question string) part {
	p := part{id: fmt.Sprintf("load%d", percent), file: "main.json", question: question, changes: atLoad(percent), variants: rootAndNested, name: inRoot,
		seeds: 5, duration: quickBench, tasks: benchTasks, together: true, kinds: benchKinds, measures: wakeupMeasures(question == ""), watch: watchWakeups, answer: answerTails}
	if question == "" {
		p.quickSeeds, p.tell = 5, tellPasses
	} else {
		p.noWorst = true
	}
	return p
}

// side is a part that asks for more than the published comparison, beside a load of 10 %.
func side(id, question string, variants ...string) part {
	return part{id: id, file: "main.json", question: question, changes: atLoad(10), variants: variants, name: inRoot, seeds: 3, length: sideBench,
		noWorst: true, tasks: benchTasks, together: true, kinds: benchKinds, measures: wakeupMeasures(false), watch: watchWakeups, answer: answerTails}
}

// published are the figures of 2017 by percentile, in µs: root and one level of cgroup.
var published = [][2]int{{26, 31}, {62, 65}, {74, 71}, {86, 91}, {887, 7288}, {3692, 10352}, {10832, 12496}, {13374, 13023}}

func wakeupMeasures(beside bool) []experiment.Measure {
	var list []experiment.Measure
	for i, name := range []string{"p50", "p75", "p90", "p95", "p99", "p995", "p999", "max"} {
		title := "wakeup latency, " + name
		switch name {
		case "p995", "p999":
			title = title[:len(title)-1] + "." + title[len(title)-1:]
		case "max":
			title = "wakeup latency, longest"
		}
		if beside {
			title += fmt.Sprintf(" (published: root %d, nested %d)", published[i][0], published[i][1])
		}
		list = append(list, experiment.Measure{Name: name + "_ns", Title: title, Assume: stats.Normal})
	}
	return append(list, experiment.Measure{Name: "late_ppm", Title: "wakeups of 1 ms and more", Assume: stats.Normal},
		experiment.Measure{Name: "wakeups_n", Title: "wakeups", Assume: stats.Normal}, experiment.Measure{Name: "moved_n", Title: "migrations of all tasks", Assume: stats.Normal})
}

var choiceMeasures = []experiment.Measure{
	{Name: "passes_n", Title: "passes for idle CPUs while a task waited elsewhere", Assume: stats.Normal},
	{Name: "took_n", Title: "of them: took a task", Assume: stats.Normal},
	{Name: "hot_n", Title: "chose a CPU on which one waited, and took none", Assume: stats.Normal},
	{Name: "wrong_group_n", Title: "chose no group, or one in which none waited", Assume: stats.Normal},
	{Name: "wrong_queue_n", Title: "chose a CPU on which none waited, in a group in which one did", Assume: stats.Normal},
	{Name: "misled_n", Title: "of the wrong ones: a CPU on which one waited would have been chosen, were all loads known", Assume: stats.Normal},
	{Name: "late_ppm", Title: "wakeups of 1 ms and more", Assume: stats.Normal},
	{Name: "p99_ns", Title: "wakeup latency, p99", Assume: stats.Normal},
}

// answerTails tells the p99 of all variants with their intervals.
func answerTails(c *result.Comparison) string {
	var list []string
	for i := range c.Variants {
		list = append(list, c.Variants[i].Name+" "+within(&c.Variants[i], "p99_ns"))
	}
	return fmt.Sprintf("p99: %s; p50: %s.", strings.Join(list, ", "), each(c, "p50_ns"))
}

// within is a measure of a variant with its interval.
func within(v *result.Variant, name string) string {
	ns, ok := v.Measures[name]
	if !ok {
		return "?"
	}
	if e, ok := v.Spread[name]; ok && e.High > e.Low {
		return fmt.Sprintf("%s (%s to %s)", words(ns), words(max(e.Low, 0)), words(e.High))
	}
	return words(ns)
}

// apart reports whether the intervals of a measure have nothing in common, and which variant has less.
func apart(c *result.Comparison, a, b, name string) (is, aIsLess bool) {
	x, y := variantOf(c, a), variantOf(c, b)
	if x == nil || y == nil {
		return false, false
	}
	e, f := x.Spread[name], y.Spread[name]
	return e.High < f.Low || f.High < e.Low, x.Measures[name] < y.Measures[name]
}

func answerChoices(c *result.Comparison) string {
	var list []string
	for i := range c.Variants {
		v := &c.Variants[i]
		text := v.Name + " " + wrongChoices(v)
		if n, ok := v.Measures["misled_n"]; ok {
			text += fmt.Sprintf(", misled in %d", n)
		}
		list = append(list, text)
	}
	return "Of the passes for idle CPUs while a task waited elsewhere, those that chose a group or CPU on which none did: " + strings.Join(list, "; ") + "."
}

// wrongChoices tells how many passes chose a group or a CPU in which nobody waited.
func wrongChoices(v *result.Variant) string {
	if v == nil {
		return "?"
	}
	m := v.Measures
	return fmt.Sprintf("%d of %d", m["wrong_group_n"]+m["wrong_queue_n"], m["passes_n"])
}
