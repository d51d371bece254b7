package replay

// guess is a kind of assumption.
type guess uint8

// The guesses, in the order in which they are told.
const (
	lostEvents guess = iota
	stolenTime
	lateTimers
	preemptOff
	irqsOff
	timerGrid
	timerRelative
	timerFixed
	wakeFixed
	closedLoop
	loopAsked
	irqFixed
	wakeUnseen
	beginUnseen
	lockHolder
	boostUnknown
	classChanged
	exitLikely
	policyFIFO
	policyRR
	deadlineSeen
	cpusSeen
	fairPinned
	rtRuntime
	serverRuntime
	kernelUnknown
	settingRefused
	groupRefused
	fairInferred
	numGuesses
)

// guesses says of each what was assumed, and what would tell.
var guesses = [numGuesses]struct{ kind, text string }{
	lostEvents:     {"lost_events", "stretches in which events of a CPU are missing: it did nothing there; a larger buffer would tell"},
	stolenTime:     {"stolen", "stretches in which a CPU stood still with real-time work to do: nobody had it, in every run at the same times; the host's steal time would tell"},
	lateTimers:     {"late_timers", "stretches in which the timers of a CPU did not interrupt it although they were due, on a machine that is late with some although interrupts are on: they come as late in every run; the host's steal time would tell"},
	preemptOff:     {"preempt_off", "stretches in which a task kept its CPU from one that goes first: preemption was off for just this work; preemptirq:preempt_disable would tell"},
	irqsOff:        {"irqs_off", "stretches in which a timer's interrupt did not come: the current task had interrupts off for just this work; preemptirq:irq_disable would tell"},
	timerGrid:      {"timer_absolute", "sleeps whose timer stands on a regular grid: its time stays where it was"},
	timerRelative:  {"timer_relative", "sleeps for a time that counts from when the task goes to sleep"},
	timerFixed:     {"timer_assumed", "sleeps with a timer of which nothing tells what it counts from: its time stays where it was; timer:hrtimer_start would tell"},
	wakeFixed:      {"wake_fixed", "wakes in interrupts that left no events of their own: they come when they came"},
	closedLoop:     {"closed_loop", "interrupts of devices that always raised the next one a short, regular time after the one before was served: so they do in every run"},
	loopAsked:      {"loop_asked", "transfers of such devices that a task asked for, by its sleep until their end: they begin when it goes to sleep"},
	irqFixed:       {"irq_fixed", "interrupts of which nothing tells what their device waited for: they come when they came"},
	wakeUnseen:     {"wake_unseen", "tasks that came to a CPU from a sleep without a wake in the trace: it comes a hand-over before"},
	beginUnseen:    {"begin", "tasks that came to a CPU without a wake or a fork in the trace: they could run from its beginning on"},
	lockHolder:     {"lock_held", "locks that made somebody wait: the holder had taken it when it last woke"},
	boostUnknown:   {"boost_unknown", "priorities that were lent although no lock that made somebody wait explains it: what woke the waiter counts"},
	classChanged:   {"class_changed", "changes of a task's own priority: where sched_stat_runtime shows a charge of its own, else when its run began where that raised it, when it ended where that lowered it; raw_syscalls:sys_enter would tell"},
	exitLikely:     {"exit_likely", "exits whose beginning is likely that of the last run, or after the usual work of a periodic task; raw_syscalls:sys_enter would tell"},
	policyFIFO:     {"policy_fifo", "real-time tasks of which nothing tells whether they are SCHED_FIFO or SCHED_RR: SCHED_FIFO; a snapshot of the machine would tell"},
	policyRR:       {"policy_rr", "real-time tasks that made way for an equal: SCHED_RR; a snapshot of the machine would tell"},
	deadlineSeen:   {"deadline_seen", "deadline tasks whose period and runtime are those that their runs show; a snapshot of the machine would tell"},
	cpusSeen:       {"cpus_seen", "tasks that may use the CPU on which they ran, if it was only one, else all of them; a snapshot of the machine would tell"},
	fairPinned:     {"fair_pinned", "fair tasks, which run where they were seen: their placement and balancing are not modelled"},
	rtRuntime:      {"rt_runtime", "sched_rt_runtime_us and sched_rt_period_us as real-time tasks were throttled, or were not; a snapshot of the machine would tell"},
	serverRuntime:  {"fair_server", "the runtime of the fair servers as they kept real-time tasks away; a snapshot of the machine would tell"},
	fairInferred:   {"fair_inferred", "fair tasks whose virtual run time no snapshot tells: it is what their first sched_stat_runtime shows, else the average of their queue, and then what the kernel's choices prove"},
	groupRefused:   {"group_refused", "control groups with a weight or a quota that the model's kernel does not take: they have the usual"},
	settingRefused: {"setting_refused", "settings of the snapshot that the model's kernel does not take: it has its own"},
	kernelUnknown:  {"kernel", "the kernel is none that the model knows, or not known: the one most like it is taken"},
}

// assumptions counts guesses.
type assumptions [numGuesses]int64

func (a *assumptions) add(g guess) { a[g]++ }

// list returns those that were made.
func (a *assumptions) list() (out []Assumption) {
	for g, n := range a {
		if n > 0 {
			out = append(out, Assumption{Kind: guesses[g].kind, Count: n, Text: guesses[g].text})
		}
	}
	return out
}
