package sched

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
)

// peltRef is the recurrence told anew, in big integers: periods are walked one by one to see
// what lies in each, and rounding is only where a kernel rounds.
type peltRef struct {
	inverse [32]*big.Int // the largest x with x³²·2ⁿ ≤ (2³² − 1)³²
	limit   *big.Int     // what the sum of a full signal tends to
	after   int          // so many periods
}

func newPeltRef() *peltRef {
	r := &peltRef{}
	one := new(big.Int).Exp(big.NewInt(1<<32-1), big.NewInt(32), nil)
	for n := range r.inverse {
		lo, hi := int64(0), int64(1)<<32 // lo fits, hi does not
		for hi-lo > 1 {
			x := lo + (hi-lo)/2
			p := new(big.Int).Exp(big.NewInt(x), big.NewInt(32), nil)
			if p.Lsh(p, uint(n)).Cmp(one) <= 0 {
				lo = x
			} else {
				hi = x
			}
		}
		r.inverse[n] = big.NewInt(lo)
	}
	for before := big.NewInt(0); ; before = r.limit {
		r.limit = new(big.Int).Add(r.decay(before, 1), big.NewInt(1024))
		if r.limit.Cmp(before) == 0 {
			return r
		}
		r.after++
	}
}

func (r *peltRef) decay(v *big.Int, n int64) *big.Int {
	switch {
	case n == 0:
		return v
	case n > 32*63:
		return new(big.Int)
	}
	x := new(big.Int).Rsh(v, uint(n/32))
	return x.Rsh(x.Mul(x, r.inverse[n%32]), 32)
}

// split returns how many units of an update lie in the period that it begins in, how many
// periods end in it, and how many units lie in the last, if that is another one.
func split(place, units int64) (first, ended, last int64) {
	for at := place; units > 0; {
		step := min(units, 1024-at)
		if ended == 0 {
			first = step
		} else {
			last = step
		}
		units -= step
		if at += step; at == 1024 {
			at, last = 0, 0
			ended++
		}
	}
	return first, ended, last
}

// contribution of a full signal to a sum, by the rules from 4.12 on.
func (r *peltRef) contribution(first, ended, last int64) *big.Int {
	if ended == 0 {
		return big.NewInt(first)
	}
	c := r.decay(big.NewInt(first), ended)
	// the periods between: all there can be, without what is older and without the last
	c.Add(c, r.limit)
	c.Sub(c, r.decay(r.limit, ended))
	return c.Add(c.Sub(c, big.NewInt(1024)), big.NewInt(last))
}

// contribution411 is that up to 4.11, as two parts since only the first decays with the sum.
func (r *peltRef) contribution411(ended int64) *big.Int {
	steps := func(n int64) *big.Int {
		s := new(big.Int)
		for range n {
			s = r.decay(s.Add(s, big.NewInt(1024)), 1)
		}
		return s
	}
	full := ended - 1
	switch {
	case full <= 32:
		return steps(full)
	case full >= 345:
		return r.limit
	}
	// whole halvings, then what is left
	var c = new(big.Int)
	left := full
	for ; left > 32; left -= 32 {
		c.Rsh(c, 1)
		c.Add(c, steps(32))
	}
	return new(big.Int).Add(r.decay(c, left), steps(left))
}

// peltStep is a stretch of a history: so long, with these signals.
type peltStep struct {
	ns             event.Time
	load, runnable uint64
	running        bool
}

func drawPeltStep(t *rapid.T) peltStep {
	scale := rapid.SampledFrom([]event.Time{3_000, 400_000, 5_000_000, 90_000_000, 4_000_000_000}).Draw(t, "scale")
	s := peltStep{ns: event.Time(rapid.Int64Range(0, int64(scale)).Draw(t, "ns"))}
	if rapid.Bool().Draw(t, "on") {
		s.load = rapid.SampledFrom([]uint64{1, 3, 15, 1024, 88761, 88761 * 40}).Draw(t, "load")
		s.runnable = rapid.Uint64Range(0, 40).Draw(t, "runnable")
		s.running = rapid.Bool().Draw(t, "running")
	}
	return s
}

func mul(a *big.Int, b uint64) *big.Int { return new(big.Int).Mul(a, new(big.Int).SetUint64(b)) }

// TestLoadTrackingConstants: LOAD_AVG_MAX is what the recurrence runs to, y³² is a half.
func TestLoadTrackingConstants(t *testing.T) {
	r := newPeltRef()
	if r.limit.Int64() != loadAvgMax {
		t.Errorf("the recurrence runs to %d, LOAD_AVG_MAX is %d", r.limit, loadAvgMax)
	}
	for n, x := range r.inverse {
		if x.Uint64() != peltInverse[n] {
			t.Errorf("y^%d is %#x, the table has %#x", n, x, peltInverse[n])
		}
	}
	if got := decayLoad(1<<40, 32); got != 1<<39-1<<7 {
		t.Errorf("32 periods leave %d of %d", got, uint64(1)<<40)
	}
	// The kernel counts from a sum of one period, and from 0.
	if r.after-2 != peltAllPeriods {
		t.Errorf("the recurrence gets there in %d periods, LOAD_AVG_MAX_N is %d", r.after-2, peltAllPeriods)
	}
}

// TestLoadTrackingEqualsTheRecurrence over random histories: every sum and average, bit for bit.
func TestLoadTrackingEqualsTheRecurrence(t *testing.T) {
	r := newPeltRef()
	rapid.Check(t, func(t *rapid.T) {
		var sa schedAvg
		now := event.Time(rapid.Int64Range(1, 1<<40).Draw(t, "start"))
		sa.lastUpdateTime = now
		last, place := now, int64(0)
		load, runnable, util := new(big.Int), new(big.Int), new(big.Int)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step := drawPeltStep(t)
			now += step.ns
			periods := sa.updateLoadSum(now, step.load, step.runnable, step.running)

			units := int64((now - last) / 1024)
			last += event.Time(units) * 1024
			first, ended, rest := split(place, units)
			place = (place + units) % 1024
			c := r.contribution(first, ended, rest)
			grow := func(sum, by *big.Int) *big.Int { return new(big.Int).Add(r.decay(sum, ended), by) }
			load = grow(load, mul(c, step.load))
			runnable = grow(runnable, mul(c, step.runnable<<10))
			ran := new(big.Int)
			if step.running {
				ran.Lsh(c, 10)
			}
			util = grow(util, ran)

			if uint64(ended) != periods || load.Uint64() != sa.loadSum || runnable.Uint64() != sa.runnableSum || util.Uint64() != uint64(sa.utilSum) {
				t.Fatalf("%d periods, sums %d %d %d; the recurrence has %d, %d %d %d",
					periods, sa.loadSum, sa.runnableSum, sa.utilSum, ended, load, runnable, util)
			}
			if ended == 0 {
				continue
			}
			sa.updateLoadAvg(5)
			most := big.NewInt(r.limit.Int64() - 1024 + place)
			avg := func(sum *big.Int) uint64 { return new(big.Int).Quo(sum, most).Uint64() }
			if avg(mul(load, 5)) != sa.loadAvg || avg(runnable) != sa.runnableAvg || avg(util) != sa.utilAvg {
				t.Fatalf("averages %d %d %d of sums %d %d %d at place %d", sa.loadAvg, sa.runnableAvg, sa.utilAvg, load, runnable, util, place)
			}
		}
	})
}

// TestLoadTracking411EqualsTheRecurrence is the same for the rules up to 4.11.
func TestLoadTracking411EqualsTheRecurrence(t *testing.T) {
	r := newPeltRef()
	rapid.Check(t, func(t *rapid.T) {
		var sa schedAvg
		var queued runnableLoad
		now := event.Time(rapid.Int64Range(1, 1<<40).Draw(t, "start"))
		sa.lastUpdateTime = now
		last, place := now, int64(0)
		load, util := new(big.Int), new(big.Int)
		var loadAvg, utilAvg uint64
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step := drawPeltStep(t)
			now += step.ns
			periods := sa.updateLoad411(now, step.load, step.running, &queued)

			units := int64((now - last) / 1024)
			if units > 0 {
				last = now // what is left of a unit is lost
			}
			first, ended, rest := split(place, units)
			place = (place + units) % 1024
			grow := func(sum *big.Int, weight uint64) *big.Int {
				if ended == 0 {
					return new(big.Int).Add(sum, mul(big.NewInt(first), weight))
				}
				s := r.decay(new(big.Int).Add(sum, mul(big.NewInt(first), weight)), ended)
				s.Add(s, mul(r.contribution411(ended), weight))
				return s.Add(s, mul(big.NewInt(rest), weight))
			}
			load = grow(load, step.load)
			if step.running {
				util = grow(util, 1024)
			} else {
				util = grow(util, 0)
			}
			if ended > 0 {
				loadAvg = new(big.Int).Quo(load, r.limit).Uint64()
				utilAvg = new(big.Int).Quo(util, r.limit).Uint64()
			}
			if uint64(ended) != periods || load.Uint64() != sa.loadSum || util.Uint64() != uint64(sa.utilSum) ||
				loadAvg != sa.loadAvg || utilAvg != sa.utilAvg {
				t.Fatalf("%d periods, sums %d %d, averages %d %d; the recurrence has %d, %d %d, %d %d",
					periods, sa.loadSum, sa.utilSum, sa.loadAvg, sa.utilAvg, ended, load, util, loadAvg, utilAvg)
			}
			if queued.sum != sa.loadSum || queued.avg != sa.loadAvg {
				t.Fatalf("the load of who is queued is %d, %d, all of it %d, %d", queued.sum, queued.avg, sa.loadSum, sa.loadAvg)
			}
		}
	})
}

// TestLoadTrackingFollowsTheRealSeries: after any history the averages are within 0.2 % of
// full scale of the series in real numbers, which no step rounds. Up to 4.11 a signal that was
// there for more than 345 periods without an update is counted as one more period, so that such
// stretches are left out there.
func TestLoadTrackingFollowsTheRealSeries(t *testing.T) {
	y := math.Pow(0.5, 1.0/32)
	rapid.Check(t, func(t *rapid.T) {
		var sa, old schedAvg
		sa.lastUpdateTime, old.lastUpdateTime = 1, 1
		now, place := event.Time(1), int64(0)
		var util, load float64
		jumped := now - 10_000_000_000
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			step := drawPeltStep(t)
			step.ns &^= 1023 // whole units: what is lost of one is no matter of the series
			if step.load > 0 {
				step.load = 1
			}
			now += step.ns
			periods := sa.updateLoadSum(now, step.load, step.load, step.running)
			if old.updateLoad411(now, step.load*1024, step.running, nil) > peltAllPeriods {
				jumped = now
			}
			for units := int64(step.ns / 1024); units > 0; {
				n := min(units, 1024-place)
				load += float64(n) * float64(step.load)
				if step.running {
					util += float64(n)
				}
				units -= n
				if place += n; place == 1024 {
					place, util, load = 0, util*y, load*y
				}
			}
			if periods == 0 {
				continue
			}
			sa.updateLoadAvg(1024)
			most := 1024/(1-y) - 1024 + float64(place)
			const bar = 0.002 * 1024
			near := func(what string, got uint64, want float64) {
				if math.Abs(float64(got)-want) > bar {
					t.Fatalf("%s is %d, the series has %.3f", what, got, want)
				}
			}
			near("util_avg", sa.utilAvg, 1024*util/most)
			near("load_avg", sa.loadAvg, 1024*load/most)
			near("runnable_avg", sa.runnableAvg, 1024*load/most)
			if now-jumped >= 400_000_000 { // what was too much has gone by then
				near("util_avg of 4.11", old.utilAvg, util*(1-y))
				near("load_avg of 4.11", old.loadAvg, load*(1-y))
			}
		}
	})
}

// TestTimeThatGoesBackIsForgotten: clocks of CPUs differ, so a task can be behind its time.
func TestTimeThatGoesBackIsForgotten(t *testing.T) {
	sa := schedAvg{lastUpdateTime: 5000, loadSum: 7}
	if sa.updateLoadSum(3000, 1, 1, true) != 0 || sa.lastUpdateTime != 3000 || sa.loadSum != 7 {
		t.Errorf("%+v", sa)
	}
	old := schedAvg{lastUpdateTime: 5000, loadSum: 7}
	if old.updateLoad411(3000, 1, true, nil) != 0 || old.lastUpdateTime != 3000 || old.loadSum != 7 {
		t.Errorf("%+v", old)
	}
}

func BenchmarkUpdateLoad(b *testing.B) {
	for _, c := range []struct {
		name string
		step event.Time
	}{{"same-period", 20_000}, {"tick", 4_000_000}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			sa := schedAvg{lastUpdateTime: 1}
			now := event.Time(1)
			for b.Loop() {
				now += c.step
				if sa.updateLoadSum(now, 1, 1, true) > 0 {
					sa.updateLoadAvg(1024)
				}
			}
		})
	}
}
