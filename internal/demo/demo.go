// Package demo holds one recorded trace, so that whoever installed only the program has
// something to explain.
//
// It is a real recording of Debian's 6.1.0-50-rt-amd64 on one CPU, made in a virtual
// machine with trace-cmd 3.1.6 (events sched, irq, signal, task, timer:hrtimer_*): three
// real-time tasks, of which burn22 never sleeps, under the default settings
// sched_rt_runtime_us=950000 and sched_rt_period_us=1000000. 2.2 s after the start real-time throttling
// takes the whole class off the CPU, and hi25, the task with the highest priority, waits
// 39,844.0 µs beside an idle CPU.
//
// The file was converted to version 6 and its symbol table cut down to the four timer
// functions that occur; `trace-cmd report -t` prints the same bytes for it as for the
// original of 939 kB.
package demo

import (
	"bytes"
	_ "embed" // the trace
	"fmt"
	"io"

	"github.com/ulikunitz/xz"
)

// Task is the task that ran late in the trace.
const Task = "hi25"

//go:embed throttle.dat.xz
var compressed []byte

// Trace returns the trace.dat.
func Trace() (io.Reader, error) {
	r, err := xz.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("unpacking the built-in trace: %w", err)
	}
	return r, nil
}
