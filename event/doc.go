// Package event is the one event model of whylate: what a Linux kernel's
// tracepoints say about scheduling, in the order in which they happened.
//
// A real trace and the scheduler model produce the same values of this package,
// so that nothing downstream can tell which of them it reads:
//
//  1. a reader (trace/tracedat, trace/ftracetext, …) or the model fills one
//     Event at a time and hands it out through a Stream;
//  2. lost events are part of the stream: an Event of kind Gap says on which CPU,
//     from when to when, and how many;
//  3. timeline, latency and cause consume the stream and never look at a format.
//
// The package knows no kernel version. What differs between versions (bit values of
// prev_state, flag bits, field offsets) is resolved by the readers, with the format
// descriptions that the trace itself carries.
//
// All times are nanoseconds of the trace's own clock.
package event
