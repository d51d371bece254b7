package sched

import "github.com/whylate/whylate/event"

// Topology is how the CPUs of a machine share things, by their numbers. A nil list means that
// nothing is shared apart from what is said there.
type Topology struct {
	// Core is the core of each CPU; nil: each is a core of its own.
	Core []int
	// LLC is whose last-level cache each CPU uses; nil: all share one.
	LLC []int
	// Node is the NUMA node of each CPU; nil: there is one.
	Node []int
	// Distance is how far nodes are from each other, as /sys/devices/system/node/node*/distance
	// says it; nil: 10 from itself, 20 from all others.
	Distance [][]int
}

// domainLevel is a level of sharing, from the closest.
type domainLevel uint8

const (
	levelSMT  domainLevel = iota // threads of a core
	levelMC                      // the last-level cache
	levelPKG                     // the node; DIE before 6.7
	levelNUMA                    // nodes within a distance
)

// domainFlags are what holds for all CPUs of a domain; SD_*.
type domainFlags uint16

const (
	sdBalanceNewidle domainFlags = 1 << iota
	sdBalanceExec
	sdBalanceFork
	sdBalanceWake
	sdWakeAffine
	sdShareCPUCapacity // threads of one core
	sdShareLLC         // SD_SHARE_PKG_RESOURCES before 6.8
	sdSerialize        // one CPU at a time balances here
	sdPreferSibling    // tasks are spread over the domains below
	sdNUMA
	sdOverlap // its groups have CPUs in common
)

// schedDomain is a level of sharing as one CPU sees it; sched_domain.
type schedDomain struct {
	parent, child *schedDomain
	level         domainLevel
	depth         int // sd->level
	span          cpuMask
	weight        int // CPUs in it
	flags         domainFlags
	groups        *schedGroup // the ring, from the group that the CPU is in

	imbalancePct   int64 // 117: a source has to be busier by 17 %
	cacheNiceTries int   // failures after which hot tasks move, too
	busyFactor     int64 // how much less often a busy CPU balances
	minInterval    int64 // ms
	maxInterval    int64 // ms
	imbNUMANr      int   // tasks up to which a node may have more than another; imb_numa_nr
	// 4.11: which of cpu_load[] counts where.
	busyIdx, idleIdx, newidleIdx, wakeIdx, forkexecIdx int

	shared *domainShared // of those that share a cache

	lastBalance        int64 // jiffies
	balanceInterval    int64 // ms
	nrBalanceFailed    int
	maxNewidleLBCost   event.Time
	lastDecayMaxLBCost int64 // jiffies
	newidleCall        uint32
	newidleSuccess     uint32
	newidleRatio       uint32
	avgScanCost        event.Time // SIS_PROP, SIS_AVG_CPU
}

// rootDomain is the CPUs that balance among themselves: all but the isolated ones, or a cpuset
// partition; root_domain. Isolated CPUs are one, too: real-time and deadline tasks move between them.
type rootDomain struct {
	span     cpuMask
	cpus     int  // in it
	overload bool // a CPU has or had a task that waits, up to the next look at all; rd->overload(ed)

	cpupri  cpupri
	cpudl   cpudl
	rto     overload
	rtoCPU  event.CPU
	rtoLoop int // which round of RT_PUSH_IPI runs
	rtoNext int // which one is asked for
	dlo     cpuMask
}

func newRootDomain(span cpuMask, cpus int) *rootDomain {
	rd := &rootDomain{span: span, cpus: span.count(), rtoCPU: event.NoCPU, dlo: newMask(cpus)}
	rd.cpupri.init(span, cpus)
	rd.rto.init(span, cpus)
	rd.cpudl.init(span, cpus)
	return rd
}

// domainShared is what all CPUs of a last-level cache know; sched_domain_shared.
type domainShared struct {
	nrBusyCPUs   int
	hasIdleCores bool
	nrIdleScan   int
}

// schedGroup is the CPUs of a domain below, as their domain compares them; sched_group.
type schedGroup struct {
	next        *schedGroup
	cpus        cpuMask
	weight      int         // CPUs in it
	cores       int         // of them
	balanceMask cpuMask     // those of them that may balance for the group; group_balance_mask()
	flags       domainFlags // those of the domain below that it is the span of; 0: there is none
	smt         bool        // SD_SHARE_CPUCAPACITY of the domain below: they are threads of one core
	capacity    *groupCapacity
}

// groupCapacity is what a group has to give; sched_group_capacity. 1024 is a CPU.
type groupCapacity struct {
	capacity, minCapacity, maxCapacity int64
	nextUpdate                         int64 // jiffies
	imbalance                          int   // affinity keeps tasks in it from being spread
}
