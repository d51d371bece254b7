package sched

import (
	"math/big"
	"math/bits"

	"github.com/whylate/whylate/event"
)

// The constants of per-entity load tracking. A signal is a geometric series over periods of
// 1024 units of 1024 ns: what happened 32 periods ago counts half.
const (
	peltUnit    = 10   // ns of a unit, as a shift
	peltPeriod  = 1024 // units of a period
	peltHalving = 32   // LOAD_AVG_PERIOD: periods until a contribution has halved

	// loadAvgMax is the sum of a signal that was always there; LOAD_AVG_MAX. The real series
	// tends to 47788, rounding down at every step leaves this.
	loadAvgMax = 47742
	// peltMinDivider is that sum at the beginning of a period; PELT_MIN_DIVIDER.
	peltMinDivider = loadAvgMax - peltPeriod

	// capacityShift is SCHED_CAPACITY_SHIFT: a CPU at its highest speed has a capacity of 1024.
	capacityShift = 10
	capacityScale = 1 << capacityShift
)

// peltInverse is y^n for n below 32, as a share of 2³² − 1, rounded down;
// runnable_avg_yN_inv. y is the 32nd root of a half.
var peltInverse = peltPowers()

// peltPowers takes the 32nd root of (2³² − 1)³² / 2ⁿ, as a square root five times: rounding down
// between them does not change the result.
func peltPowers() (table [peltHalving]uint64) {
	one := new(big.Int).Exp(big.NewInt(1<<32-1), big.NewInt(peltHalving), nil)
	for n := range table {
		x := new(big.Int).Rsh(one, uint(n))
		for range bits.TrailingZeros(peltHalving) {
			x.Sqrt(x)
		}
		table[n] = x.Uint64()
	}
	return table
}

// schedAvg is what is tracked of an entity, a cfs_rq or a class; struct sched_avg. A sum
// decays with every period; the average is the sum's share of what it could be.
type schedAvg struct {
	lastUpdateTime event.Time // a multiple of 1024 ns away from the first update; 0: not attached
	loadSum        uint64     // of an entity without its weight, up to 4.11 with it
	runnableSum    uint64
	utilSum        uint32
	periodContrib  uint32 // units of the current period

	loadAvg     uint64
	runnableAvg uint64
	utilAvg     uint64
	utilEst     utilEst
}

// utilEst is struct util_est: what a task uses when it runs.
type utilEst struct {
	enqueued uint32 // its utilisation when it last slept, with utilAvgUnchanged; of a cfs_rq the sum
	ewma     uint32 // the same, smoothed
}

// utilAvgUnchanged is UTIL_AVG_UNCHANGED: utilAvg has not changed since the task was enqueued.
const utilAvgUnchanged uint32 = 1 << 31

// decayLoad is val·yⁿ, rounded down; decay_load(). After 63 halvings it is nothing.
func decayLoad(val, n uint64) uint64 {
	if n > peltHalving*63 {
		return 0
	}
	if n >= peltHalving {
		val >>= n / peltHalving
		n %= peltHalving
	}
	hi, lo := bits.Mul64(val, peltInverse[n])
	return hi<<32 | lo>>32
}

// accumulatePeltSegments is what a signal of 1 contributes from d1 units before the end of a
// period until d3 units after the beginning of the last of periods further ones;
// __accumulate_pelt_segments().
func accumulatePeltSegments(periods uint64, d1, d3 uint32) uint32 {
	full := loadAvgMax - uint32(decayLoad(loadAvgMax, periods)) - peltPeriod
	return uint32(decayLoad(uint64(d1), periods)) + full + d3
}

// accumulateSum adds delta units of the given signals to the sums and returns how many
// periods ended; accumulate_sum(), 6.1.
func (sa *schedAvg) accumulateSum(delta, load, runnable uint64, running bool) (periods uint64) {
	contrib := uint32(delta)
	delta += uint64(sa.periodContrib)
	if periods = delta / peltPeriod; periods > 0 {
		sa.loadSum = decayLoad(sa.loadSum, periods)
		sa.runnableSum = decayLoad(sa.runnableSum, periods)
		sa.utilSum = uint32(decayLoad(uint64(sa.utilSum), periods))
		delta %= peltPeriod
		if load > 0 {
			contrib = accumulatePeltSegments(periods, peltPeriod-sa.periodContrib, uint32(delta))
		}
	}
	sa.periodContrib = uint32(delta)
	sa.loadSum += load * uint64(contrib)
	sa.runnableSum += runnable * uint64(contrib) << capacityShift
	if running {
		sa.utilSum += contrib << capacityShift
	}
	return periods
}

// updateLoadSum brings the sums to now and returns how many periods ended; while it is none
// the averages stay. A signal that is not runnable does not run either.
// ___update_load_sum(), 6.1.
func (sa *schedAvg) updateLoadSum(now event.Time, load, runnable uint64, running bool) (periods uint64) {
	delta := now - sa.lastUpdateTime
	if delta < 0 {
		sa.lastUpdateTime = now
		return 0
	}
	if delta >>= peltUnit; delta == 0 {
		return 0
	}
	sa.lastUpdateTime += delta << peltUnit
	if load == 0 {
		runnable, running = 0, false
	}
	return sa.accumulateSum(uint64(delta), load, runnable, running)
}

// peltDivider is what a sum can be at this place in the period; get_pelt_divider(). With the
// whole of LOAD_AVG_MAX what is left of the period would count as idle.
func (sa *schedAvg) peltDivider() uint64 { return peltMinDivider + uint64(sa.periodContrib) }

// updateLoadAvg makes the averages of the sums; ___update_load_avg(), 6.1. weight is that of
// an entity, 1 for a cfs_rq, whose sums have the weights of its entities in them.
func (sa *schedAvg) updateLoadAvg(weight uint64) {
	divider := sa.peltDivider()
	sa.loadAvg = weight * sa.loadSum / divider
	sa.runnableAvg = sa.runnableSum / divider
	sa.utilAvg = uint64(sa.utilSum) / divider
}
