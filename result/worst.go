package result

// WorstCase is the answer of `whylate worst SCENARIO --task T --json`, schema whylate.worst/1.
// Instants are ns on the clock of the run, those within Waits since Input.StartNS.
type WorstCase struct {
	Schema   string `json:"schema"`
	Scenario string `json:"scenario"`
	Kernel   string `json:"kernel"`
	CPUs     int    `json:"cpus"`
	// Comm and PID are of the thread that was latest; Class and Prio those with which it
	// waited, else what its task asks for.
	Task  string `json:"task"`
	Comm  string `json:"comm"`
	PID   int32  `json:"pid"`
	Class string `json:"class"`
	Prio  Prio   `json:"prio"`

	Measure string `json:"measure"` // response, lateness, wait
	WorstNS int64  `json:"worst_ns"`
	// Open: it had not ended when the run did, so it is at least that.
	Open bool     `json:"open"`
	Job  WorstJob `json:"job"`
	// The parts of WorstNS: the latenesses of its waits, what passed from the expiry of its
	// timer to its wake where the events do not tell that (else it is part of the first wait),
	// the slack of its timer, what it was asleep for others (a lock), and what it ran itself.
	// They sum to it. Of a lateness and a wait there is one wait and none of the last three.
	WaitsNS   int64  `json:"waits_ns"`
	WakeNS    int64  `json:"late_wakeup_ns"`
	SlackNS   int64  `json:"slack_ns"`
	BlockedNS int64  `json:"blocked_ns"`
	OwnNS     int64  `json:"own_ns"`
	Waits     []Late `json:"waits"`
	// Blocked is who had the CPU of the one that woke it while it was asleep for others; they
	// sum to BlockedNS, but for what nobody ended.
	Blocked []Blocked `json:"blocked"`
	Input   Input     `json:"input"` // of the run

	Arrivals Arrivals      `json:"arrivals"`
	Search   ArrivalSearch `json:"search"`
	Theory   ArrivalTheory `json:"theory"`
	Replay   string        `json:"replay"` // the command that shows it again; "": only a file does
	Notes    []Diagnostic  `json:"diagnostics"`
}

// Blocked is a task that ran while the worst job was asleep for others.
type Blocked struct {
	Comm string `json:"comm"`
	PID  int32  `json:"pid"`
	Prio Prio   `json:"prio"`
	NS   int64  `json:"ns"`
	Woke bool   `json:"woke"` // it ended the sleep: mostly it had the lock
}

// WorstJob is the job that was worst. A job is what a task does between two of its sleeps.
type WorstJob struct {
	Number     int    `json:"number"` // among those of its thread, from 1
	ReleasedNS int64  `json:"released_ns"`
	WokenNS    *int64 `json:"woken_ns"`  // null: it did not have to be woken
	OnCPUNS    *int64 `json:"on_cpu_ns"` // null: the same, or it still waits
	DoneNS     *int64 `json:"done_ns"`   // null: not yet
}

// Arrivals is when everything comes in the run of the worst job.
type Arrivals struct {
	// Changes make them, in the grammar of --change; none: as the scenario says.
	Changes []string `json:"changes"`
	// Releases are the last ones of the task up to the worst job, at most 8.
	ReleasesNS []int64 `json:"releases_ns"`
	// Others are the releases of other tasks nearest to that of the worst job.
	Others []OtherRelease `json:"others"`
}

// OtherRelease is a release of another task; FromNS is counted from that of the worst job.
type OtherRelease struct {
	Comm   string `json:"comm"`
	PID    int32  `json:"pid"`
	FromNS int64  `json:"from_ns"`
}

// ArrivalSearch says what was tried.
type ArrivalSearch struct {
	Vary   string `json:"vary"` // phase, arrivals, all
	Seed   uint64 `json:"seed"`
	Budget int    `json:"budget"`
	Runs   int    `json:"runs"`
	// Proven: every point of the grid was tried. Grid is how many there are: the scenario as
	// it is, starts at which an arrival meets one of Instants of the run without the task, and
	// starts every ResolutionNS of a cycle.
	Proven       bool  `json:"grid_proven"`
	Grid         int   `json:"grid_points"`
	GridTried    int   `json:"grid_tried"`
	GridWorstNS  int64 `json:"grid_worst_ns"` // the worst of those that were tried
	Instants     int   `json:"instants"`
	InstantsCut  bool  `json:"instants_cut"` // there are more, after these
	ResolutionNS int64 `json:"resolution_ns"`
	// FoundRun is the run that found the worst, counted from 1; Again, how many later ones met
	// the same value.
	FoundRun int            `json:"found_run"`
	Again    int            `json:"again"`
	Improved []WorstImprove `json:"improved"`
}

// WorstImprove is a run that found something worse than all before.
type WorstImprove struct {
	Run int   `json:"run"`
	NS  int64 `json:"ns"`
}

// ArrivalTheory is the most that analysis allows.
type ArrivalTheory struct {
	BoundNS *int64 `json:"bound_ns"` // null: it has no bound here
	GapNS   *int64 `json:"gap_ns"`   // how much of it the search did not find
	Why     string `json:"why"`      // why there is no bound; else which analysis
}
