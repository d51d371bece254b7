package result

// Diff is the answer of `whylate diff --json`, schema whylate.diff/1: what became of the waits
// from recording A to recording B.
type Diff struct {
	Schema string   `json:"schema"`
	A      DiffSide `json:"a"`
	B      DiffSide `json:"b"`
	By     string   `json:"by"`
	// Answer is the largest change that counts, null where nothing can be compared.
	Answer *DiffAnswer `json:"answer"`
	// Tasks have the real-time user tasks first, then fair ones, then the kernel's; of these
	// those with enough waits to compare, then the largest change of the longest wait.
	Tasks  []DiffTask  `json:"tasks"`
	Causes []DiffCause `json:"causes"` // of all tasks together, the largest change per second first
	Test   DiffTest    `json:"test"`
	// Conditions are those of --fail-on: failed where they hold.
	Conditions  []Budget     `json:"conditions"`
	Status      string       `json:"status"` // the worst of them
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// DiffSide is one side: one recording or several.
type DiffSide struct {
	Inputs []Input  `json:"inputs"`
	NS     int64    `json:"ns"`      // their length together
	Parts  int64    `json:"parts"`   // that the tests compare
	PartNS int64    `json:"part_ns"` // length of one, where they are stretches
	Holes  []string `json:"holes"`
}

// DiffAnswer names the task whose longest wakeup wait changed most, and the kind of cause that
// changed most between its longest waits, in the same direction; Kind is "" where none did.
type DiffAnswer struct {
	Comm string `json:"comm"`
	PIDA int32  `json:"pid_a"`
	PIDB int32  `json:"pid_b"`
	MaxA int64  `json:"max_a_ns"`
	MaxB int64  `json:"max_b_ns"`
	Kind string `json:"kind"`
	InA  int64  `json:"in_a_ns"` // of the kind in the longest wait
	InB  int64  `json:"in_b_ns"`
	By   string `json:"by"`   // the culprit of most of it, "" nobody in particular
	Wait string `json:"wait"` // the longest, in the recording where it is longer
	File string `json:"file"` // of Wait
	// Few: it had too few waits in one of them for that to mean much.
	Few bool `json:"few,omitempty"`
}

// DiffTask is a task, or what By says, in both. Tasks are matched by name, and by pid where
// several have the name and the same pids occur in all recordings.
type DiffTask struct {
	Comm   string   `json:"comm"`
	Group  string   `json:"group,omitempty"`
	PIDA   int32    `json:"pid_a"` // −1: none, or several
	PIDB   int32    `json:"pid_b"`
	ClassA string   `json:"class_a"`
	PrioA  Prio     `json:"prio_a"`
	ClassB string   `json:"class_b"`
	PrioB  Prio     `json:"prio_b"`
	TasksA int64    `json:"tasks_a"` // taken together
	TasksB int64    `json:"tasks_b"`
	Only   string   `json:"only,omitempty"` // a, b: it waits only there
	User   bool     `json:"user"`           // a deadline or real-time user task
	Few    bool     `json:"few,omitempty"`  // too few waits in one of them to compare
	Wakeup DiffWait `json:"wakeup"`
	// Preempted has no tests.
	Preempted DiffWait    `json:"preempted"`
	Causes    []DiffCause `json:"causes"` // the largest change per wait first
}

// DiffWait is one series of waits in both. The tests are null where nothing was tested.
type DiffWait struct {
	A Waits `json:"a"`
	B Waits `json:"b"`
	// P50, P99 and Max test these numbers of each part.
	P50 *Difference `json:"p50"`
	P99 *Difference `json:"p99"`
	Max *Difference `json:"max"`
}

// DiffCause is one kind of cause in both.
type DiffCause struct {
	Kind string     `json:"kind"`
	A    DiffAmount `json:"a"`
	B    DiffAmount `json:"b"`
	// Test compares its ns per wait of each part.
	Test *Difference `json:"test"`
}

// DiffAmount is how much waiting a kind accounts for.
type DiffAmount struct {
	NS       int64  `json:"ns"`
	Waits    int64  `json:"waits"` // that it is part of
	MostNS   int64  `json:"most_ns"`
	Wait     string `json:"wait,omitempty"` // with MostNS
	PerWait  int64  `json:"per_wait_ns"`    // of all waits
	PerS     int64  `json:"per_s_ns"`       // of the recording
	SharePPM int64  `json:"share_ppm"`      // of all that was waited
	Comm     string `json:"comm"`           // who accounts for most of it
}

// DiffTest says what the tests compare.
type DiffTest struct {
	Test  string `json:"test"`
	Parts string `json:"parts"` // stretches of the recordings, recordings
	Tests int64  `json:"tests"` // how many; P is adjusted for that (Holm)
	// Shown is how many show a difference at a level of 5 % for all of them together.
	Shown int64 `json:"shown"`
	// Drifting of these are of numbers that go up and down slowly within a recording, so that
	// stretches do depend on each other: their Note is drifts.
	Drifting int64  `json:"drifting"`
	Assumes  string `json:"assumes"`
}
