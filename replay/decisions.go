package replay

import "github.com/whylate/whylate/event"

// Decisions is how the model decided where a recorded kernel decided: Force makes it.
type Decisions struct {
	// Rows are in the order of the classes (dl, rt, fair), then of the types; a row that
	// nothing was counted in is left out.
	Rows []DecisionRow
	// Misses are in order of time, at most MostMisses. Missed is how many there were.
	Misses  []Miss
	Missed  int64
	Assumed []Assumption
}

// MostMisses bounds the misses of a Decisions that are told one by one, of each class: fair
// tasks must not crowd out the others.
const MostMisses = 200

// The types of decisions, as docs/definitions.md defines them.
const (
	Pick      = "pick"      // at a sched_switch: which task of the winning class
	ClassPick = "class"     // at a sched_switch: which class, where it is not the first one
	Preempt   = "preempt"   // at a wakeup or tick: has the current task to go, or not
	Placement = "placement" // at a wakeup or fork: the CPU
	Balance   = "balance"   // at a migration of a waiting task: from where, to where
)

// DecisionRow counts the decisions of one class and type.
type DecisionRow struct {
	Class string // dl, rt or fair
	Type  string // Pick, …
	// N decisions were counted. The model agreed in Agree of them, the baseline that stands
	// beside the type in docs/definitions.md in Baseline.
	N, Agree, Baseline int64
	// Undecided are decisions that the trace does not tell, or where it does not tell enough
	// of what they rest on. They are not in N. Why has the reasons.
	Undecided int64
	Why       []Reason
}

// Reason is why something was not counted, or why the model decided otherwise: a stable word
// and how often.
type Reason struct {
	Word  string
	Count int64
}

// Miss is one decision of which the model thought otherwise.
type Miss struct {
	At    event.Time
	CPU   event.CPU
	Class string
	Type  string
	// Recorded and Model are what was chosen: a task (Pick), a class, whether the current
	// task had to go (Preempt), a CPU, a task with two CPUs (Balance).
	Recorded, Model Choice
	// Candidates are the tasks that could have been picked, in the model's order.
	Candidates []DecisionCandidate
	// Reason is a stable word for what explains it, "unexplained" if nothing does; Text says
	// it for people.
	Reason, Text string
}

// Choice is the outcome of a decision; what a type does not choose is absent.
type Choice struct {
	PID     event.PID
	Comm    event.Name
	Class   string
	Preempt bool
	CPU     event.CPU // to where
	From    event.CPU
}

// DecisionCandidate is a task that could have been picked, with what its class goes by.
type DecisionCandidate struct {
	PID     event.PID
	Comm    event.Name
	KeyName string // deadline_ns, prio, vruntime
	Key     int64
}
