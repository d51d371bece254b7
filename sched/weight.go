package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// Weights are kept as 64-bit kernels keep them: the numbers that users know, shifted by
// weightShift.
const (
	weightShift       = 10 // SCHED_FIXEDPOINT_SHIFT
	nice0Load   int64 = 1024 << weightShift
	idleWeight  int64 = 3 // WEIGHT_IDLEPRIO
	minShares   int64 = 2 << weightShift
	maxShares   int64 = 1 << 18 << weightShift
)

// niceWeights are the weights of nice −20 to 19; sched_prio_to_weight. They are facts of the
// kernel's interface: about 1.25 from one to the next, but rounded by hand, so that no
// formula gives them.
var niceWeights = [40]int64{
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
	1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
	110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
}

// loadWeight is load_weight: a weight and its inverse of 1 << 32.
type loadWeight struct {
	weight  int64 // shifted by weightShift
	inverse uint32
}

// weightOf is the weight of a task; set_load_weight().
func weightOf(a *Attr) loadWeight {
	w := idleWeight
	if a.Policy != Idle {
		w = niceWeights[a.Nice+20]
	}
	return loadWeight{w << weightShift, taskInverse(w)}
}

// taskInverse is the inverse of the weight of a task, to the nearest but for those that the
// kernel's table has cut off; sched_prio_to_wmult.
func taskInverse(w int64) uint32 {
	inverse := uint32((1<<32 + uint64(w)/2) / uint64(w))
	switch w {
	case 56, 45, 29, 23: // nice 13, 14, 16, 17
		inverse--
	}
	return inverse
}

// scaleLoadDown is scale_load_down() from 5.7 on: no weight becomes less than 2 by it.
func scaleLoadDown(weight int64) uint64 {
	if weight == 0 {
		return 0
	}
	return uint64(max(2, weight>>weightShift))
}

// scaleDown is scale_load_down() of the kernel at hand.
func (s *Sched) scaleDown(weight int64) int64 {
	if s.cfg.Fair.WeightsToZero {
		return weight >> weightShift
	}
	return int64(scaleLoadDown(weight))
}

// groupWeight is the weight of a queue or a group, whose inverse is cut off;
// __update_inv_weight(). A weight of 0 has the greatest inverse.
func (s *Sched) groupWeight(weight int64) loadWeight {
	w := s.scaleDown(weight)
	switch {
	case w <= 0:
		return loadWeight{weight, 1<<32 - 1}
	case w >= 1<<32-1:
		return loadWeight{weight, 1}
	}
	return loadWeight{weight, uint32((1<<32 - 1) / uint64(w))}
}

// calcDelta returns delta × weight / w.weight, as computed by the kernel.
func (s *Sched) calcDelta(delta, weight int64, w *loadWeight) int64 {
	return calcDelta(delta, s.scaleDown(weight), w)
}

// calcDelta returns delta × fact / w as __calc_delta() computes it: by the inverse of w, with
// what does not fit into 32 bits cut off. fact is scaled down.
func calcDelta(delta, scaled int64, w *loadWeight) int64 {
	fact, shift := uint64(scaled), 32
	cut := func() {
		if n := bits.Len64(fact >> 32); n > 0 {
			fact >>= n
			shift -= n
		}
	}
	cut()
	fact *= uint64(w.inverse)
	cut()
	hi, lo := bits.Mul64(uint64(delta), fact)
	return int64(hi<<(64-shift) | lo>>shift)
}

// calcDeltaFair returns what delta ns of run time are for se in virtual time;
// calc_delta_fair().
func calcDeltaFair(delta event.Time, se *schedEntity) int64 {
	if se.load.weight == nice0Load {
		return int64(delta)
	}
	return calcDelta(int64(delta), nice0Load>>weightShift, &se.load)
}

// NiceShares returns the weight that nice gives, to a task or to the group of a session: 1024 at
// nice 0; what cpu.weight.nice means. Values beyond −20 to 19 are taken for these.
func NiceShares(nice int) int64 { return niceWeights[min(max(nice, -20), 19)+20] }
