package sched

import "github.com/whylate/whylate/event"

// This file has where an entity of EEVDF comes to stand: with the lag and the deadline that it
// had when it left.

// Reweight is what a change of its weight does to an entity that is queued.
type Reweight uint8

// The ways, by kernel.
const (
	ReweightKeepsLag Reweight = iota // lag and deadline are kept in real time; 6.7 to 6.12
	ReweightDeadline                 // only what is left of the slice is; 6.6
	ReweightPlaces                   // it leaves and comes again; from 6.13 on
)

// placeEEVDF is place_entity() of EEVDF. Who comes with a lag moves V, so that the lag would be
// less then; it is enlarged for that.
func (s *Sched) placeEEVDF(cfs *cfsRQ, se *schedEntity, f flags) {
	v := s.avgVruntime(cfs)
	if !se.customSlice {
		se.slice = s.cfg.Fair.BaseSlice
	}
	vslice := calcDeltaFair(se.slice, se)
	lag := int64(0)
	if s.has(PlaceLag) && cfs.nrRunning > 0 {
		_, load := cfs.sums()
		load = max(load, 1)
		lag = se.vlag * (load + se.scaledWeight()) / load
	}
	se.vruntime = v - lag
	if s.has(PlaceRelDeadline) && se.relDeadline {
		se.deadline += se.vruntime
		se.relDeadline = false
		return
	}
	if s.has(PlaceDeadlineInitial) && f&flagInitial != 0 && !s.cfg.Fair.InitialAtFork {
		vslice /= 2 // the others are somewhere in their slices, too
	}
	se.deadline = se.vruntime + vslice
}

// The bounds of a slice that a task asks for.
const (
	leastSlice event.Time = 100_000
	mostSlice  event.Time = 100_000_000
)

// setSlice gives p the slice that its attributes ask for; __setparam_fair().
func (s *Sched) setSlice(p *Task) {
	a, se := &p.Attr, &p.se
	switch {
	case a.Policy != Normal && a.Policy != Batch && a.Policy != Idle:
	case s.cfg.Fair.CustomSlices && a.Slice > 0:
		se.slice, se.customSlice = min(max(a.Slice, leastSlice), mostSlice), true
	default:
		se.slice, se.customSlice = s.cfg.Fair.BaseSlice, false
	}
}

// leaveEEVDF is what dequeue_entity() does to lag and deadline: who comes back at once, or
// elsewhere, keeps what is left of its slice.
func (s *Sched) leaveEEVDF(cfs *cfsRQ, se *schedEntity, f flags) {
	s.updateEntityLag(cfs, se)
	if s.has(PlaceRelDeadline) && f&flagSleep == 0 {
		se.deadline -= se.vruntime
		se.relDeadline = true
	}
}

// reweightEEVDF gives se the virtual times that it has with another weight, and takes it off the
// timeline; reweight_entity(), reweight_eevdf(). The caller has charged what runs, sets the
// weight, and puts se back.
func (s *Sched) reweightEEVDF(cfs *cfsRQ, se *schedEntity, weight int64) {
	old := se.load.weight
	if !se.onRQ {
		se.vlag = se.vlag * old / weight
		if se.relDeadline && s.cfg.Fair.Reweight == ReweightPlaces {
			se.deadline = se.deadline * old / weight
		}
		return
	}
	v := s.avgVruntime(cfs)
	if s.cfg.Fair.Reweight == ReweightPlaces {
		s.reweightAnew(cfs, se, weight)
		return
	}
	if cfs.curr != se {
		s.dequeueTimeline(cfs, se)
	}
	if s.cfg.Fair.Reweight == ReweightDeadline {
		se.deadline = se.vruntime + (se.deadline-se.vruntime)*old/weight
		return
	}
	if v != se.vruntime {
		se.vruntime = v - s.entityLag(se, v)*old/weight
	}
	se.deadline = v + (se.deadline-v)*old/weight
}

// reweightAnew lets se leave and come again with its new weight.
func (s *Sched) reweightAnew(cfs *cfsRQ, se *schedEntity, weight int64) {
	old := se.load
	s.updateEntityLag(cfs, se)
	se.deadline -= se.vruntime
	se.relDeadline = true
	if cfs.curr != se {
		s.dequeueTimeline(cfs, se)
	}
	se.vlag = se.vlag * old.weight / weight
	se.deadline = se.deadline * old.weight / weight
	cfs.nrRunning--
	se.load = s.groupWeight(weight)
	s.placeEEVDF(cfs, se, 0)
	se.load = old
	cfs.nrRunning++
}
