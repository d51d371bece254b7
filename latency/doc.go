// Package latency finds how long tasks wait for a CPU.
//
//  1. Tracker follows the events beside a timeline.Tracker and hands out each Wait as it
//     ends: from the wake, or from the switch-out of a task that could have gone on, to the
//     switch to it. What is a wait and when it starts is told in docs/definitions.md.
//  2. Series collects the lengths of waits and gives nearest-rank percentiles: exact up to
//     10⁶ samples, from a histogram with at most 1 % error beyond.
//  3. Buckets is a linear histogram for those who know cyclictest and rtla.
//
// Wakeup waits and preemption waits are separate series everywhere. A wait across lost
// events is handed out, marked: its length is an upper bound and belongs in no series.
//
// Not here: why a wait was long (package cause). Times are nanoseconds.
package latency
