// Package eventformat turns raw records of the kernel's ring buffer into events, with the
// descriptions that the kernel gives of them (events/*/*/format), and events into records.
//
//  1. Set.Add takes a format file, notes name and id; it is parsed in full only when a
//     record of that event turns up, since a trace describes up to 2,000 of them;
//  2. Decoder binds the fields that event.Kind needs to offsets, widths and signs of the
//     format: nothing about a layout is built in, kernels move fields at will;
//  3. Decoder.Decode fills an event.Event from a record and allocates nothing for names
//     it has seen;
//  4. prev_state is evaluated with the expression in sched_switch's own print format;
//  5. Symbols (kallsyms) and Strings (printk_formats) name functions and messages;
//  6. AppendFields prints any record as name=value pairs;
//  7. Encoder is the way back, for writers: events become records, and the formats,
//     functions and constant texts that such records need.
//
// Facts: the kernel's Documentation/trace/events.rst ("Event formats") and ftrace.rst.
//
// It does not read files or pages (trace/tracedat, trace/perfdata, trace/ringbuf), and it
// knows no kernel version: what the bits of common_flags mean, which no format describes,
// is told to it (CommonBits).
package eventformat
