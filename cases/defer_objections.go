package cases

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/result"
)

var deferObjections = []objection{
	{text: "What does the call cost, and how often?", parts: []string{"main", "depth"},
		answer: func(n *numbers) string {
			v := variantOf(n.parts["main"], atOnce).Measures
			return fmt.Sprintf("In the mix %d instructions at least, %d on average, %d at most (published: 9, 11, 1114 to 1122, which contain reading the counters). The average lies so near to the least because only %s of the calls put back a fair task. At depth 0 to 4 of groups it is at most %s.",
				v["put_prev_min_instructions"], v["put_prev_avg_instructions"], v["put_prev_max_instructions"], hundredths(v["put_prev_fair_ppm"]), depths(n, atOnce))
		}},
	{text: "It donates the execution time of the real-time task to the fair task.", parts: []string{"shares", "timer"},
		answer: func(n *numbers) string {
			a, b := n.parts["shares"], n.parts["timer"]
			return fmt.Sprintf("Yes: a task that hands 1 ms of work to a real-time task after each 1 ms of its own is charged %s of what it ran and gets %s of what ordinary tasks have instead of %s. Where the real-time task comes by a timer it hits everybody, and shares go to %s and %s.",
				of(a, "on", "charged_asker_ppm"), of(a, "on", "ran_asker_ppm"), of(a, atOnce, "ran_asker_ppm"), of(b, "on", "ran_asker_ppm"), of(b, "on", "ran_hog_ppm"))
		}},
	{text: "Unless the time is put aside?", parts: []string{"shares", "timer"},
		answer: func(n *numbers) string {
			a, b := n.parts["shares"], n.parts["timer"]
			return fmt.Sprintf("Then the shares are what they were: %s instead of %s, and with the timer %s instead of %s. That costs moving exec_start at every level.",
				of(a, "settle", "ran_asker_ppm"), of(a, atOnce, "ran_asker_ppm"), of(b, "settle", "ran_asker_ppm"), of(b, atOnce, "ran_asker_ppm"))
		}},
	{text: "It only moves cycles from one fast path to another: what if a real-time task arrives while the moved cycles execute?", parts: []string{"worst", "worst-section"},
		answer: func(n *numbers) string {
			a, b := n.parts["worst"], n.parts["worst-section"]
			return fmt.Sprintf("Then it waits for them. The worst case over all arrivals %s: %s, where the scheduler alone keeps interrupts off: the longest such section is the choice of a fair task, and that grows by what the way of the real-time task loses, and by what is added. "+
				"It gains something only where a longer section is elsewhere, which does not grow: with sections of 20 µs in system calls the worst case %s: %s.", improved(a, "worst_ns"), each(a, "worst_ns"), improved(b, "worst_ns"), each(b, "worst_ns"))
		}},
	{text: "It adds some cycles.", parts: []string{"depth"},
		answer: func(n *numbers) string {
			c := n.parts["depth"]
			a, b, s := value0(variantOf(c, atOnce), "scheduler_ns"), value0(variantOf(c, "on"), "scheduler_ns"), value0(variantOf(c, "settle"), "scheduler_ns")
			return fmt.Sprintf("The scheduler's work with groups of depth 0 to 4: %s; %s more where the time is not put aside, %s more where it is.", each(c, "scheduler_ns"), hundredths((b-a)*1_000_000/max(a, 1)), hundredths((s-a)*1_000_000/max(a, 1)))
		}},
	{text: "Determinism improves only when the cycles become invariant, best invariantly zero.", parts: []string{"main", "worst"},
		answer: func(n *numbers) string {
			a, b := variantOf(n.parts["main"], atOnce).Measures, variantOf(n.parts["main"], "on").Measures
			c := n.parts["worst"]
			return fmt.Sprintf("In front of the real-time task they become nearly that: %d to %d instructions instead of %d to %d. Between the usual arrival and the worst there are %s without the change and %s with it.",
				b["put_prev_min_instructions"], b["put_prev_max_instructions"], a["put_prev_min_instructions"], a["put_prev_max_instructions"],
				words(value0(variantOf(c, atOnce), "worst_ns")-value0(variantOf(c, atOnce), "usual_ns")), words(value0(variantOf(c, "on"), "worst_ns")-value0(variantOf(c, "on"), "usual_ns")))
		}},
	{text: "A co-kernel improves the average a lot, but in light testing its worst case was about the same.", parts: []string{"light", "hardware", "worst", "worst-section"},
		answer: func(n *numbers) string {
			a, h, w, s := n.parts["light"], n.parts["hardware"], n.parts["worst"], n.parts["worst-section"]
			return fmt.Sprintf("Average in light testing: %s; longest seen: %s. Over all arrivals: %s, and with sections of 20 µs: %s: what a co-kernel cannot interrupt is its own change of sides, not Linux. "+
				"Where the hardware takes the CPU away for up to 25 µs the longest seen are %s: no kernel helps there, and light testing sees that, or the cold caches that are not in the model, rather than the rare long section of Linux. Linux pays with its fairness as with the change: it does not know of the time.",
				each(a, "latency_avg_ns"), each(a, "latency_max_ns"), each(w, "worst_ns"), each(s, "worst_ns"), each(h, "latency_max_ns"))
		}},
	{text: "It is ugly.", parts: []string{"main"},
		answer: func(*numbers) string {
			return "In the model eight places outside of its own file have to know of a task that is current and does not run: two choices, charging, leaving a queue, two ways to balance, becoming current without a choice, and the fair server, which may lose its runtime by the settling. The last two were found by random tests only, and a ninth, the place that a recorded task is given, concerns replays alone."
		}},
}

// depths lists the most instructions by depth.
func depths(n *numbers, variant string) string {
	v := variantOf(n.parts["depth"], variant)
	text := ""
	for d := range 5 {
		if d > 0 {
			text += ", "
		}
		text += fmt.Sprint(value0(v, fmt.Sprintf("put_prev_depth%d_max_instructions", d)))
	}
	return text
}

// improved says whether a time is shorter than without the change: with it, with the time put aside, and
// with a co-kernel.
func improved(c *result.Comparison, name string) string {
	var list []string
	for _, v := range [...]struct{ variant, words string }{{"on", "with the change"}, {"settle", "with the time put aside"}, {"co-kernel", "with a co-kernel"}} {
		before, _ := measure(c, atOnce, name)
		after, ok := measure(c, v.variant, name)
		switch {
		case !ok:
		case after < before:
			list = append(list, words(before-after)+" better "+v.words)
		case after > before:
			list = append(list, words(after-before)+" worse "+v.words)
		default:
			list = append(list, "no better "+v.words)
		}
	}
	return "is " + strings.Join(list, ", ")
}

// of is a share of a variant in words.
func of(c *result.Comparison, variant, name string) string {
	return hundredths(value0(variantOf(c, variant), name))
}

func value0(v *result.Variant, name string) int64 {
	if v == nil {
		return 0
	}
	return v.Measures[name]
}
