package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// The words for what explains a miss, and for why a decision was not counted.
const (
	reasonLoads    = "loads_inferred"
	reasonFair     = "fair_state_inferred"
	reasonDeadline = "deadline_inferred"
	reasonPolicy   = "policy_unknown"
	reasonStamps   = "stamps_between_cpus"
	reasonTick     = "wake_and_tick_at_once"
	reasonUnseen   = "state_unseen"
	reasonBoost    = "boost_not_recorded"
	reasonNone     = "unexplained"
)

// reasonTexts say the words for people.
var reasonTexts = map[string]string{
	reasonLoads:    "loads of CPUs and tasks, by which they are placed and balanced, are followed from 0 and from stamps",
	reasonFair:     "where a fair task stood when the trace began is inferred",
	reasonDeadline: "the parameters of a deadline task are inferred",
	reasonPolicy:   "whether the task is SCHED_FIFO or SCHED_RR is not recorded",
	reasonStamps:   "it was woken from another CPU at almost the same time; the stamps of two CPUs need not be in the order of what happened",
	reasonTick:     "a wake and a tick came within a microsecond",
	reasonUnseen:   "what the task was before, the trace does not show",
	reasonBoost:    "sched_pi_setprio is not recorded, so a priority that a lock lends is not seen",
	reasonNone:     "nothing explains it",
}

// ReasonText says a word of DecisionRow.Why or Miss.Reason for people; the word itself where
// there is no more to say.
func ReasonText(word string) string {
	if text := reasonTexts[word]; text != "" {
		return text
	}
	if text := undecidedTexts[word]; text != "" {
		return text
	}
	return word
}

// undecidedTexts are the words for decisions that are not counted.
var undecidedTexts = map[string]string{
	"was_asked_before":            "the current task had been asked to leave already",
	"another_came":                "another task came before the kernel's answer showed",
	"left_by_itself":              "the current task went to sleep before the kernel's answer showed",
	"lost":                        "events are missing",
	"trace_ended":                 "the trace ends before the kernel's answer shows",
	"class_changed_unseen":        "the current task changed its class in this run, without an event",
	"priority_changed_unseen":     "the priority of the task changed while it waited, without an event",
	"wakes_not_recorded":          "tasks come to CPUs without the wake that the trace should have",
	"wake_unseen":                 "the wake of the task is not in the trace",
	"move_unseen":                 "the migration of the task is not in the trace",
	"ran_elsewhere":               "the task was seen running on another CPU",
	"order_before_the_trace":      "the tasks of one priority came into the queue before the trace began",
	"slice_before_the_trace":      "what was left of the turn of a SCHED_RR task is not known",
	"exit_moves_group":            "a dying task leaves its autogroup on some kernels, and goes behind its equals then",
	"yield_unseen":                "the task gave its turn away; without system calls that is not told from the end of one",
	"budget_before_the_trace":     "what real-time tasks had used before the first expiry of sched_rt_period_timer is not known",
	"charges_not_recorded":        "without sched_stat_runtime it is not known to the tick when a budget is used up",
	"server_before_the_trace":     "the fair server began before the trace, or its timer is not recorded",
	"deadline_parameters_unknown": "the parameters of a deadline task are not known",
	"counter_unseen":              "several CPUs were as good, and a counter of the kernel chose among them",
	"charged_meanwhile":           "to take a task from its queue charges the current one there, which is told first and makes it lose its place",
	"by_the_stopper":              "migration/N moved the task; who asked it to is not recorded",
	"changed_meanwhile":           "while the kernel looked for a CPU another one became idle or busy; which of both it saw is not recorded",
	"task_unknown":                "the task is not known",
}

// sameMoment is how near two stamps may lie for their order to mean nothing.
const (
	sameMoment event.Time = 1_000
	skewedCPUs event.Time = 5_000
)

// reasonOf looks for what explains a miss of a class in which the tasks had a part.
func (f *forcer) reasonOf(rank int, typ string, c event.CPU, tasks ...*sched.Task) string {
	if rank == sched.RankFair && (typ == Placement || typ == Balance) {
		return reasonLoads
	}
	equal := len(tasks) == 2 && tasks[0].Rank() == sched.RankRT && tasks[0].Prio() == tasks[1].Prio()
	for _, p := range tasks {
		t, ok := p.Data.(*forced)
		switch {
		case !ok:
		case rank == sched.RankDL && f.known[t.tl.PID].inferred:
			return reasonDeadline
		case t.unsure || t.unordered:
			return reasonUnseen
		case t.wokenBy != c && t.wokenAt != event.NoTime && f.now-t.wokenAt <= skewedCPUs:
			return reasonStamps
		case t.wokenAt != event.NoTime && farFrom(t.wokenAt, f.cpus[c].tickAt) <= sameMoment:
			return reasonTick
		case rank == sched.RankFair && t.fairBy == Assumed:
			return reasonFair
		case equal && !t.policySure && typ != Placement:
			return reasonPolicy
		}
	}
	if f.first.sleepingLocks && !f.first.shows(event.SchedPISetprio) {
		return reasonBoost
	}
	return reasonNone
}
