package result

// Compare is the answer of `whylate run --variant a,b --json`, schema whylate.compare/1.
type Compare struct {
	Schema string `json:"schema"`
	Comparison
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Comparison is one scenario in several variants, each run with several seeds. The first
// variant is the one that the others are tested against.
type Comparison struct {
	ID       string `json:"id,omitempty"`       // of a part of a case
	Question string `json:"question,omitempty"` // that this part answers
	Scenario string `json:"scenario"`           // name of its file
	CPUs     int    `json:"cpus"`
	// Random: some seeds gave other events than others. Where it is false every number is
	// exact, and there is nothing to be confident about.
	Random   bool      `json:"random"`
	Measures []Measure `json:"measure_names,omitempty"`
	Variants []Variant `json:"variants"`
	Answer   string    `json:"answer,omitempty"` // the numbers in a sentence
}

// Measure says what a name among Variant.Measures means.
type Measure struct {
	Name  string `json:"name"` // ends in its unit: restart_p50_ns, read_bytes_per_s
	Title string `json:"title"`
}

// Variant is a scenario with some changes.
type Variant struct {
	Name   string   `json:"name"`
	Change []string `json:"change"` // in the grammar of --change
	Kernel string   `json:"kernel"`
	Runs   int      `json:"runs"` // seeds that were run; 1 where a seed changes nothing
	Tasks  []Varied `json:"tasks"`
	// Measures are the medians over the runs, by name.
	Measures map[string]int64 `json:"measures"`
	// Spread and Against are there for measures that differ between runs.
	Spread  map[string]Estimate   `json:"spread,omitempty"`
	Against map[string]Difference `json:"against,omitempty"`
	Worst   *Worst                `json:"worst,omitempty"`
}

// Varied is a task in a variant: its waits of all runs together, and what single runs say.
type Varied struct {
	Comm      string `json:"comm"`
	PID       int32  `json:"pid"`
	Class     string `json:"class"`
	Prio      Prio   `json:"prio"`
	Wakeup    Waits  `json:"wakeup"`
	Preempted Waits  `json:"preempted"`
	// Timer has the rounds that end in a sleep to a timer, from when that was due to when the
	// task looked at the clock, as cyclictest does; Misses are those too late to sleep.
	Timer  Waits `json:"timer"`
	Misses int64 `json:"misses"`
	// RunP99 and RunMax are the median of the runs' own percentiles.
	RunP99 Estimate `json:"run_p99_ns"`
	RunMax Estimate `json:"run_max_ns"`
	// AgainstP99 and AgainstMax compare the runs with those of the first variant; nil in it.
	AgainstP99 *Difference `json:"against_p99_ns,omitempty"`
	AgainstMax *Difference `json:"against_max_ns,omitempty"`
}

// Estimate is a middle and where that of all possible runs lies.
type Estimate struct {
	Center int64 `json:"center"`
	Low    int64 `json:"low"`
	High   int64 `json:"high"`
	// Summary is median, mean, or exact where all runs gave the same.
	Summary string `json:"summary"`
	// Confidence is rounded down; 0 where there are too few runs for any interval or
	// where there is nothing to be confident about.
	Confidence int `json:"confidence_percent"`
}

// Difference is a test of two variants on one number.
type Difference struct {
	// Verdict is lower, higher, none_shown (the runs do not show a difference), or, where
	// all runs of each gave the same, exact_lower, exact_higher, exact_same.
	Verdict string  `json:"verdict"`
	Delta   int64   `json:"delta"` // of the centers
	Test    string  `json:"test,omitempty"`
	P       float64 `json:"p,omitempty"`
	// Smallest is the difference that these runs would have shown, nil where even the
	// largest would not have been (too few runs) or where that was not asked.
	Smallest *int64 `json:"smallest,omitempty"`
	Note     string `json:"note,omitempty"`
}

// Worst is the longest wait of a variant's tasks, explained from the events of its run.
type Worst struct {
	Late
	Seed  uint64 `json:"seed"`
	Trace string `json:"trace,omitempty"` // file with the events of that run
}

// Case is the answer of `whylate case NAME --json`, schema whylate.case/1. Its own
// comparison is the main one; Parts are the others.
type Case struct {
	Schema string `json:"schema"`
	Case   string `json:"case"`
	Title  string `json:"title"`
	// Symptom is what was measured in the discussion, retold.
	Symptom string `json:"symptom"`
	// Conclusion answers the question in a paragraph, with the numbers of this run.
	Conclusion string `json:"conclusion"`
	Quick      bool   `json:"quick"`
	Comparison
	Parts []Comparison `json:"parts"`
	// Objections are those of the discussion that the case comes from.
	Objections  []Objection  `json:"objections"`
	Limits      []string     `json:"limits"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Objection is something that was asked, and the numbers that answer it.
type Objection struct {
	Text   string   `json:"text"`
	Answer string   `json:"answer"`
	Parts  []string `json:"parts"` // ids of the comparisons with the numbers
}
