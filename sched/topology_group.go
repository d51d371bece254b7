package sched

import "github.com/whylate/whylate/event"

// nextWrap walks over a set from start on, once around; for_each_cpu_wrap(). It begins with c NoCPU.
func (m cpuMask) nextWrap(c, start event.CPU) event.CPU {
	if c == event.NoCPU {
		if c = m.next(start); c == event.NoCPU {
			c = m.first()
		}
		return c
	}
	wrapped := c < start
	if c = m.next(c + 1); c == event.NoCPU && !wrapped {
		c = m.first()
		wrapped = true
	}
	if wrapped && c >= start {
		return event.NoCPU
	}
	return c
}

// add makes all CPUs of o members.
func (m cpuMask) add(o cpuMask) {
	for i, w := range o {
		m[i] |= w
	}
}

// linkGroups links the groups of a domain in which no CPU is in two, as c sees it;
// build_sched_groups(). All CPUs of the domain have the same groups, each begins with its own; a kernel links
// them for one after the other, so that the order of the last one stays.
func (b *domainBuilder) linkGroups(l int, c event.CPU) {
	sd := b.domains[l][c]
	clear(b.covered)
	var ring groupRing
	for i := sd.span.nextWrap(event.NoCPU, c); i != event.NoCPU; i = sd.span.nextWrap(i, c) {
		if b.covered.has(i) {
			continue
		}
		g := b.group(l, i)
		b.covered.add(g.cpus)
		ring.add(g)
	}
}

// groupRing is a ring of groups that grows behind its last one.
type groupRing struct{ first, last *schedGroup }

func (r *groupRing) add(g *schedGroup) {
	if r.first == nil {
		r.first, r.last = g, g
	}
	r.last.next, g.next, r.last = g, r.first, g
}

// group is that of CPU c in the level: the domain below it, or c alone; get_group().
func (b *domainBuilder) group(l int, c event.CPU) *schedGroup {
	child := b.domains[l][c].child
	if child != nil {
		c = child.span.first()
	}
	if g := b.groups[l][c]; g != nil {
		return g
	}
	g := &schedGroup{}
	if child != nil {
		g.cpus = child.span
		g.below(child.flags)
	} else {
		g.cpus = newMask(b.s.cfg.CPUs)
		g.cpus.set(c)
	}
	g.balanceMask = g.cpus
	g.capacity = b.capacityAt(l, c)
	b.groups[l][c] = g
	return g
}

// below says what the domain below is of which g is the span; 0: there is none.
func (g *schedGroup) below(flags domainFlags) { g.flags, g.smt = flags, flags&sdShareCPUCapacity != 0 }

func (b *domainBuilder) capacityAt(l int, c event.CPU) *groupCapacity {
	if b.capacity[l][c] == nil {
		b.capacity[l][c] = &groupCapacity{}
	}
	return b.capacity[l][c]
}

// buildOverlapGroups makes the groups of a domain of nodes, of which some may be in several. Each CPU
// has groups of its own, only their capacities are shared; build_overlap_sched_groups().
func (b *domainBuilder) buildOverlapGroups(l int, c event.CPU) {
	sd := b.domains[l][c]
	clear(b.covered)
	var ring groupRing
	for i := sd.span.nextWrap(event.NoCPU, c); i != event.NoCPU; i = sd.span.nextWrap(i, c) {
		at := l
		// Whose chain ends below has a domain with all CPUs already.
		if b.covered.has(i) || b.domains[at][i] == nil {
			continue
		}
		if child := b.domains[at][i].child; child != nil && !sd.span.contains(child.span) {
			at = b.descend(sd, at, i)
		}
		g := b.overlapGroup(at, i)
		b.covered.add(g.cpus)
		ring.add(g)
	}
	sd.groups = ring.first
}

// descend finds the level at which the group of c stays within sd, without levels that add nothing;
// find_descended_sibling().
func (b *domainBuilder) descend(sd *schedDomain, l int, c event.CPU) int {
	for l > 0 && !sd.span.contains(b.domains[l-1][c].span) {
		l--
	}
	for l > 0 && b.domains[l-1][c].span.equal(b.domains[l][c].span) {
		l--
	}
	return l
}

// overlapGroup is a group of a domain of nodes: what is below the domain of c in level l. Only those
// may balance for it who have the same group there, not those that it overlaps with.
func (b *domainBuilder) overlapGroup(l int, c event.CPU) *schedGroup {
	sd := b.domains[l][c]
	g := &schedGroup{cpus: sd.span}
	if sd.child != nil {
		g.cpus = sd.child.span
		g.below(sd.child.flags)
	}
	g.balanceMask = newMask(b.s.cfg.CPUs)
	for i := g.cpus.first(); i != event.NoCPU; i = g.cpus.next(i + 1) {
		if o := b.domains[l][i]; o != nil && o.child != nil && o.child.span.equal(g.cpus) {
			g.balanceMask.set(i)
		}
	}
	if g.balanceMask.empty() {
		g.balanceMask.set(c) // distances that are not symmetric
	}
	g.capacity = b.capacityAt(l, g.balanceMask.first())
	return g
}

// initGroups says how many CPUs and cores the groups of sd have and what these give;
// init_sched_groups_capacity().
func (s *Sched) initGroups(sd *schedDomain) {
	g := sd.groups
	for {
		if g.weight == 0 {
			g.weight, g.cores = g.cpus.count(), s.coresOf(g.cpus)
			s.initCapacity(g)
		}
		if g = g.next; g == sd.groups {
			return
		}
	}
}

// coresOf counts the cores with CPUs in m.
func (s *Sched) coresOf(m cpuMask) int {
	n := 0
	for c := m.first(); c != event.NoCPU; c = m.next(c + 1) {
		if m.nextAnd(s.rqs[c].smt, 0) == c {
			n++
		}
	}
	return n
}

// initCapacity is what the CPUs of g give while nothing but fair tasks runs.
func (s *Sched) initCapacity(g *schedGroup) {
	k := g.capacity
	*k = groupCapacity{minCapacity: 1 << 62, imbalance: k.imbalance}
	for c := g.cpus.first(); c != event.NoCPU; c = g.cpus.next(c + 1) {
		own := s.capacityOrig(c)
		k.capacity += own
		k.minCapacity, k.maxCapacity = min(k.minCapacity, own), max(k.maxCapacity, own)
	}
}
