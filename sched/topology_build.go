package sched

import "github.com/whylate/whylate/event"

// domainBuilder makes the domains of a set of CPUs; build_sched_domains(). What is by level and CPU
// is nil where the chain of a CPU ends below: it has reached all CPUs of the set.
type domainBuilder struct {
	s        *Sched
	cpus     cpuMask
	levels   []topologyLevel
	domains  [][]*schedDomain
	groups   [][]*schedGroup    // of levels that do not overlap, by the first CPU
	capacity [][]*groupCapacity // by the first CPU that may balance for the group
	covered  cpuMask
	mask     cpuMask
}

// buildDomains gives every CPU its domains: one tree for each partition and one for all other CPUs,
// none for those that are isolated; sched_init_domains(), partition_sched_domains().
func (s *Sched) buildDomains() {
	n := s.cfg.CPUs
	levels := s.cfg.Topology.levels(n)
	smt := &levels[0]
	// Isolated CPUs are in one root domain with each other, without any below.
	var isolated *rootDomain
	if span := s.cfg.isolated(); !span.empty() {
		isolated = newRootDomain(span, n)
	}
	for _, rq := range s.rqs {
		rq.rd, rq.smt = isolated, smt.sets[smt.of[rq.cpu]]
		s.attachDomains(rq, nil)
	}
	for _, cpus := range s.cfg.domainSets() {
		b := &domainBuilder{s: s, cpus: cpus, levels: levels, covered: newMask(n), mask: newMask(n)}
		b.build()
	}
}

// isolated are the CPUs without domains.
func (c *Config) isolated() cpuMask {
	m := newMask(c.CPUs)
	for _, cpu := range c.Isolated {
		if cpu >= 0 && int(cpu) < c.CPUs {
			m.set(cpu)
		}
	}
	return m
}

// domainSets are the sets of CPUs that have domains of their own, the last of them what is in no
// partition and not isolated.
func (c *Config) domainSets() []cpuMask {
	rest := allCPUs(c.CPUs)
	rest.without(c.isolated())
	var sets []cpuMask
	for _, list := range c.Partitions {
		set := newMask(c.CPUs)
		for _, cpu := range list {
			if rest.has(cpu) {
				set.set(cpu)
				rest.clear(cpu)
			}
		}
		if !set.empty() {
			sets = append(sets, set)
		}
	}
	if !rest.empty() {
		sets = append(sets, rest)
	}
	return sets
}

func (b *domainBuilder) build() {
	n := b.s.cfg.CPUs
	root := newRootDomain(b.cpus, n)
	for range b.levels {
		b.domains = append(b.domains, make([]*schedDomain, n))
		b.groups = append(b.groups, make([]*schedGroup, n))
		b.capacity = append(b.capacity, make([]*groupCapacity, n))
	}
	b.buildChains()
	for c := b.cpus.first(); c != event.NoCPU; c = b.cpus.next(c + 1) {
		for l := range b.levels {
			if sd := b.domains[l][c]; sd == nil {
				break
			} else if sd.level == levelNUMA {
				b.buildOverlapGroups(l, c)
			} else if sd.groups = b.group(l, c); sd.lastCPU(c) {
				b.linkGroups(l, c)
			}
		}
	}
	for c := b.cpus.first(); c != event.NoCPU; c = b.cpus.next(c + 1) {
		b.allowNUMAImbalance(b.domains[0][c])
		rq := b.s.rqs[c]
		b.s.attachDomains(rq, b.s.removeDegenerate(b.domains[0][c]))
		rq.rd = root
	}
	for c := b.cpus.first(); c != event.NoCPU; c = b.cpus.next(c + 1) {
		for sd := b.s.rqs[c].sd; sd != nil; sd = sd.parent {
			if sd.level == levelNUMA || sd.lastCPU(c) {
				b.s.initGroups(sd)
			}
		}
	}
}

// lastCPU reports whether c is the last one of a domain: what all of its CPUs have in common is done for that.
func (sd *schedDomain) lastCPU(c event.CPU) bool { return sd.span.next(c+1) == event.NoCPU }

// buildChains makes the domains of each CPU, from the closest up to that which has all CPUs;
// build_sched_domain().
func (b *domainBuilder) buildChains() {
	n := b.s.cfg.CPUs
	child := make([]*schedDomain, n)
	done := make([]bool, n)
	for l := range b.levels {
		level := &b.levels[l]
		spans := make([]cpuMask, len(level.sets))
		shared := make([]*domainShared, len(level.sets))
		for i, set := range level.sets {
			spans[i] = newMask(n)
			spans[i].and(set, b.cpus)
			if level.flags&sdShareLLC != 0 {
				// The kernel counts CPUs without domains, too: they never become idle here.
				shared[i] = &domainShared{nrBusyCPUs: set.count()}
			}
		}
		for c := b.cpus.first(); c != event.NoCPU; c = b.cpus.next(c + 1) {
			if done[c] {
				continue
			}
			i := level.of[c]
			sd := b.s.newDomain(level, level.sets[i].count())
			sd.span, sd.weight, sd.shared = spans[i], spans[i].count(), shared[i]
			if sd.child = child[c]; sd.child != nil {
				sd.depth = sd.child.depth + 1
				sd.child.parent = sd
			}
			b.domains[l][c], child[c] = sd, sd
			done[c] = sd.span.equal(b.cpus)
		}
	}
}

// newDomain is sd_init(): what follows for balancing from what CPUs share. weight counts those of the
// level that have no domains, too.
func (s *Sched) newDomain(level *topologyLevel, weight int) *schedDomain {
	f := &s.cfg.Fair
	sd := &schedDomain{level: level.is, minInterval: int64(weight), maxInterval: 2 * int64(weight), balanceInterval: int64(weight),
		busyFactor: f.BusyFactor, imbalancePct: f.ImbalancePct,
		flags: sdBalanceNewidle | sdBalanceExec | sdBalanceFork | sdWakeAffine | level.flags,
		// As if half of the newidle passes had found something.
		newidleCall: 512, newidleSuccess: 256, newidleRatio: 512}
	if f.PreferSiblingInLLC || level.is == levelSMT || level.is == levelPKG {
		sd.flags |= sdPreferSibling
	}
	switch level.is {
	case levelSMT:
		sd.imbalancePct = 110
	case levelMC:
		sd.imbalancePct, sd.cacheNiceTries, sd.busyIdx = 117, 1, 2
	case levelPKG:
		sd.cacheNiceTries, sd.busyIdx, sd.idleIdx = 1, 2, 1
	case levelNUMA:
		sd.cacheNiceTries, sd.busyIdx, sd.idleIdx = 2, 3, 2
		sd.flags |= sdSerialize | sdOverlap
		sd.flags &^= sdPreferSibling
		if level.distance > reclaimDistance {
			sd.flags &^= sdBalanceExec | sdBalanceFork | sdWakeAffine
		}
	}
	return sd
}

// allowNUMAImbalance says how many tasks a node may have more than another before that is to be
// evened out: imb_numa_nr, from 5.18 on, a number for each domain from the one above the cache on. With
// one cache in a node it is an eighth of the node, with more one task for each.
func (b *domainBuilder) allowNUMAImbalance(sd *schedDomain) {
	allowed, reach := 0, 1
	for ; sd != nil; sd = sd.parent {
		if sd.flags&sdShareLLC == 0 && sd.child != nil && sd.child.flags&sdShareLLC != 0 {
			allowed = sd.weight / sd.child.weight
			if allowed == 1 {
				allowed = sd.weight >> 3
			}
			allowed = max(1, allowed)
			sd.imbNUMANr = allowed
			top := sd.parent
			for top != nil && top.flags&sdNUMA == 0 {
				top = top.parent
			}
			if reach = sd.weight; top != nil {
				reach = top.weight
			}
			continue
		}
		sd.imbNUMANr = allowed * max(1, sd.weight/reach)
	}
}
