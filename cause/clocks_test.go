package cause

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// collected returns the clocks of an index with the given expiries on two CPUs.
func collected(expiries ...timeline.Expiry) *clocks {
	x := &timeline.Index{CPUs: make([]timeline.CPUIndex, 2)}
	for i, e := range expiries {
		x.CPUs[i%2].Expiries = append(x.CPUs[i%2].Expiries, e)
	}
	var c clocks
	c.collect(x)
	return &c
}

func expiry(at event.Time, ahead int64, hard bool) timeline.Expiry {
	return timeline.Expiry{At: at, Now: int64(at) + ahead, Hard: hard}
}

// TestOffsetIsTheMaximumWithinASecond: now is read once per interrupt and the event stamped
// later, so each difference is too small. Softirq expiries and those further away than a
// second do not count; each clock is its own.
func TestOffsetIsTheMaximumWithinASecond(t *testing.T) {
	const s, far = event.Time(1_000_000_000), int64(800_000_000_000)
	for _, c := range []struct {
		name  string
		list  []timeline.Expiry
		at    timeline.Expiry
		want  int64
		known bool
	}{
		{"the largest", []timeline.Expiry{expiry(10*s, 500, true), expiry(10*s+5, 900, true), expiry(10*s+9, 100, true)}, expiry(10*s, 500, true), 900, true},
		{"a second before and after", []timeline.Expiry{expiry(9*s, 900, true), expiry(11*s, 950, true), expiry(10*s, 1, true)}, expiry(10*s, 1, true), 950, true},
		{"a ns further away", []timeline.Expiry{expiry(9*s-1, 900, true), expiry(11*s+1, 950, true), expiry(10*s, 1, true)}, expiry(10*s, 1, true), 1, true},
		{"softirqs", []timeline.Expiry{expiry(10*s, 900, false), expiry(10*s, 1, true)}, expiry(10*s, 900, false), 1, true},
		{"another clock", []timeline.Expiry{expiry(10*s, far, true), expiry(10*s, 1, true)}, expiry(10*s, 1, true), 1, true},
		{"that other clock", []timeline.Expiry{expiry(10*s, far, true), expiry(10*s, 1, true)}, expiry(10*s, far-7, true), far, true},
		{"nothing near", []timeline.Expiry{expiry(10*s, 1, true)}, expiry(20*s, 1, true), 0, false},
		{"no expiry at all", nil, expiry(20*s, 1, true), 0, false},
		{"a trace that does not tell now", []timeline.Expiry{expiry(10*s, 1, true)}, timeline.Expiry{At: 10 * s, Now: event.NoArg}, 0, false},
	} {
		got, ok := collected(c.list...).offset(c.at)
		if got != c.want || ok != c.known {
			t.Errorf("%s: %d %v, want %d %v", c.name, got, ok, c.want, c.known)
		}
	}
}

// TestOffsetOfManySamples: the look-up by blocks finds what a walk over all samples does.
func TestOffsetOfManySamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []timeline.Expiry
		now := event.Time(0)
		for range rapid.IntRange(1, 2000).Draw(t, "expiries") {
			now += event.Time(rapid.SampledFrom([]int64{0, 1, 100_000, 4_000_000, 300_000_000}).Draw(t, "ns"))
			list = append(list, expiry(now, rapid.Int64Range(0, 100_000).Draw(t, "ahead"), true))
		}
		c := collected(list...)
		for range 20 {
			e := rapid.SampledFrom(list).Draw(t, "expiry")
			var want int64
			for _, s := range list {
				if s.At >= e.At-around && s.At <= e.At+around {
					want = max(want, s.Now-int64(s.At))
				}
			}
			if got, ok := c.offset(e); got != want || !ok {
				t.Fatalf("at %d: %d %v, want %d", e.At, got, ok, want)
			}
		}
	})
}

// TestTickIsWhatMostDistancesFit: a late tick makes one distance too long and the next one
// too short; HZ is 1000, 300, 250 or 100.
func TestTickIsWhatMostDistancesFit(t *testing.T) {
	const ms = event.Time(1_000_000)
	names := event.NewNames()
	tick := names.Intern("tick_nohz_handler")
	for _, c := range []struct {
		name string
		now  []event.Time
		want event.Time
	}{
		{"250", []event.Time{0, 4 * ms, 8 * ms, 12 * ms}, 4 * ms},
		{"250, one late by 3 ms", []event.Time{0, 4 * ms, 11 * ms, 12 * ms, 16 * ms, 20 * ms}, 4 * ms},
		{"1000", []event.Time{0, ms, 2 * ms}, ms},
		{"300", []event.Time{0, 3_333_333, 6_666_666}, 3_333_333},
		{"100", []event.Time{0, 10 * ms, 20 * ms, 40 * ms}, 10 * ms},
		{"ticks stopped most of the time", []event.Time{0, 400 * ms, 404 * ms, 900 * ms}, 4 * ms},
		{"none fits", []event.Time{0, 400 * ms}, 4 * ms}, // what the facts say
		{"none", nil, 4 * ms},
	} {
		x := &timeline.Index{Names: names, CPUs: make([]timeline.CPUIndex, 1)}
		x.Facts.Tick = int64(4 * ms)
		for _, now := range c.now {
			x.CPUs[0].Expiries = append(x.CPUs[0].Expiries, timeline.Expiry{At: now, Now: int64(now), Func: tick, Hard: true})
		}
		a := &Analysis{x: x}
		if got := a.findTick(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
