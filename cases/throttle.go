package cases

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/stats"
)

// readBytes is what dd reads at once in all files.
const readBytes = 6 << 20

// The case was discussed on one machine only. Its unknowns are the card's speed and the share
// of the CPU that reading takes; the second decides everything, and the published ladder gives
// it (two values: the usual and the worst). All parts take their numbers from the same card.

// The rungs of the ladder: sched_rt_runtime_us in ms of 1 s, and 95 ms of 100 ms.
var ladder = []string{"off", "1000", "980", "970", asIs, "950", "95of100"}

// quickTime is how much of it a quick run does.
const quickTime event.Time = 60 * second

var throttleCase = &Case{
	Name:  "throttle",
	Title: "the safety belt stops the good task",
	Question: "All threads of an application have a higher real-time priority than the disk controller's interrupt thread, and yet reading 6 MB " +
		"blocks the application for many ms. Why, and which remedy costs what?",
	Symptom:  "2012, one CPU of 500 MHz, 3.4.15-rt24, HZ=1000, no high-resolution timers: sched_rt_runtime_us 1000000: no delay, 980000: negligible, 970000: 4 ms, 960000: 15 ms (24 at worst).",
	conclude: concludeThrottle,
	parts: []part{
		reading("ladder", "ladder.json", "", ladder, []string{"off", "980", "970", asIs, "950", "95of100"}, 4, answerLadder),
		reading("ladder-fast", "ladder-fast.json", "The same with a card that answers faster, so that real-time tasks use a larger share of the CPU?", ladder, []string{"off", "970", asIs}, 2, answerLadder),
		{id: "recorded", file: "recorded.json", question: "Does the model agree with recordings on 6.1-rt, where a task at SCHED_FIFO 22 spins?",
			variants: []string{asIs, "960", "off"}, name: "950", seeds: 2, quickSeeds: 2, tasks: []string{"hi25*"},
			measures: throttleMeasures[:2], watch: watchReads(readBytes), answer: answerRecordedWindows},
		reading("remedies", "ladder.json", "Interrupt thread as SCHED_OTHER; no PREEMPT_RT, without and with forced interrupt threads; a kernel with fair servers?",
			[]string{asIs, "irq-other", "mainline", "threadirqs", "6.12"}, nil, 2, answerRemedies),
		reading("busy", "busy.json", "The same while an ordinary task computes all the time?",
			[]string{asIs, "other", "off", "6.12", "6.12-off", "6.12-other"}, []string{asIs, "other", "6.12"}, 2, answerRemedies),
		reading("ticks", "ladder.json", "What do HZ, high-resolution timers and NO_HZ change, with that card?",
			[]string{"100-low", "1000-low", "1000-high", "1000-low-nohz-off"}, nil, 0, answerTicks),
		reading("ticks-full", "ladder-full.json", "And with a card that uses all of the CPU, so that the interrupt thread never sleeps?",
			[]string{"100-low", "100-high", "250-low", "250-high", "1000-low", "1000-high", "1000-low-nohz-off", "1000-high-nohz-off"}, []string{"100-low", "1000-low", "1000-high", "1000-low-nohz-off"}, 2, answerTicks),
		reading("two-cpus", "two-cpus.json", "What does RT_RUNTIME_SHARE do where a second CPU has runtime to lend?", []string{"no-share", "share"}, nil, 2, answerShare),
		reading("two-busy-cpus", "two-busy-cpus.json", "And where the real-time tasks of the second CPU use 93 % of it?", []string{"no-share", "share"}, nil, 0, answerShare),
	},
	objections: throttleObjections,
	limits: []string{
		"The card is a model: 4 KiB with each interrupt, 1.25 to 1.35 ms of copying in the handler, and a fixed time until the next interrupt, chosen so that real-time tasks use the shares 0.974 and 0.984 of the CPU that were read off the published ladder. What the windows come out as is not fitted.",
		"The costs of the 500 MHz machine are round figures, a few times those of a server.",
		"3.4-rt is an unverified profile: no trace of it was compared with the model. RT throttling was, on 6.1-rt.",
		"An emulated disk in PIO mode was recorded on 6.1-rt: irq/14-ata_piix used 57 of 60 ms, and the wait behind that was 30 ms, as P − R/u says of its u = 0.857. That disk lets the CPU wait at times, which the card here never does; docs/fidelity.md says where the model misses it.",
		"Throttling is at most likely in traces of 3.4: that kernel tells no run time of real-time tasks (sched_stat_runtime), by which later ones prove it.",
		"The application runs every 97 ms instead of 100 ms, so that it meets every phase of the throttling period; the longest wait of one fixed phase would be a matter of luck.",
		"Without high-resolution timers every sleep ends at a tick: what was due between two ticks waits up to one more, in every variant, and that is no matter of throttling.",
	},
}

// reading is a part in which dd reads. quick is the list of a quick run, nil: the same.
func reading(id, file, question string, variants, quick []string, quickSeeds int, answer func(*result.Comparison) string) part {
	return part{id: id, file: file, question: question, variants: variants, quick: quick, name: "960", seeds: 4, quickSeeds: quickSeeds, duration: quickTime,
		tasks: []string{"app*"}, measures: throttleMeasures, watch: watchReads(readBytes), answer: answer}
}

var throttleMeasures = []experiment.Measure{
	lengths("dark", "window: a real-time task could run and none did", "max"),
	{Name: "dark_n", Title: "windows of 0.5 ms or more"},
	lengths("response", "the application, from due to done", "max"),
	{Name: "missed_ppm", Title: "its rounds that were over too late", Assume: stats.Normal},
	{Name: "rt_ppm", Title: "CPU of real-time tasks while reading", Assume: stats.Normal},
	{Name: "read_bytes_per_s", Title: "reading", Assume: stats.Normal},
}

const rtPeriodNS = second

// answerLadder says what came out beside what the window formula gives: the budget R is used
// up after R/u, and the rest of the period is dark.
func answerLadder(c *result.Comparison) string {
	u, ok := measure(c, "off", "rt_ppm")
	if !ok || u <= 0 {
		return ""
	}
	text := fmt.Sprintf("While the card is read, real-time tasks use %s of the CPU. Longest wait of the application, longest window without real-time tasks, and window by P − R/u:", share(u))
	var list []string
	for i := range c.Variants {
		v := &c.Variants[i]
		ms := int64(0)
		if _, err := fmt.Sscanf(v.Name, "%d", &ms); err != nil || v.Name == "95of100" {
			list = append(list, fmt.Sprintf(" %s: %s, %s", v.Name, words(maxOf(v, "app")), words(v.Measures["dark_max_ns"])))
			continue
		}
		window := max(0, rtPeriodNS-ms*1_000_000*1_000_000/u)
		list = append(list, fmt.Sprintf(" %s ms: %s, %s, %s", v.Name, words(maxOf(v, "app")), words(v.Measures["dark_max_ns"]), words(window)))
	}
	return text + strings.Join(list, ";") + "."
}

// answerRecordedWindows stands beside the true answers of throttle950000, throttle960000-hog
// and throttle-off.
func answerRecordedWindows(c *result.Comparison) string {
	return fmt.Sprintf("Longest window: %s (recorded, one window each: 52.0 ms at 950, 44.0 ms at 960, none with throttling off); a tick is 4 ms.", each(c, "dark_max_ns"))
}

// share prints millionths as a number with three decimals: 0.974.
func share(ppm int64) string { return fmt.Sprintf("%d.%03d", ppm/1_000_000, ppm%1_000_000/1000) }

func answerRemedies(c *result.Comparison) string {
	var list []string
	for i := range c.Variants {
		v := &c.Variants[i]
		list = append(list, fmt.Sprintf("%s: longest wait %s, %s late, reads %s", v.Name, words(maxOf(v, "app")), percent(v.Measures["missed_ppm"]), speed(v.Measures["read_bytes_per_s"])))
	}
	return strings.Join(list, "; ") + "."
}

// percent prints millionths; "no round" where there is none.
func percent(ppm int64) string {
	if ppm == 0 {
		return "no round"
	}
	return fmt.Sprintf("%d.%d %% of the rounds", ppm/10_000, ppm%10_000/1000)
}

func speed(bytesPerSecond int64) string {
	return fmt.Sprintf("%d.%02d MB/s", bytesPerSecond/1_000_000, bytesPerSecond%1_000_000/10_000)
}

func answerTicks(c *result.Comparison) string {
	return fmt.Sprintf("Longest window without real-time tasks: %s. Longest wait of the application: %s.", each(c, "dark_max_ns"), maxima(c, "app"))
}

func answerShare(c *result.Comparison) string {
	return fmt.Sprintf("Longest wait of the application: %s; times without real-time tasks on its CPU in a run: %s.", maxima(c, "app"), counts(c, "dark_n"))
}

// counts lists a measure that is a number in all variants.
func counts(c *result.Comparison, name string) string {
	var list []string
	for i := range c.Variants {
		list = append(list, fmt.Sprintf("%s %d", c.Variants[i].Name, c.Variants[i].Measures[name]))
	}
	return strings.Join(list, ", ")
}
