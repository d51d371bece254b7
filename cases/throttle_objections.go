package cases

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/result"
)

var throttleObjections = []objection{
	{text: "What does a trace alone tell?", parts: []string{"ladder"},
		answer: func(n *numbers) string {
			v := variantOf(n.parts["ladder"], "960")
			if v == nil || v.Worst == nil {
				return ""
			}
			return told(v.Worst)
		}},
	{text: "What granularity does the throttler have? The setting is in µs.", parts: []string{"ticks-full"},
		answer: func(n *numbers) string {
			return fmt.Sprintf("That of the tick, and of the moments at which a real-time task goes to sleep: only then is the budget looked at, and what was used beyond it is owed to the next period. Where the interrupt thread never sleeps, the longest window of 960 ms in 1 s, 40 ms by the setting, is: %s.", each(n.parts["ticks-full"], "dark_max_ns"))
		}},
	{text: "Does it matter that the machine has no high-resolution timers?", parts: []string{"ticks-full", "ladder"},
		answer: func(n *numbers) string {
			c := n.parts["ticks-full"]
			return fmt.Sprintf("Hardly for the windows: at HZ=1000 the longest is %s without and %s with them. Every timer of the application waits for a tick without them: with throttling off it is up to %s late.",
				measured(c, "1000-low", "dark_max_ns"), measured(c, "1000-high", "dark_max_ns"), words(latestOf(variantOf(n.parts["ladder"], "off"), "app")))
		}},
	{text: "What do NO_HZ and HZ change?", parts: []string{"ticks-full"},
		answer: func(n *numbers) string {
			c := n.parts["ticks-full"]
			text := fmt.Sprintf("HZ: the longest window is %s at 100 and %s at 1000, without high-resolution timers.", measured(c, "100-low", "dark_max_ns"), measured(c, "1000-low", "dark_max_ns"))
			return text + fmt.Sprintf(" NO_HZ stops the tick of an idle CPU only, and the CPU is not idle while the card is read: %s with it, %s without.", measured(c, "1000-low", "dark_max_ns"), measured(c, "1000-low-nohz-off", "dark_max_ns"))
		}},
	{text: "Remedy: throttling off, or a runtime of the whole period.", parts: []string{"ladder"},
		answer: func(n *numbers) string {
			c := n.parts["ladder"]
			return fmt.Sprintf("Longest wait of the application: off %s, 960 ms %s. Nothing then keeps a real-time task from taking the machine for good.", words(maxOf(variantOf(c, "off"), "app")), words(maxOf(variantOf(c, "960"), "app")))
		}},
	{text: "Remedy: a finer grain, 95 ms of 100 ms instead of 950 ms of 1 s.", parts: []string{"ladder"},
		answer: func(n *numbers) string {
			c := n.parts["ladder"]
			fine, coarse := variantOf(c, "95of100"), variantOf(c, "950")
			return fmt.Sprintf("The same share, and windows of %s instead of %s, at the price of %d of them instead of %d in a run: the application's longest wait is %s instead of %s.",
				words(fine.Measures["dark_max_ns"]), words(coarse.Measures["dark_max_ns"]), fine.Measures["dark_n"], coarse.Measures["dark_n"], words(maxOf(fine, "app")), words(maxOf(coarse, "app")))
		}},
	{text: "Remedy: the interrupt thread as SCHED_OTHER. What does the disk lose?", parts: []string{"remedies", "busy"},
		answer: func(n *numbers) string {
			a, b := n.parts["remedies"], n.parts["busy"]
			return fmt.Sprintf("The application waits at most %s instead of %s. On an otherwise idle machine the card is read with %s instead of %s; while an ordinary task computes, with %s instead of %s.",
				words(maxOf(variantOf(a, "irq-other"), "app")), words(maxOf(variantOf(a, "960"), "app")),
				readSpeed(a, "irq-other"), readSpeed(a, "960"), readSpeed(b, "other"), readSpeed(b, "960"))
		}},
	{text: "Without threaded interrupts the machine would stall in hard-interrupt context, with no throttling.", parts: []string{"remedies"},
		answer: func(n *numbers) string {
			c := n.parts["remedies"]
			v, f := variantOf(c, "mainline"), variantOf(c, "threadirqs")
			return fmt.Sprintf("Yes: the application's 1 ms of work is done up to %s after it was due, and %s misses its period. With forced threading the interrupt thread is throttled as on PREEMPT_RT: longest wait %s.",
				words(v.Measures["response_max_ns"]), percent(v.Measures["missed_ppm"]), words(maxOf(f, "app")))
		}},
	{text: "And with more than one CPU? RT_RUNTIME_SHARE lets a CPU borrow what others do not use.", parts: []string{"two-cpus"},
		answer: func(n *numbers) string {
			text := "Where the second CPU has runtime to lend: " + lower(answerShare(n.parts["two-cpus"]))
			if c := n.parts["two-busy-cpus"]; c != nil {
				text += " Where its real-time tasks use 93 % of it: " + lower(answerShare(c))
			}
			return text + " The belt is off then for as long as somebody lends; it was on by default up to 5.9."
		}},
	{text: "Do kernels with fair servers (6.12) do better?", parts: []string{"remedies", "busy"},
		answer: func(n *numbers) string {
			a, b := n.parts["remedies"], n.parts["busy"]
			text := fmt.Sprintf("Where no ordinary task wants the CPU real-time tasks are never stopped: longest wait %s. Where one does, the server takes its 50 ms of each second: %s", words(maxOf(variantOf(a, "6.12"), "app")), words(maxOf(variantOf(b, "6.12"), "app")))
			if v := variantOf(b, "6.12-off"); v != nil {
				text += fmt.Sprintf(", also with sched_rt_runtime_us=-1 (%s)", words(maxOf(v, "app")))
			}
			return text + ". An idle CPU is never kept idle."
		}},
}

// told is what explain says of a wait: its causes in words.
func told(w *result.Worst) string {
	var list []string
	for i := range w.Causes {
		c := &w.Causes[i]
		if c.NS*20 < w.LatenessNS {
			continue
		}
		text := fmt.Sprintf("%s %s", words(c.NS), strings.ReplaceAll(c.Kind, "_", " "))
		if c.Detail != "" {
			text += ": " + c.Detail
		}
		list = append(list, text+" ("+c.Verdict+")")
	}
	return fmt.Sprintf("%s waited from %d.%06d s to %d.%06d s: %s.", w.Comm, w.WokenNS/second, w.WokenNS%second/1000,
		(w.WokenNS+w.WaitNS)/second, (w.WokenNS+w.WaitNS)%second/1000, strings.Join(list, "; "))
}

func readSpeed(c *result.Comparison, variant string) string {
	n, ok := measure(c, variant, "read_bytes_per_s")
	if !ok {
		return "?"
	}
	return speed(n)
}

func lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
