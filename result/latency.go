package result

// Latency is the answer of `whylate latency --json`, schema whylate.latency/1.
type Latency struct {
	Schema      string       `json:"schema"`
	Input       Input        `json:"input"`
	By          string       `json:"by"` // task, comm, process, cgroup, cpu
	Tasks       []Task       `json:"tasks"`
	Histograms  []Histogram  `json:"histograms,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Histogram counts the wakeup waits of one row in buckets of BucketNS; Counts[i] counts
// waits from i·BucketNS up to the next bucket. Waits beyond the last one are in Overflows.
type Histogram struct {
	Label     string  `json:"label"`
	CPU       int32   `json:"cpu"` // −1: all
	BucketNS  int64   `json:"bucket_ns"`
	Counts    []int64 `json:"counts"`
	Overflows int64   `json:"overflows"`
	Waits     int64   `json:"waits"`
	MinNS     int64   `json:"min_ns"`
	AvgNS     int64   `json:"avg_ns"`
	MaxNS     int64   `json:"max_ns"`
}

// Info is the answer of `whylate info --json`, schema whylate.info/1.
type Info struct {
	Schema      string       `json:"schema"`
	Input       Input        `json:"input"`
	Machine     string       `json:"machine"`
	Profile     string       `json:"profile"` // kernel profile that fits, "" if none
	Buffers     []string     `json:"buffers"`
	Commands    []string     `json:"commands"`
	Counts      []EventCount `json:"counts"`
	PerCPU      []CPUCount   `json:"per_cpu"`
	Verdicts    []Support    `json:"verdicts"`
	Snapshot    *Snapshot    `json:"snapshot"` // null: the trace has none
	Record      []string     `json:"record"`   // command lines that would record what is missing
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// EventCount says how often an event occurs.
type EventCount struct {
	Event string `json:"event"`
	Count int64  `json:"count"`
}

// CPUCount says what one CPU's part of the trace holds.
type CPUCount struct {
	CPU     int32 `json:"cpu"`
	Events  int64 `json:"events"`
	Lost    int64 `json:"lost"`
	StartNS int64 `json:"start_ns"`
	EndNS   int64 `json:"end_ns"`
}

// Support says whether the trace can show a cause kind: proven, likely or unknown is
// the best verdict that its events allow.
type Support struct {
	Kind  string   `json:"kind"`
	Best  string   `json:"best"`
	Needs []string `json:"needs"` // events that would allow more
}

// Snapshot sums up what is known of the machine beside the events. Numbers of things that it
// does not know are 0.
type Snapshot struct {
	TimeNS   *int64    `json:"time_ns"` // when it was taken, null: not known
	Kernel   string    `json:"kernel"`
	Settings []Setting `json:"settings"`
	Features []Feature `json:"features"`
	CPUs     int       `json:"cpus"`
	Isolated string    `json:"isolated"` // CPUs, as 2-3
	NoHZFull string    `json:"nohz_full"`
	Tasks    int       `json:"tasks"`
	Policies []Policy  `json:"policies"` // most tasks first
	Pinned   int       `json:"pinned"`   // tasks that may not use all CPUs
	CGroups  int       `json:"cgroups"`
	Quotas   int       `json:"quotas"` // groups with a quota
	IRQs     int       `json:"irqs"`
	Threaded int       `json:"threaded"` // interrupts with a thread
}

// Setting is a sysctl, a boot parameter or an option of the configuration.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Feature is a feature of the scheduler.
type Feature struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

// Policy says how many tasks have a scheduling policy.
type Policy struct {
	Policy string `json:"policy"`
	Tasks  int    `json:"tasks"`
}
