package result

// Gate is the answer of `whylate gate --json`, schema whylate.gate/1.
type Gate struct {
	Schema string `json:"schema"`
	Input  Input  `json:"input"`
	// Status is the worst of the budgets: failed before unreliable before ok.
	Status      string       `json:"status"`
	Budgets     []Budget     `json:"budgets"`
	Holes       []string     `json:"holes"` // what is missing of the trace
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Budget is one condition and what came of it.
type Budget struct {
	Budget string `json:"budget"` // as it was written: hi25:p99.9<100us
	Note   string `json:"note,omitempty"`
	Status string `json:"status"` // ok, failed, unreliable
	// Tasks are those that it was asked of: those that failed first, then the unreliable ones,
	// of each the largest value first.
	Tasks []Judged `json:"tasks"`
}

// Judged is one task that a condition was asked of.
type Judged struct {
	Comm  string `json:"comm"`
	PID   int32  `json:"pid"` // −1 for a group of tasks
	Class string `json:"class"`
	Prio  Prio   `json:"prio"`
	Group string `json:"group,omitempty"`
	// Value and Limit are in ns, where Unit is count they are numbers of things.
	Unit  string `json:"unit"`
	Value int64  `json:"value"`
	Limit int64  `json:"limit"`
	// Before is the value in the other trace, where the condition is one of a change.
	Before *int64 `json:"before,omitempty"`
	Waits  int64  `json:"waits"` // of which Value was taken
	// Status is ok, failed or unreliable: it holds, but Why says what makes that worth little.
	Status string `json:"status"`
	Why    string `json:"why,omitempty"`
	// Wait names the longest of them, for explain --wait; AtLeast: it was still open at the
	// end, and Value is what was seen of it.
	Wait    string `json:"wait,omitempty"`
	AtLeast bool   `json:"at_least,omitempty"`
}
