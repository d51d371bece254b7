package sched

import "github.com/whylate/whylate/event"

// topDomains are the domains of a CPU that are looked up often; sd_llc and others.
type topDomains struct {
	llc   *schedDomain // the highest whose CPUs share a cache
	llcID event.CPU    // the first CPU there, this one if there is none
}

// needsGroups are flags that mean nothing in a domain with one group; SDF_NEEDS_GROUPS.
const needsGroups = sdBalanceNewidle | sdBalanceExec | sdBalanceFork | sdBalanceWake | sdShareCPUCapacity | sdShareLLC |
	sdSerialize | sdPreferSibling | sdOverlap | sdNUMA

// oneGroup reports whether there is nobody to compare with in sd.
func (sd *schedDomain) oneGroup() bool { return sd.groups.next == sd.groups }

// degenerate is sd_degenerate(): nothing can be balanced in sd.
func (sd *schedDomain) degenerate() bool {
	switch {
	case sd.weight == 1:
		return true
	case sd.flags&needsGroups != 0 && !sd.oneGroup():
		return false
	}
	return sd.flags&sdWakeAffine == 0
}

// parentDegenerate is sd_parent_degenerate(): the domain above sd adds nothing to it.
func (sd *schedDomain) parentDegenerate() bool {
	parent := sd.parent
	if parent.degenerate() {
		return true
	}
	if !sd.span.equal(parent.span) {
		return false
	}
	flags := parent.flags
	if parent.oneGroup() {
		flags &^= needsGroups
	}
	return flags&^sd.flags == 0
}

// removeDegenerate takes out of a chain what adds nothing and returns its lowest domain, nil if nothing
// is left; cpu_attach_domain().
func (s *Sched) removeDegenerate(sd *schedDomain) *schedDomain {
	for d := sd; d != nil && d.parent != nil; {
		parent := d.parent
		if !d.parentDegenerate() {
			d = parent
			continue
		}
		if d.parent = parent.parent; d.parent != nil {
			d.parent.child = d
			if s.cfg.Fair.GroupFlagsFollow {
				d.parent.groups.below(d.flags)
			}
		}
		// The spans are the same: what holds above holds here.
		d.flags |= parent.flags & sdPreferSibling
	}
	if sd == nil || !sd.degenerate() {
		return sd
	}
	if sd = sd.parent; sd != nil {
		sd.groups.below(0)
		sd.child = nil
	}
	return sd
}

// attachDomains makes sd the lowest domain of rq; cpu_attach_domain(), update_top_cache_domain().
func (s *Sched) attachDomains(rq *RQ, sd *schedDomain) {
	rq.sd, rq.top = sd, topDomains{llcID: rq.cpu}
	if llc := highestFlag(sd, sdShareLLC); llc != nil {
		rq.top.llc, rq.top.llcID = llc, llc.span.first()
	}
	rq.cpuCapacity = s.capacityOrig(rq.cpu)
}

// highestFlag is highest_flag_domain(): the highest domain from sd on up to which all have f.
func highestFlag(sd *schedDomain, f domainFlags) *schedDomain {
	var found *schedDomain
	for ; sd != nil && sd.flags&f != 0; sd = sd.parent {
		found = sd
	}
	return found
}

// sdLLC is the highest domain of c whose CPUs share a cache, nil if there is none; sd_llc.
func (s *Sched) sdLLC(c event.CPU) *schedDomain { return s.rqs[c].top.llc }

// llcSize is how many CPUs that are; sd_llc_size.
func (s *Sched) llcSize(c event.CPU) int {
	if sd := s.rqs[c].top.llc; sd != nil {
		return sd.weight
	}
	return 1
}

// llcShared is what the CPUs of that domain know together, nil if there is none; sd_llc_shared.
func (s *Sched) llcShared(c event.CPU) *domainShared {
	if sd := s.rqs[c].top.llc; sd != nil {
		return sd.shared
	}
	return nil
}

// cpusShareCache reports whether balancing takes both CPUs as sharing a cache; cpus_share_cache(). A
// CPU without domains shares it with nobody.
func (s *Sched) cpusShareCache(a, b event.CPU) bool {
	return s.rqs[a].top.llcID == s.rqs[b].top.llcID
}

// smtMask is the threads of c's core, c among them; cpu_smt_mask(). Nobody changes it.
func (s *Sched) smtMask(c event.CPU) cpuMask { return s.rqs[c].smt }

// nodeOf is the NUMA node of c; cpu_to_node().
func (s *Sched) nodeOf(c event.CPU) int { return at(s.cfg.Topology.Node, c, 0) }

// name is what the kernel calls the level of sd in debugfs.
func (s *Sched) domainName(sd *schedDomain) string {
	switch sd.level {
	case levelSMT:
		return "SMT"
	case levelMC:
		return "MC"
	case levelPKG:
		if s.cfg.Fair.DomainDIE {
			return "DIE"
		}
		return "PKG"
	}
	return "NUMA"
}
