package cases

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// TestHistogramOfSchbench: percentiles are those that the program prints of the same samples: worked out by hand
// from its rules, µs one by one below 512, then the middle of one of 256 buckets for each power of two; the
// first bucket with which at least the share of all is reached.
func TestHistogramOfSchbench(t *testing.T) {
	for _, c := range []struct {
		us   []int64
		of   int64
		want int64
	}{
		{[]int64{26}, 500, 26},
		{[]int64{1, 2, 3, 4}, 500, 2},
		{[]int64{1, 2, 3, 4}, 501, 3},
		{[]int64{511}, 990, 511},
		{[]int64{512}, 990, 513},     // 512 and 513 are one bucket
		{[]int64{513}, 990, 513},     //
		{[]int64{887}, 990, 887},     // 886 and 887
		{[]int64{7289}, 990, 7288},   // 7280 to 7295 is a bucket of 16
		{[]int64{10840}, 999, 10832}, // 10816 to 10847 is one of 32
		// 13344 to 13375 is another
		{[]int64{5, 13374}, 1000, 13360},
	} {
		var h histogram
		for _, us := range c.us {
			h.add(us)
		}
		if got := h.percentile(c.of); got != c.want {
			t.Errorf("%v at %d of 1,000: %d, want %d", c.us, c.of, got, c.want)
		}
	}
	// What was published are values that this histogram can print.
	for _, row := range published[:7] {
		for _, us := range row {
			var h histogram
			if h.add(int64(us)); h.percentile(500) != int64(us) {
				t.Errorf("%d is printed as %d", us, h.percentile(500))
			}
		}
	}
}

// TestChoicesThatMiss: of passes of an idle CPU while a task waits elsewhere in the domain; a busy CPU's passes do
// not count, nor those while nobody waits.
func TestChoicesThatMiss(t *testing.T) {
	two := []event.CPU{0, 1}
	pass := func(idle, running, busiest int, source event.CPU, queues ...sched.BalanceQueue) *sched.BalancePass {
		return &sched.BalancePass{Source: source, Busiest: busiest, Queues: queues, Groups: []sched.BalanceGroup{
			{CPUs: two, Local: true, Idle: idle, Running: 2 - idle}, {CPUs: two, Running: running}, {CPUs: two, Running: 2}}}
	}
	q := func(c event.CPU, running int) sched.BalanceQueue { return sched.BalanceQueue{CPU: c, Running: running} }
	judged := func(p *sched.BalancePass, wrong bool) *sched.BalancePass {
		p.Judged, p.Wrong = true, wrong
		return p
	}
	took := pass(1, 3, 1, 2, q(2, 2), q(3, 1))
	took.Moved = make([]*sched.Task, 1)
	for _, c := range []struct {
		name string
		pass *sched.BalancePass
		want choices
	}{
		{"nobody waits", pass(1, 2, -1, event.NoCPU), choices{}},
		{"busy", pass(0, 3, -1, event.NoCPU), choices{}},
		{"none chosen", pass(1, 3, -1, event.NoCPU), choices{passes: 1, group: 1}},
		{"its CPU chosen, and it was taken", took, choices{passes: 1, took: 1}},
		{"its CPU chosen, in vain", pass(1, 3, 1, 2, q(2, 2), q(3, 1)), choices{passes: 1, hot: 1}},
		{"the other CPU of its group chosen", pass(1, 3, 1, 3, q(2, 2), q(3, 1)), choices{passes: 1, queue: 1}},
		{"the other group chosen", pass(1, 3, 2, 4, q(4, 1), q(5, 1)), choices{passes: 1, group: 1}},
		{"true loads would have shown it", judged(pass(1, 3, 2, 4, q(4, 1), q(5, 1)), true), choices{passes: 1, group: 1, judged: 1, misled: 1}},
		{"true loads would have shown another that does not help", judged(pass(1, 3, 2, 4, q(4, 1), q(5, 1)), false), choices{passes: 1, group: 1, judged: 1}},
	} {
		var got choices
		if got.see(c.pass); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
