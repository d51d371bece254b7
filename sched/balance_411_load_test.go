package sched

import (
	"math"
	"testing"

	"github.com/whylate/whylate/event"
)

// The table of decays is what the formula of the mean says, in 128ths.
func TestDecayOfMissedTicks(t *testing.T) {
	for i := 1; i < cpuLoads; i++ {
		for j := range decayTable[i] {
			want := int64(128 * math.Pow(1-math.Pow(2, -float64(i)), math.Pow(2, float64(j))))
			if i == 1 && j > 2 {
				want = 0 // shifted, the table has no say
			}
			if got := decayTable[i][j]; got != want {
				t.Errorf("index %d, %d ticks: %d of 128, the formula says %d", i, 1<<j, got, want)
			}
		}
	}
	for _, tt := range []struct{ load, n, i, want int64 }{
		{1024, 0, 3, 1024}, {1024, 3, 1, 128}, {1024, 8, 1, 0},
		{1024, 1, 2, 768}, {1024, 3, 2, 432}, // 1024·96/128 = 768, 768·72/128 = 432
		{1024, 31, 2, 0}, {1024, 32, 2, 0}, {1024, 64, 3, 0}, {1024, 127, 4, 0}, {1024, 64, 4, 16},
	} {
		if got := decayLoadMissed(tt.load, tt.n, int(tt.i)); got != tt.want {
			t.Errorf("%d after %d ticks at index %d: %d, want %d", tt.load, tt.n, tt.i, got, tt.want)
		}
	}
}

// Ticks one by one, and the same load for many ticks at once: the mean of the doc comment of
// update_cpu_load, by hand.
func TestCPULoadAtTicks(t *testing.T) {
	rq := &RQ{}
	rq.updateCPULoad(1000, 1)
	// From 0: index 1 (0·1 + 1000 + 1)/2 = 500, 2 (1000 + 3)/4 = 250, 3 (1000 + 7)/8 = 125, 4 (1000 + 15)/16 = 63.
	if rq.cpuLoad != [cpuLoads]int64{1000, 500, 250, 125, 63} {
		t.Errorf("after a tick with 1000: %v", rq.cpuLoad)
	}
	rq.updateCPULoad(1000, 1)
	// index 1 (500 + 1001)/2 = 750, 2 (750 + 1003)/4 = 438, 3 (875 + 1007)/8 = 235, 4 (945 + 1015)/16 = 122.
	if rq.cpuLoad != [cpuLoads]int64{1000, 750, 438, 235, 122} {
		t.Errorf("after two ticks with 1000: %v", rq.cpuLoad)
	}
	for range 200 {
		rq.updateCPULoad(1000, 1)
	}
	if rq.cpuLoad != [cpuLoads]int64{1000, 1000, 1000, 1000, 1000} {
		t.Errorf("it does not get to the load: %v", rq.cpuLoad)
	}
	rq.cpuLoad[0] = 0 // it goes idle and its ticks stop
	rq.updateCPULoad(600, 3)
	// Two idle ticks, then one with 600: index 1 1000>>2 = 250, (250 + 601)/2 = 425; index 2
	// 1000·72>>7 = 562, (562·3 + 603)/4 = 572; index 3 1000·98>>7 = 765, (765·7 + 600)/8 = 744;
	// index 4 1000·112>>7 = 875, (875·15 + 600)/16 = 857.
	if rq.cpuLoad != [cpuLoads]int64{600, 425, 572, 744, 857} {
		t.Errorf("after two idle ticks and one with 600: %v", rq.cpuLoad)
	}
	rq = &RQ{cpuLoad: [cpuLoads]int64{800, 400, 200, 100, 50}}
	rq.updateCPULoad(800, 10)
	// Busy without ticks: old − decayed(old) of the load that it was taken to have. Index 1, 8 ticks and
	// more decay to 0: (0 + 800 − 0 + 800)/2 = 800. Index 2, 9 ticks = 8+1: 200·96>>7 = 150·12>>7 = 14;
	// 800 → 600 → 56; 14 + 800 − 56 = 758; (758·3 + 803)/4 = 769.
	if rq.cpuLoad[1] != 800 || rq.cpuLoad[2] != 769 {
		t.Errorf("after ten ticks that were left out: %v", rq.cpuLoad)
	}
}

// What real-time tasks leave, 4.11, with half of every 10 ms for one. On paper: if u is what is remembered just
// after it was halved, then after the next half second u = (u + 250 ms)/2, so it comes to 250 ms: half of
// the 500 ms that it is of, and 250 ms + x/2 of 500 ms + x in between.
func TestWhatRealTimeTasksLeave411(t *testing.T) {
	s := newCore411(t)
	rq := s.rqs[0]
	from := s.host.Now()
	rq.rtAvg.since = from
	for i := range event.Time(800) {
		rq.clock = from + i*10_000_000
		s.chargeRTAvg(rq, 5_000_000)
		if i < 600 {
			continue
		}
		if got := s.scaleRTCapacity411(rq); got < 500 || got > 526 {
			t.Fatalf("after %d ms with half of the time %d are left", i*10, got)
		}
	}
	if got := s.updateCPUCapacity(0); got < 287 || got > 303 {
		t.Errorf("a thread has %d left of 589", got)
	}
	rq.rtAvg.forget(rq.clock + 3600_000_000_000)
	rq.clock += 3600_000_000_000
	if got := s.scaleRTCapacity411(rq); got != 1024 || rq.clock-rq.rtAvg.since > rtAvgPeriod {
		t.Errorf("an hour later %d are left, forgotten up to %d before", got, rq.clock-rq.rtAvg.since)
	}
}
