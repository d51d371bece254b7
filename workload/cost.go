package workload

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// Costs is what the kernel does for tasks, in ns of work in kernel mode. The zero Costs is
// free.
type Costs struct {
	Exit     event.Time // do_exit() beside the memory: files, signals, the news to the parent
	ExitMM   event.Time // giving back an address space without anything in it
	ExitVMA  event.Time // each piece of it
	ExitPage event.Time // unmapping each page
	ExitFree event.Time // giving each page back to the allocator
	// ExitDrain is how much of that is left for the end with DrainsAtOnce, at most: the CPU's
	// lists hold no more, whatever the size of the memory.
	ExitDrain event.Time
	CoreMB    event.Time // writing each MiB of a core dump
	Fault     event.Time // a page that is touched for the first time
	Touch     event.Time // work in user mode between two such pages
	Fork      event.Time // fork() of a process, without its exec
	Exec      event.Time // execve() in the child
	Futex     event.Time // a futex call that reaches the kernel
}

// TypicalCosts are round figures of a server processor of about 3 GHz: 0.1 ms for each MiB
// of memory in pages of 4 KiB that is given back, as measured natively with the reproducer
// of 2016; at the end a stretch with interrupts off that took 3.9 ms under emulation, where
// a MiB took 0.56; the others in the order of magnitude that is common. They are no measurement of
// anybody's machine.
func TypicalCosts() Costs {
	return Costs{Exit: 30_000, ExitMM: 40_000, ExitVMA: 500, ExitPage: 200, ExitFree: 200, ExitDrain: 700_000, CoreMB: 500_000,
		Fault: 500, Touch: 500, Fork: 100_000, Exec: 300_000}
}

// Scale is a factor; the zero Scale is one.
type Scale struct{ millionths int64 } // less one million

// ScaleOf returns the factor n millionths; n is not negative.
func ScaleOf(n int64) Scale { return Scale{n - million} }

const million = 1_000_000

// Of returns the scaled time, rounded down; what is not positive stays as it is.
func (s Scale) Of(ns event.Time) event.Time {
	if s.millionths == 0 || ns <= 0 {
		return ns
	}
	hi, lo := bits.Mul64(uint64(ns), uint64(s.millionths+million))
	if hi >= million {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, million)
	return event.Time(min(q, 1<<63-1))
}

// Times returns the factor s·t.
func (s Scale) Times(t Scale) Scale {
	return Scale{int64(t.Of(event.Time(s.millionths+million))) - million}
}

// pages is how long n pages take at a cost each; no scenario has so many that it overflows.
func pages(n int64, each event.Time) event.Time { return event.Time(n) * each }
