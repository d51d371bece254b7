package cause

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// Verdict says how sure a cause is.
type Verdict uint8

// The verdicts, from the weakest to the strongest.
const (
	Unknown Verdict = iota
	Likely
	Proven
)

// String is the word of the JSON.
func (v Verdict) String() string { return [...]string{"unknown", "likely", "proven"}[v] }

// Kind is one kind of cause.
type Kind struct {
	Name  string // as in the JSON
	Title string // in words, for a table
	// Needs has the events without which the verdict cannot be proven.
	Needs []event.Kind
	// Best is the strongest verdict that events alone allow.
	Best Verdict
	// Snapshot, where set, says what the machine's snapshot allows beside the events.
	Snapshot func(*sysinfo.Snapshot) Verdict
	// On, where set, says whether kernels with the given facts can do this at all.
	On func(kernel.Facts) kernel.Answer
}

// Kinds lists every kind once, in the order in which they are asked.
func Kinds() []*Kind {
	kinds := []*Kind{}
	for _, q := range questions {
		kinds = append(kinds, q.kind)
	}
	return append(kinds[1:len(kinds):len(kinds)], &lateWakeup)
}

// question asks whether a kind explains a piece; false: it does not hold.
type question struct {
	kind *Kind
	ask  func(*piece) (Interval, bool)
}

// questions has the order of the definitions: gap, hard interrupt, softirq, state of the
// runqueue, what the current task is, idle. The last one always answers.
var questions = []question{
	{&unknown, matchGap},
	{&irq, matchIRQ},
	{&softirq, matchSoftirq},
	{&rtThrottled, matchRTThrottled},
	{&fairServer, matchFairServer},
	{&dlThrottled, matchDLThrottled},
	{&cfsQuota, matchCFSQuota},
	{&switchKind, matchSwitch},
	{&exitTeardown, matchExitTeardown},
	{&piBoosted, matchPIBoosted},
	{&preemptOff, matchPreemptOff},
	{&higherPrio, matchHigherPrio},
	{&samePrio, matchSamePrio},
	{&fairTurn, matchFairTurn},
	{&idleExit, matchIdleExit},
	{&unknown, matchUnknown},
}

// Interval is one cause: a stretch of a wait, or several of the same cause together.
type Interval struct {
	Kind       *Kind
	Start, End event.Time
	NS         int64 // time of this cause; less than End − Start if other causes lie between
	Pieces     int   // how many stretches it sums
	CPU        event.CPU
	Culprit    timeline.TaskID
	PID        event.PID // event.NoPID: nobody in particular
	Comm       event.Name
	Prio       event.Prio
	Verdict    Verdict
	Detail     string
	Needs      []string // events that would settle it
	Evidence   []Ref
}

// Ref points to an event of the trace by its stamp and CPU.
type Ref struct {
	At  event.Time
	CPU event.CPU
}

// causeKey tells causes apart: intervals with the same key are summed.
type causeKey struct {
	kind    *Kind
	culprit timeline.TaskID
	pid     event.PID
	verdict Verdict
	cpu     event.CPU
	comm    event.Name // of an interrupt; that of a task may change
	detail  string
}

func (i *Interval) key() causeKey {
	k := causeKey{kind: i.Kind, culprit: i.Culprit, pid: i.PID, verdict: i.Verdict, cpu: i.CPU, detail: i.Detail}
	if i.Culprit == timeline.NoTask {
		k.comm = i.Comm
	}
	return k
}

// Explanation is the answer for one wait.
type Explanation struct {
	Wait       *latency.Wait
	Due        event.Time // NoTime: not known
	DueVerdict Verdict
	DueDetail  string
	LatenessNS int64
	Causes     []Interval // sum of NS is LatenessNS; largest first
	Verdict    Verdict
	Needs      []string

	index map[causeKey]int // in Causes, while there are many
}
