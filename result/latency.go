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
	Record      []string     `json:"record"` // command lines that would record what is missing
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
