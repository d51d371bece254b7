package result

// WhatIf is the answer of `whylate whatif --json`, schema whylate.whatif/1: what explain tells
// of the recording, and what replay predicts for each set of changes.
type WhatIf struct {
	Explain           // of the recording; its Schema is that of whatif
	Changes []Changed `json:"changes"`
	// Replay says how well the unchanged replay meets the recording.
	Replay  ReplayedWaits `json:"replay"`
	Assumed []Diagnostic  `json:"assumed"` // what had to be guessed, how often
}

// Changed is what replay predicts for one change, or for several that are made together.
type Changed struct {
	Changes  []string     `json:"changes"` // in the grammar of --change, made in this order
	Commands []string     `json:"commands"`
	Refused  string       `json:"refused,omitempty"` // why the kernel would not do it; then nothing follows
	Late     []Prediction `json:"late"`
	Sum      Predicted    `json:"sum"` // of Late
	Harm     []Harm       `json:"harm"`
	// Tasks have the waits of each task in the recording and in both replays.
	Tasks []ChangedTask `json:"tasks"`
	// Mechanism is what the changes act on, "" where there are several or no word, and
	// Confirmed how far predictions of that sort were off.
	Mechanism string `json:"mechanism,omitempty"`
	// FairClass: fair tasks ran by the rules of their class, so that their waits are predicted, too. Else
	// they took turns as they were recorded.
	FairClass   bool         `json:"fair_class,omitempty"`
	Confirmed   *Confirmed   `json:"confirmed"` // null: none was followed by a recording
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// ChangedTask are the wakeup waits of one task: recorded, in the unchanged replay, in the
// changed one; jobs as Harm counts them.
type ChangedTask struct {
	Comm         string `json:"comm"`
	PID          int32  `json:"pid"`
	Class        string `json:"class"`
	Prio         Prio   `json:"prio"`
	Recorded     Points `json:"recorded"`
	Replayed     Points `json:"replayed"`
	Changed      Points `json:"changed"`
	MissesBefore int64  `json:"misses_before"`
	MissesAfter  int64  `json:"misses_after"`
	Jobs         int64  `json:"jobs"` // 0: it is not periodic
}

// Predicted counts predictions: a wait becomes shorter or longer if by more than a tenth of it
// and by more than the error of the unchanged replay.
type Predicted struct {
	Shorter  int64 `json:"shorter"`
	Longer   int64 `json:"longer"`
	Same     int64 `json:"same"`
	Withheld int64 `json:"withheld"`
}

// Prediction is what becomes of one wait, in ns of lateness. The recorded wait is BeforeNS;
// ReplayedNS is what the unchanged replay makes of it, and ErrorNS how far that is from
// BeforeNS. AfterNS means nothing where Withheld gives a reason. WorseNS is the longest of the
// task's other wakeup waits that the change makes longer, 0: it makes none longer. A change
// that only moves a wait shows there.
type Prediction struct {
	ID         string `json:"id"`
	BeforeNS   int64  `json:"before_ns"`
	ReplayedNS int64  `json:"replayed_ns"`
	AfterNS    int64  `json:"after_ns"`
	ErrorNS    int64  `json:"error_ns"`
	WorseNS    int64  `json:"worse_ns"`
	Withheld   string `json:"withheld,omitempty"`
}

// Harm is what a change does to a task, in two replays: the unchanged one and the changed
// one. A miss is a job of a periodic or deadline task that takes longer than its period or
// its deadline in the recording: its waits and its work together. Percentile is 99, 90 or 50: the
// highest that grows enough to count, 99 where only misses do.
type Harm struct {
	Comm         string `json:"comm"`
	PID          int32  `json:"pid"`
	Class        string `json:"class"`
	Prio         Prio   `json:"prio"`
	Kernel       bool   `json:"kernel"`     // a thread of the kernel, by its name
	Percentile   int    `json:"percentile"` // of the delays of its jobs, that BeforeNS and AfterNS are
	BeforeNS     int64  `json:"before_ns"`
	AfterNS      int64  `json:"after_ns"`
	MissesBefore int64  `json:"misses_before"`
	MissesAfter  int64  `json:"misses_after"`
	Jobs         int64  `json:"jobs"` // of which misses are counted; 0: it is not periodic
}

// Confirmed is how far predictions of changes of one sort were off from what was recorded
// afterwards: of Predictions waits of more than 1 ms, Within were within 10 %. The errors are in
// thousandths of the recorded wait; one that only the recording or only the prediction has
// counts as 1000.
type Confirmed struct {
	Mechanism   string `json:"mechanism"`
	Predictions int    `json:"predictions"`
	Within      int    `json:"within"`
	Median      int64  `json:"median_permille"`
	P90         int64  `json:"p90_permille"`
}

// Refusal is a change that would suggest itself and that the kernel does not make.
type Refusal struct {
	Change  string `json:"change"`
	Command string `json:"command"`
	Text    string `json:"text"`
}
