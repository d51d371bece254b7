package cases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/whylate/whylate/result"
)

// claim is something that was published or follows from the mechanism, in direction and
// order: never a digit of the model's.
type claim struct {
	text  string
	holds func(*numbers) bool
	full  bool // of parts that a quick run has not
}

// longest is the longest wait of the case's task in a variant of a part, of cyclictest what it
// would print.
func longest(n *numbers, part, variant, task string) int64 {
	v := variantOf(n.parts[part], variant)
	if v == nil || !slices.ContainsFunc(v.Tasks, func(t result.Varied) bool { return strings.HasPrefix(t.Comm, task) }) {
		panic(fmt.Sprintf("no task %s in variant %s of %s", task, variant, part))
	}
	if strings.HasPrefix(task, "cyclictest") {
		return latestOf(v, task)
	}
	return maxOf(v, task)
}

func value(n *numbers, part, variant, name string) int64 {
	ns, ok := measure(n.parts[part], variant, name)
	if !ok {
		// A claim that something is short must not hold because it was not measured.
		panic(fmt.Sprintf("no %s in variant %s of %s", name, variant, part))
	}
	return ns
}

const ms = 1_000_000

var claims = map[string][]claim{
	"exit": {
		{text: "cyclictest on the CPU of the dying task waits for ms without a change, elsewhere it does not", holds: func(n *numbers) bool {
			return longest(n, "main", none, "cyclictest0") > ms && longest(n, "main", none, "cyclictest1") < ms/10 && longest(n, "main", none, "cyclictest3") < ms/10
		}},
		{text: "both changes take that away", holds: func(n *numbers) bool {
			return longest(n, "main", changeA, "cyclictest0") < longest(n, "main", none, "cyclictest0")/10 && longest(n, "main", changeB, "cyclictest0") < longest(n, "main", none, "cyclictest0")/10
		}},
		{text: "the longest wait without a change is a dying task that frees its memory, proven from the events", holds: func(n *numbers) bool {
			w := variantOf(n.parts["main"], none).Worst
			return w.Causes[0].Kind == "exit_teardown" && w.Causes[0].Verdict == "proven" && strings.HasPrefix(w.Causes[0].Comm, "victim")
		}},
		{text: "the wait grows with the memory, by about what the death takes for each MB", holds: func(n *numbers) bool {
			death, wait := value(n, "sizes", none, "death_ns_per_mb"), value(n, "sizes", none, "rt_latency_ns_per_mb")
			return death > 0 && wait > death*8/10 && wait < death*12/10 && value(n, "sizes", changeA, "rt_latency_ns_per_mb") < death/100
		}},
		{text: "on 6.1 without PREEMPT_RT a part of ms remains with change A, on 6.12 and with PREEMPT_RT it does not", holds: func(n *numbers) bool {
			at := func(v string) int64 { return value(n, "preempt-recorded", v, "rt_latency_mb256_max_ns") }
			return at("A-6.1") > ms && at("A-6.1-full") > ms && at("A") < ms && at("A-6.12") < ms
		}},
		{text: "with the costs of the recordings, waits behind 64 and 256 MB are those of the recordings within 5 %", holds: func(n *numbers) bool {
			near := func(name string, recorded int64) bool {
				ns := value(n, "recorded", none, name)
				return ns > recorded*95/100 && ns < recorded*105/100
			}
			return near("rt_latency_mb64_max_ns", 35_768_100) && near("rt_latency_mb256_max_ns", 142_341_500) && near("rt_latency_ns_per_mb", 557_000)
		}},
		{text: "a task that drops its priority itself delays nobody, a killed one cannot", holds: func(n *numbers) bool {
			return value(n, "kinds", none, "rt_latency_polite_max_ns") < ms/10 && value(n, "kinds", none, "rt_latency_killed_max_ns") > ms
		}},
		{text: "pinned or not, it delays whoever is on its CPU", holds: func(n *numbers) bool {
			return value(n, "kinds", none, "rt_latency_pinned_max_ns") > ms && value(n, "kinds", none, "rt_latency_free_max_ns") > ms
		}},
		{text: "change A forgets deadline tasks, B does not", holds: func(n *numbers) bool {
			return value(n, "kinds", changeA, "rt_latency_dl_max_ns") > ms && value(n, "kinds", changeB, "rt_latency_dl_max_ns") < ms/10
		}},
		{text: "neither change takes a core dump away, which takes longer than the exit", holds: func(n *numbers) bool {
			return value(n, "kinds", changeA, "rt_latency_core_max_ns") > value(n, "kinds", none, "rt_latency_killed_max_ns") && value(n, "kinds", changeB, "rt_latency_core_max_ns") > value(n, "kinds", none, "rt_latency_killed_max_ns")
		}},
		{text: "on an idle machine the restart takes as long as before; with real-time load it takes several times as long", holds: func(n *numbers) bool {
			idle, busy := "restart-idle", "restart-busy"
			return value(n, idle, changeA, "restart_p50_ns") < value(n, idle, none, "restart_p50_ns")*11/10 &&
				value(n, busy, changeA, "restart_p50_ns") > 2*value(n, busy, none, "restart_p50_ns") && value(n, busy, changeB, "restart_p50_ns") > 2*value(n, busy, none, "restart_p50_ns")
		}},
		{text: "who waits for a PI lock of the dying task waits longer with B, not with A, which keeps what a lock lends", holds: func(n *numbers) bool {
			return value(n, "locks-pi", changeB, "lock_p50_ns") > ms && value(n, "locks-pi", changeA, "lock_p50_ns") < ms/10
		}},
		{text: "who waits for a robust lock without priority inheritance waits longer with both", holds: func(n *numbers) bool {
			return value(n, "locks-robust", none, "lock_p50_ns") < ms/10 && value(n, "locks-robust", changeA, "lock_p50_ns") > ms && value(n, "locks-robust", changeB, "lock_p50_ns") > ms
		}},
		{text: "nothing helps against a task of a higher priority that computes", holds: func(n *numbers) bool {
			return longest(n, "isolation", changeB, "cyclictest0") > 1000*ms
		}},
	},
	"defer": {
		{text: "putting a fair task back takes hundreds of instructions, putting that off less than a tenth; few calls find a fair task, so the average is near the least", holds: func(n *numbers) bool {
			at := func(v, which string) int64 { return value(n, "main", v, "put_prev_"+which+"_instructions") }
			return at(atOnce, "max") > 500 && at("on", "max")*10 < at(atOnce, "max") && at("settle", "max")*10 < at(atOnce, "max") && at(atOnce, "avg") < at(atOnce, "min")+5 && value(n, "main", atOnce, "put_prev_fair_ppm") < 2000
		}},
		{text: "by the depth of the group, 0 to 4, the most are those that were counted in 6.1, within a tenth", holds: func(n *numbers) bool {
			for d, counted := range []int64{518, 961, 1402, 1843, 2284} {
				if got := value(n, "depth", atOnce, fmt.Sprintf("put_prev_depth%d_max_instructions", d)); got < counted*9/10 || got > counted*11/10 {
					return false
				}
			}
			return true
		}},
		{text: "without putting the time aside who is preempted pays for it, and gets less; with it charges and shares are what they were", holds: func(n *numbers) bool {
			same := func(part, name string) bool {
				d := value(n, part, "settle", name) - value(n, part, atOnce, name)
				return d > -1000 && d < 1000
			}
			return value(n, "shares", "on", "charged_asker_ppm") > 1_900_000 && value(n, "shares", "on", "ran_asker_ppm") < 350_000 &&
				same("shares", "ran_asker_ppm") && same("shares", "charged_asker_ppm") && same("timer", "ran_asker_ppm") && same("timer", "charged_hog_ppm")
		}},
		{text: "a co-kernel lets Linux pay in the same way", holds: func(n *numbers) bool {
			return value(n, "shares", "co-kernel", "ran_asker_ppm") < 350_000
		}},
		{text: "light testing shows a better average, and no better longest", holds: func(n *numbers) bool {
			return value(n, "light", "on", "latency_avg_ns") < value(n, "light", atOnce, "latency_avg_ns") && value(n, "light", "on", "latency_max_ns")*2 > value(n, "light", atOnce, "latency_max_ns")
		}},
		{text: "where the scheduler alone keeps interrupts off, the worst arrival is no better with the change: the cycles were moved, and some were added", holds: func(n *numbers) bool {
			return value(n, "worst", "on", "worst_ns") >= value(n, "worst", atOnce, "worst_ns") && value(n, "worst", "settle", "worst_ns") >= value(n, "worst", "on", "worst_ns")
		}},
		{text: "the scheduler does more in all with the change, by less than a hundredth", holds: func(n *numbers) bool {
			off, on, settle := value(n, "depth", atOnce, "scheduler_ns"), value(n, "depth", "on", "scheduler_ns"), value(n, "depth", "settle", "scheduler_ns")
			return off < on && on < settle && settle < off*101/100
		}},
		{text: "a co-kernel is better on average, and at the worst arrival by far; where the hardware takes the CPU away the longest that light testing sees is about the same", holds: func(n *numbers) bool {
			near := value(n, "hardware", "co-kernel", "latency_max_ns")*2 > value(n, "hardware", atOnce, "latency_max_ns")
			return value(n, "light", "co-kernel", "latency_avg_ns") < value(n, "light", atOnce, "latency_avg_ns") && value(n, "worst-section", "co-kernel", "worst_ns")*3 < value(n, "worst-section", atOnce, "worst_ns") && near
		}},
	},
	"cgroup": {
		{text: "one level of cgroup makes p99 several times as long, with intervals apart; the median is the same", holds: func(n *numbers) bool {
			c := n.parts["load10"]
			is, rootIsLess := apart(c, inRoot, "nested", "p99_ns")
			return is && rootIsLess && value(n, "load10", "nested", "p99_ns") > 2*value(n, "load10", inRoot, "p99_ns") &&
				abs(value(n, "load10", "nested", "p50_ns")-value(n, "load10", inRoot, "p50_ns")) < 5000
		}},
		{text: "both changes bring p99 back to that of the root, within a third", holds: func(n *numbers) bool { return broughtBack(n, "load10", "both", 4) }},
		{text: "nested the balancer of idle CPUs is misled several times as often as in the root; the changes take most of that away", holds: func(n *numbers) bool {
			at := func(v string) int64 { return value(n, "choices", v, "misled_n") }
			return at("nested") > 5*at(inRoot) && at("both") < at("nested")/4
		}},
		{text: "the longest nested wait is the turn of an equal, while CPUs idle on which the task has run before", holds: func(n *numbers) bool {
			w := variantOf(n.parts["load10"], "nested").Worst
			return w.Causes[0].Kind == "fair_turn" && slices.ContainsFunc(w.IdleElsewhere, func(e result.IdleElsewhere) bool { return e.Verdict == "proven" && e.NS > w.WaitNS/10 })
		}},
		{text: "beside every load, 5 to 30 %, nested p99 is longer than that of the root with intervals apart", full: true, holds: func(n *numbers) bool {
			for _, p := range loads {
				if is, rootIsLess := apart(n.parts[fmt.Sprintf("load%d", p)], inRoot, "nested", "p99_ns"); !is || !rootIsLess {
					return false
				}
			}
			return true
		}},
		{text: "beside every load both changes bring it back to that of the root, within a third", full: true, holds: func(n *numbers) bool {
			for _, p := range loads {
				if !broughtBack(n, fmt.Sprintf("load%d", p), "both", 4) {
					return false
				}
			}
			return true
		}},
		{text: "the first change alone does a part of it", full: true, holds: func(n *numbers) bool {
			at := func(v string) int64 { return value(n, "patches", v, "p99_ns") }
			return at("group") < at("nested") && at("group") > at("both")
		}},
		{text: "at each depth of groups it is as with one level; at depth 4 both changes take at least a third of it away, and not all", full: true, holds: func(n *numbers) bool {
			at := func(v string) int64 { return value(n, "depth", v, "p99_ns") }
			for _, v := range []string{"nested", "2", "3", "4"} {
				if at(v) < 2*at(inRoot) {
					return false
				}
			}
			return at("4-both") < at("4")*2/3
		}},
		{text: "on 6.1 and 6.12 nested p99 is that of the root, within a third", full: true, holds: func(n *numbers) bool {
			at := func(v string) int64 { return value(n, "kernels", v, "p99_ns") }
			return at("6.1-nested") < at("6.1")*4/3 && at("6.12-nested") < at("6.12")*4/3
		}},
	},
	"throttle": {
		{text: "the ladder: none at 980 ms and above and without throttling, more with each rung below", holds: func(n *numbers) bool {
			at := func(v string) int64 { return longest(n, "ladder", v, "app") }
			return at("off") < ms/10 && at("980") < ms/10 && at("970") > 2*ms && at("960") > at("970") && at("950") > at("960")
		}},
		{text: "with the larger share the windows are longer", holds: func(n *numbers) bool {
			return value(n, "ladder-fast", "960", "dark_max_ns") > value(n, "ladder", "960", "dark_max_ns")
		}},
		{text: "the windows are those of P − R/u, within two ticks", holds: func(n *numbers) bool {
			u := value(n, "ladder", "off", "rt_ppm")
			want := int64(second) - 960*ms*1_000_000/u
			return u > 960_000 && u < 990_000 && abs(value(n, "ladder", "960", "dark_max_ns")-want) <= 2*ms
		}},
		{text: "windows are those of the recordings on 6.1-rt within a tick", holds: func(n *numbers) bool {
			return abs(value(n, "recorded", "950", "dark_max_ns")-52_000_000) <= 4*ms && abs(value(n, "recorded", "960", "dark_max_ns")-44_000_000) <= 4*ms &&
				longest(n, "recorded", "off", "hi25") < ms/10
		}},
		{text: "95 of 100 ms give shorter windows than 950 of 1000", holds: func(n *numbers) bool {
			return value(n, "ladder", "95of100", "dark_max_ns")*2 < value(n, "ladder", "950", "dark_max_ns")
		}},
		{text: "on every rung that keeps the application waiting explain names throttling, and irq/14-pata as who used the budget", holds: func(n *numbers) bool {
			for _, part := range []string{"ladder", "ladder-fast"} {
				for _, v := range []string{"970", "960", "950", "95of100"} {
					if variantOf(n.parts[part], v) == nil {
						continue // not in a quick run
					}
					c := variantOf(n.parts[part], v).Worst.Causes[0]
					if c.Kind != "rt_throttled" || !strings.Contains(c.Detail, "budget used by irq/14-pata") {
						return false
					}
				}
			}
			return true
		}},
		{text: "the interrupt thread as SCHED_OTHER takes the windows away, and costs throughput only where others compute", holds: func(n *numbers) bool {
			const read = "read_bytes_per_s"
			return longest(n, "remedies", "irq-other", "app") < ms/10 && value(n, "remedies", "irq-other", read) > value(n, "remedies", "960", read)*9/10 &&
				value(n, "busy", "other", read) < value(n, "busy", "960", read)*8/10
		}},
		{text: "without threads there is no throttling, and the application hardly gets anywhere while the card is read", holds: func(n *numbers) bool {
			return longest(n, "remedies", "mainline", "app") < longest(n, "remedies", "960", "app")/2 &&
				value(n, "remedies", "mainline", "response_max_ns") > 2*value(n, "remedies", "960", "response_max_ns")
		}},
		{text: "forced threading throttles as PREEMPT_RT does", holds: func(n *numbers) bool { return longest(n, "remedies", "threadirqs", "app") > 5*ms }},
		{text: "RT_RUNTIME_SHARE takes the windows away where another CPU can lend", holds: func(n *numbers) bool {
			return longest(n, "two-cpus", "share", "app") < ms/10 && longest(n, "two-cpus", "no-share", "app") > 5*ms
		}},
		{text: "fair servers stop real-time tasks only where fair ones want the CPU, for about 50 ms, and are named", holds: func(n *numbers) bool {
			wait := longest(n, "busy", "6.12", "app")
			return longest(n, "remedies", "6.12", "app") < ms/10 && wait > 40*ms && wait < 56*ms && variantOf(n.parts["busy"], "6.12").Worst.Causes[0].Kind == "fair_server"
		}},
		{text: "the windows are longest at HZ=100", holds: func(n *numbers) bool {
			return value(n, "ticks-full", "100-low", "dark_max_ns") > value(n, "ticks-full", "1000-low", "dark_max_ns")
		}},
	},
}

// broughtBack reports whether p99 of a variant is that of the root, within thirds of it: the intervals have
// something in common, or it is at most that much longer.
func broughtBack(n *numbers, part, variant string, thirds int64) bool {
	is, rootIsLess := apart(n.parts[part], inRoot, variant, "p99_ns")
	return !is || !rootIsLess || value(n, part, variant, "p99_ns") < value(n, part, inRoot, "p99_ns")*thirds/3
}
