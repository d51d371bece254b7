package cases

import (
	"fmt"
	"strings"
)

var cgroupObjections = []objection{
	{text: "What does a trace alone tell?", parts: []string{"load10"},
		answer: func(n *numbers) string {
			v := variantOf(n.parts["load10"], "nested")
			if v == nil || v.Worst == nil {
				return ""
			}
			return told(v.Worst) + " " + n.told["load10"] + " That the CPUs idled is in the events; what the balancer chose is what the model knows beside them."
		}},
	{text: "Is it the cgroup, or the load that happens to be there?", parts: []string{"load5", "load10", "load15", "load20", "load30"},
		answer: func(n *numbers) string {
			return "p99 in the root and one level down: " + atEachLoad(n, func(id string) string {
				c := n.parts[id]
				return fmt.Sprintf("%s and %s (%s)", within(variantOf(c, inRoot), "p99_ns"), within(variantOf(c, "nested"), "p99_ns"), howFar(n, id, inRoot, "nested", "p99_ns"))
			}) + "."
		}},
	{text: "Do the two changes bring it back?", parts: []string{"load5", "load10", "load15", "load20", "load30"},
		answer: func(n *numbers) string {
			return "p99 one level down with both, against the root: " + atEachLoad(n, func(id string) string {
				return fmt.Sprintf("%s (%s)", within(variantOf(n.parts[id], "both"), "p99_ns"), howFar(n, id, inRoot, "both", "p99_ns"))
			}) + "."
		}},
	{text: "Which of the two does it? The first corrects how load goes up from a group's queue to its entity, the second lets every queue have the sum of what is below it at once.", parts: []string{"patches"},
		answer: func(n *numbers) string {
			c := n.parts["patches"]
			return fmt.Sprintf("p99 one level down: without %s, with the first alone %s, with the second alone %s, with both %s. The second takes in most of what the first corrects, so with it the first adds little.",
				within(variantOf(c, "nested"), "p99_ns"), within(variantOf(c, "group"), "p99_ns"), within(variantOf(c, "runnable"), "p99_ns"), within(variantOf(c, "both"), "p99_ns"))
		}},
	{text: "Do they change anything for who has no cgroups?", parts: []string{"patches"},
		answer: func(n *numbers) string {
			c := n.parts["patches"]
			return fmt.Sprintf("p99 in the root: %s without, %s with them.", within(variantOf(c, inRoot), "p99_ns"), within(variantOf(c, "root-both"), "p99_ns"))
		}},
	{text: "Is it really that the balancer looks at the wrong CPU?", parts: []string{"choices"},
		answer: func(n *numbers) string { return answerChoices(n.parts["choices"]) }},
	{text: "Deeper groups?", parts: []string{"depth"},
		answer: func(n *numbers) string {
			c := n.parts["depth"]
			var list []string
			for i, v := range []string{inRoot, "nested", "2", "3", "4"} {
				list = append(list, fmt.Sprintf("%d: %s", i, within(variantOf(c, v), "p99_ns")))
			}
			return fmt.Sprintf("p99 by depth, %s; with both changes at depth 2 %s, at depth 4 %s: at each level the shares of a group are divided among the CPUs by what is queued there, so what a second task adds to its CPU at the root becomes less with every level.", strings.Join(list, ", "), within(variantOf(c, "2-both"), "p99_ns"), within(variantOf(c, "4-both"), "p99_ns"))
		}},
	{text: "Does it depend on the weight of the group, or on HZ?", parts: []string{"settings"},
		answer: func(n *numbers) string {
			c := n.parts["settings"]
			at := func(v string) string { return within(variantOf(c, v), "p99_ns") }
			return fmt.Sprintf("p99 one level down with the greatest weight %s, with that of cgroup v1 %s, with the usual weight of 100 %s, and with that and both changes %s. With the usual weight all of the group weighs as one task at the root, whatever runs in it, and a CPU with a part of that hardly looks busy, however true it is. At HZ=1000: root %s, nested %s, both %s.",
				at("nested"), at("nested-shares"), at("nested-100"), at("both-100"), at("root-1000"), at("nested-1000"), at("both-1000"))
		}},
	{text: "Later kernels balance by other metrics. Is it gone there?", parts: []string{"kernels"},
		answer: func(n *numbers) string {
			c := n.parts["kernels"]
			return fmt.Sprintf("p99 in the root and one level down: 4.11 %s and %s, 6.1 %s and %s, 6.12 %s and %s.", within(variantOf(c, inRoot), "p99_ns"), within(variantOf(c, "nested"), "p99_ns"),
				within(variantOf(c, "6.1"), "p99_ns"), within(variantOf(c, "6.1-nested"), "p99_ns"), within(variantOf(c, "6.12"), "p99_ns"), within(variantOf(c, "6.12-nested"), "p99_ns"))
		}},
}

// atEachLoad lists what is said of each load.
func atEachLoad(n *numbers, say func(id string) string) string {
	var list []string
	for _, p := range loads {
		if id := fmt.Sprintf("load%d", p); n.parts[id] != nil {
			list = append(list, fmt.Sprintf("beside %d %% %s", p, say(id)))
		}
	}
	return strings.Join(list, ", ")
}

// howFar says how a measure of two variants compares, by their intervals.
func howFar(n *numbers, part, a, b, name string) string {
	c := n.parts[part]
	x, _ := measure(c, a, name)
	y, _ := measure(c, b, name)
	switch is, aIsLess := apart(c, a, b, name); {
	case !is:
		return "the intervals overlap"
	case aIsLess:
		return times(x, y) + " as much, intervals apart"
	}
	return "less, intervals apart"
}
