package result

// Explain is the answer of `whylate explain --json`, schema whylate.explain/1.
type Explain struct {
	Schema      string       `json:"schema"`
	Input       Input        `json:"input"`
	Tasks       []Task       `json:"tasks"`
	Late        []Late       `json:"late"`
	Groups      []Group      `json:"groups,omitempty"` // of a run of the model
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Group is what cpu.stat of a control group says at the end of a run.
type Group struct {
	CGroup      string `json:"cgroup"`
	QuotaNS     int64  `json:"quota_ns"` // −1: none
	PeriodNS    int64  `json:"period_ns"`
	BurstNS     int64  `json:"burst_ns"`
	UsageNS     int64  `json:"usage_ns"` // of its fair tasks, and of those of the groups below
	NrPeriods   int64  `json:"nr_periods"`
	NrThrottled int64  `json:"nr_throttled"`
	ThrottledNS int64  `json:"throttled_ns"` // of all CPUs together; what is not over does not count
	NrBursts    int64  `json:"nr_bursts"`
	BurstTimeNS int64  `json:"burst_time_ns"`
}

// Input says what was read.
type Input struct {
	File    string `json:"file"`
	Format  string `json:"format"`
	Kernel  string `json:"kernel"`
	CPUs    int    `json:"cpus"`
	Clock   string `json:"clock"`
	Events  int64  `json:"events"`
	Lost    int64  `json:"lost"` // −1: lost events of unknown number
	StartNS int64  `json:"start_ns"`
	EndNS   int64  `json:"end_ns"` // as StartNS on the trace's own clock
}

// Task is one row: a task in one class and priority, or a group of tasks (--by).
type Task struct {
	Comm      string  `json:"comm"`
	PID       int32   `json:"pid"` // −1 for a group of tasks
	Class     string  `json:"class"`
	Prio      Prio    `json:"prio"`
	CGroup    string  `json:"cgroup"`
	Group     string  `json:"group,omitempty"` // the key of --by where it is not the task
	Wakeup    Waits   `json:"wakeup"`
	Preempted Waits   `json:"preempted"`
	Blame     []Blame `json:"blame"`
}

// Waits summarises one series of waits. Percentiles are nearest rank; with Approximate
// they are upper bucket edges of a histogram with at most 1 % error.
type Waits struct {
	Waits       int64 `json:"waits"`
	P50NS       int64 `json:"p50_ns"`
	P90NS       int64 `json:"p90_ns"`
	P99NS       int64 `json:"p99_ns"`
	P999NS      int64 `json:"p999_ns"`
	MaxNS       int64 `json:"max_ns"`
	TotalNS     int64 `json:"total_ns"`
	Approximate bool  `json:"approximate,omitempty"`
}

// Blame is the part of a task's lateness that one kind and culprit account for.
type Blame struct {
	Kind  string `json:"kind"`
	Comm  string `json:"comm"`
	PID   int32  `json:"pid"` // −1: nobody in particular
	Waits int64  `json:"waits"`
	NS    int64  `json:"ns"`
}

// Late is one wait, with causes that sum to LatenessNS.
type Late struct {
	ID            string          `json:"id"`
	Comm          string          `json:"comm"`
	PID           int32           `json:"pid"`
	Class         string          `json:"class"`
	Prio          Prio            `json:"prio"`
	CPU           int32           `json:"cpu"`
	WaitKind      string          `json:"wait_kind"` // wakeup, preempted, yielded
	Waker         Waker           `json:"waker"`
	DueNS         *int64          `json:"due_ns"`
	DueVerdict    string          `json:"due_verdict,omitempty"`
	DueDetail     string          `json:"due_detail,omitempty"`
	WokenNS       int64           `json:"woken_ns"`
	OnCPUNS       *int64          `json:"on_cpu_ns"`
	WaitNS        int64           `json:"wait_ns"`
	LatenessNS    int64           `json:"lateness_ns"`
	Verdict       string          `json:"verdict"`
	Causes        []Cause         `json:"causes"`
	IdleElsewhere []IdleElsewhere `json:"idle_elsewhere"`
	Advice        []Advice        `json:"advice"`
	Refused       []Refusal       `json:"refused,omitempty"`
	Withheld      string          `json:"withheld,omitempty"` // why nothing is predicted for this wait, where that was asked
	Needs         []string        `json:"needs"`
	Evidence      []string        `json:"evidence,omitempty"` // its beginning and end, with -v

	// BalancePasses are the looks of the load balancer that could have ended it: run --decisions=balance.
	// PassesN is how many there were; the first 1,000 are told.
	BalancePasses []BalancePass `json:"balance_passes,omitempty"`
	PassesN       int           `json:"balance_passes_n,omitempty"`
}

// Waker is who made the task runnable: a task, or an interrupt (context "irq", "softirq").
type Waker struct {
	Comm    string `json:"comm"`
	PID     int32  `json:"pid"`
	Context string `json:"context"` // task, irq, softirq, "" if unknown
}

// Cause is one interval of a wait.
type Cause struct {
	Kind    string `json:"kind"`
	NS      int64  `json:"ns"`
	StartNS int64  `json:"start_ns"`
	CPU     int32  `json:"cpu"`
	Comm    string `json:"comm"`
	PID     int32  `json:"pid"` // −1: nobody in particular
	Prio    Prio   `json:"prio"`
	Verdict string `json:"verdict"`
	Detail  string `json:"detail"`
	// Intervals is how many stretches NS sums; StartNS is the start of the first.
	Intervals int      `json:"intervals"`
	Evidence  []string `json:"evidence,omitempty"` // event lines, with -v
}

// IdleElsewhere is a CPU that stood idle for NS of the wait. Verdict says whether the task might
// have run there.
type IdleElsewhere struct {
	CPU     int32  `json:"cpu"`
	NS      int64  `json:"ns"`
	Verdict string `json:"verdict"`
	// SinceNS is when it began to idle, for the first of its Stays in the wait, and may lie before
	// the wait; null: before the trace. UntilNS is when the last one ended, or the wait.
	SinceNS *int64 `json:"since_ns"`
	UntilNS int64  `json:"until_ns"`
	Stays   int    `json:"stays"`
	// Balancing is what shows of the load balancer; null for a task that is not balanced.
	Balancing *Balancing `json:"balancing"`
	Evidence  []string   `json:"evidence,omitempty"` // event lines, with -v
}

// Balancing is what shows of the load balancer at work for an idle CPU during a wait. That a CPU
// looks for work when it is about to idle leaves no event: only what it pulls does.
type Balancing struct {
	// Softirqs counts the softirqs SCHED that it ran while it was idle: each looks over the domains
	// that are due, which may be none.
	Softirqs int     `json:"softirqs"`
	ByOthers int     `json:"by_others"` // those of other idle CPUs meanwhile, which may have looked for it too
	Others   []int32 `json:"others"`    // these CPUs
	Pulls    int     `json:"pulls"`     // waiting tasks that were brought to it
	Pulled   []Pull  `json:"pulled"`    // the first 16 of them
	// Verdict is "proven" where it took something or surely ran no softirq, "likely" where one ran, or
	// others may have looked for it, "unknown" where Needs were not recorded.
	Verdict string   `json:"verdict"`
	Needs   []string `json:"needs"`
}

// Pull is a waiting task that was brought to another CPU.
type Pull struct {
	AtNS    int64  `json:"at_ns"`
	FromCPU int32  `json:"from_cpu"`
	ByCPU   int32  `json:"by_cpu"` // that executed it
	Comm    string `json:"comm"`
	PID     int32  `json:"pid"`
	// How is "newidle" where that CPU was about to take another task or to idle, "softirq" for
	// periodic balancing, "stopper" for the thread of the CPU where the task was.
	How string `json:"how"`
}

// Advice is a change and what replay predicts of it for this wait, in ns of lateness: the
// best one first. BeforeNS is recorded, AfterNS predicted, ErrorNS how far the unchanged
// replay is off.
type Advice struct {
	Change    string     `json:"change"`
	Command   string     `json:"command"` // "": no command makes it
	BeforeNS  int64      `json:"before_ns"`
	AfterNS   int64      `json:"after_ns"`
	ErrorNS   int64      `json:"error_ns"`
	WorseNS   int64      `json:"worse_ns"`  // the longest of the task's other waits that becomes longer, 0: none does
	Text      string     `json:"text"`      // for people
	Kind      string     `json:"kind"`      // of the cause that suggests it
	Harm      []Harm     `json:"harm"`      // to others, where it is worth telling
	Confirmed *Confirmed `json:"confirmed"` // null: no such prediction was followed by a recording
}

// Diagnostic is something that the reader of the result must know.
type Diagnostic struct {
	Kind  string `json:"kind"`
	Count int64  `json:"count"`
	Text  string `json:"text"`
}
