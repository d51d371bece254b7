package result

// BalancePass is one look of the load balancer of the model for work for a CPU on which a task that
// waited elsewhere might have run. Lists of CPUs are as the kernel prints them: 0,2-3. Loads and
// capacities have the kernel's units: of load 1024 is a task of nice 0 that always runs, else a CPU.
type BalancePass struct {
	AtNS   int64          `json:"at_ns"`
	CPU    int32          `json:"cpu"`  // for which it looked
	By     int32          `json:"by"`   // that executed it
	Kind   string         `json:"kind"` // periodic, newidle, nohz, active
	Domain string         `json:"domain"`
	Span   string         `json:"span"` // the CPUs of the domain
	Groups []BalanceGroup `json:"groups"`
	// Busiest is the group that was chosen, as an index of Groups, −1: none.
	Busiest int            `json:"busiest"`
	Queues  []BalanceQueue `json:"queues"`
	Source  int32          `json:"source"` // the CPU that was chosen, −1: none
	// Imbalance is how much was to move, in Metric: load, util, task, misfit.
	Imbalance int64   `json:"imbalance"`
	Metric    string  `json:"metric"`
	Moved     []int32 `json:"moved"` // pids
	Why       string  `json:"why"`   // how it ended where nothing moved
	// WaitedOn is where the task was, Missed why it was not taken: balanced, local_group, other_group,
	// other_queue, other_task, not_moved; or taken.
	WaitedOn int32  `json:"waited_on"`
	Missed   string `json:"missed"`
}

// BalanceGroup is a group of CPUs as a pass saw it.
type BalanceGroup struct {
	CPUs     string `json:"cpus"`
	Local    bool   `json:"local"` // the one of the CPU that looked
	Type     string `json:"type"`
	Load     int64  `json:"load"`
	Capacity int64  `json:"capacity"`
	Util     int64  `json:"util"`
	Running  int    `json:"running"`
	Idle     int    `json:"idle"` // CPUs
}

// BalanceQueue is a CPU of the chosen group as a pass saw it.
type BalanceQueue struct {
	CPU      int32 `json:"cpu"`
	Load     int64 `json:"load"`
	Capacity int64 `json:"capacity"`
	Running  int   `json:"running"`
	Runnable int64 `json:"runnable"` // what its tasks weigh now, which no kernel knows
}
