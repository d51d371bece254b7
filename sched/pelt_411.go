package sched

import "github.com/whylate/whylate/event"

// Load tracking as it was up to 4.11. What differs: the weight is in an entity's sum; the
// divider is LOAD_AVG_MAX wherever in the period the update comes; time that is no whole unit
// is lost at every update; full periods add what a table says, rounded down; and a cfs_rq has
// a second load, of those that are runnable.

// peltSums is what n full periods add, 1024·(y + … + yⁿ), rounded down with every period;
// runnable_avg_yN_sum.
var peltSums = peltPartialSums()

func peltPartialSums() (table [peltHalving + 1]uint64) {
	for n := 1; n < len(table); n++ {
		table[n] = decayLoad(table[n-1]+peltPeriod, 1)
	}
	return table
}

// peltAllPeriods is LOAD_AVG_MAX_N: after so many periods a sum is LOAD_AVG_MAX.
const peltAllPeriods = 345

// computeRunnableContrib is what n full periods add; __compute_runnable_contrib(), 4.10.
func computeRunnableContrib(n uint64) uint64 {
	switch {
	case n <= peltHalving:
		return peltSums[n]
	case n >= peltAllPeriods:
		return loadAvgMax
	}
	var contrib uint64
	for ; n > peltHalving; n -= peltHalving {
		contrib = contrib/2 + peltSums[peltHalving]
	}
	return decayLoad(contrib, n) + peltSums[n]
}

// runnableLoad is the load of what is runnable in a cfs_rq: runnable_load_sum and
// runnable_load_avg, up to 4.14 beside avg.
type runnableLoad struct {
	sum, avg uint64
}

// updateLoad411 brings sums to now, and the averages where a period ended; it returns how many
// did. weight is 0 for who is not runnable; runnable is nil but for a cfs_rq.
// __update_load_avg(), 4.10, at full capacity and speed.
func (sa *schedAvg) updateLoad411(now event.Time, weight uint64, running bool, runnable *runnableLoad) (periods uint64) {
	delta := now - sa.lastUpdateTime
	if delta < 0 {
		sa.lastUpdateTime = now
		return 0
	}
	if delta >>= peltUnit; delta == 0 {
		return 0
	}
	sa.lastUpdateTime = now

	units := uint64(delta)
	if units+uint64(sa.periodContrib) >= peltPeriod {
		first := peltPeriod - uint64(sa.periodContrib)
		sa.add411(first, weight, running, runnable)
		units -= first
		full := units / peltPeriod
		units %= peltPeriod
		periods = full + 1
		sa.loadSum = decayLoad(sa.loadSum, periods)
		sa.utilSum = uint32(decayLoad(uint64(sa.utilSum), periods))
		if runnable != nil {
			runnable.sum = decayLoad(runnable.sum, periods)
		}
		sa.add411(computeRunnableContrib(full), weight, running, runnable)
		sa.periodContrib = 0
	}
	sa.add411(units, weight, running, runnable)
	sa.periodContrib += uint32(units)
	if periods > 0 {
		sa.loadAvg = sa.loadSum / loadAvgMax
		sa.utilAvg = uint64(sa.utilSum) / loadAvgMax
		if runnable != nil {
			runnable.avg = runnable.sum / loadAvgMax
		}
	}
	return periods
}

// add411 adds a contribution to the sums.
func (sa *schedAvg) add411(contrib, weight uint64, running bool, runnable *runnableLoad) {
	sa.loadSum += weight * contrib
	if runnable != nil {
		runnable.sum += weight * contrib
	}
	if running {
		sa.utilSum += uint32(contrib) << capacityShift
	}
}
