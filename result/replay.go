package result

// Replay is the answer of `whylate replay --json`, schema whylate.replay/1: how well the model
// meets a recording, with nothing changed.
type Replay struct {
	Schema string `json:"schema"`
	Input  Input  `json:"input"`
	// Decisions are history-forced: the model follows the recording and is asked at each
	// decision what it would have chosen.
	Decisions []Decisions `json:"decisions"`
	// Misses are the first decisions of which the model thought otherwise, Missed is how many
	// there were.
	Misses []Missed `json:"misses"`
	Missed int64    `json:"missed"`
	// Waits are free-running: the recorded load runs in the model alone.
	Waits ReplayedWaits `json:"waits"`
	// Unfinished are tasks that the run left in the middle of what they did in the recording.
	Unfinished  []Unfinished `json:"unfinished"`
	Assumed     []Diagnostic `json:"assumed"` // what had to be guessed, how often
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Decisions counts the decisions of one class and type.
type Decisions struct {
	Class string `json:"class"` // dl, rt, fair
	Type  string `json:"type"`  // pick, class, preempt, placement, balance
	N     int64  `json:"n"`
	Agree int64  `json:"agree"`
	// Baseline is how often the simple rule agrees that docs/definitions.md names.
	Baseline  int64    `json:"baseline"`
	Undecided int64    `json:"undecided"` // that the trace does not tell; not in N
	Why       []Reason `json:"why,omitempty"`
}

// Reason is why something was not counted, or missed, and how often.
type Reason struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// Missed is one decision of which the model thought otherwise.
type Missed struct {
	AtNS     int64  `json:"at_ns"`
	CPU      int32  `json:"cpu"`
	Class    string `json:"class"`
	Type     string `json:"type"`
	Recorded string `json:"recorded"` // what was chosen, in words
	Model    string `json:"model"`
	Reason   string `json:"reason"` // a stable word; "unexplained"
	Text     string `json:"text"`
}

// ReplayedWaits compares the waits of the recording with those of the unchanged replay.
type ReplayedWaits struct {
	// LongFromNS is from where on each wait counts by itself, LateFromNS from where it counts
	// as late. Of the Late ones Answerable are met well enough for an answer of whatif.
	LongFromNS int64           `json:"long_from_ns"`
	LateFromNS int64           `json:"late_from_ns"`
	Late       int64           `json:"late"`
	Answerable int64           `json:"answerable"`
	Classes    []ReplayedClass `json:"classes"`
	Tasks      []ReplayedClass `json:"tasks"` // the same for each task
}

// ReplayedClass compares the waits of one class, or of one task: then Comm and PID say which.
type ReplayedClass struct {
	Class      string         `json:"class"`
	Comm       string         `json:"comm,omitempty"`
	PID        int32          `json:"pid,omitempty"`
	Waits      int64          `json:"waits"`     // recorded, of which lost events touched none
	Matched    int64          `json:"matched"`   // of these, that the replay has too
	OnlyRun    int64          `json:"only_run"`  // that only the replay has
	Untrusted  int64          `json:"untrusted"` // touched by lost events
	Late       int64          `json:"late"`
	Answerable int64          `json:"answerable"`
	Long       int64          `json:"long"`   // at least LongFromNS in the recording or in the replay
	Within     int64          `json:"within"` // of these, less than 5 % apart
	Worst      []ReplayedWait `json:"worst"`  // the longest of them
	Rest       ReplayedRest   `json:"rest"`   // all others
}

// ReplayedWait is one wait in the recording and in the replay. A wait that one side does not
// have is 0 there, and Only says which side has it.
type ReplayedWait struct {
	ID         string `json:"id"` // "" where only the replay has it
	Comm       string `json:"comm"`
	PID        int32  `json:"pid"`
	RecordedNS int64  `json:"recorded_ns"`
	ReplayedNS int64  `json:"replayed_ns"`
	ErrorNS    int64  `json:"error_ns"`       // replayed − recorded
	Error      int64  `json:"error_permille"` // of the recorded one, without a sign
	Answerable bool   `json:"answerable"`
	Only       string `json:"only,omitempty"` // recorded, replay
}

// ReplayedRest compares the distributions of waits that are not long.
type ReplayedRest struct {
	Recorded Points `json:"recorded"`
	Replayed Points `json:"replayed"`
	// P99DistanceNS is between the two p99; MissP99NS and MissMaxNS are percentiles of the
	// distance between each wait and its replay.
	P99DistanceNS int64 `json:"p99_distance_ns"`
	MissP99NS     int64 `json:"miss_p99_ns"`
	MissMaxNS     int64 `json:"miss_max_ns"`
}

// Points are a few points of a distribution.
type Points struct {
	Waits int64 `json:"waits"`
	P50NS int64 `json:"p50_ns"`
	P99NS int64 `json:"p99_ns"`
	MaxNS int64 `json:"max_ns"`
}

// Unfinished is a task that had done Done of Steps when the run ended. Stuck: it waits for
// somebody to wake it, who does not come.
type Unfinished struct {
	Comm  string `json:"comm"`
	PID   int32  `json:"pid"`
	Done  int64  `json:"done"`
	Steps int64  `json:"steps"`
	Stuck bool   `json:"stuck"`
}
