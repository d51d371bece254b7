// Package ftracetext reads and writes scheduling traces as text: what tracefs shows in
// trace and trace_pipe, what `trace-cmd report` and `perf script` print, and the latency
// format of the wakeup tracers.
//
// A file is read in these steps:
//
//  1. Sniff says whether the first bytes look like one of the layouts;
//  2. Open reads the header comments: the legend of the flag columns, the number of
//     CPUs, whether the buffer was overwritten, the facts of a latency trace;
//  3. for each line, prefix.go, latency.go or perfscript.go find task, CPU, flags and
//     time; then one decoder per event fills the fields (decode_*.go), from the kernel's
//     own key=value print or from the other text that libtraceevent's plugins make of it;
//  4. a small window puts lines into the order of their stamps; lines with the same stamp
//     keep the order of the file, which at microsecond resolution is all that is known;
//  5. lost events become events of kind Gap in front of the first line after them.
//
// AppendEvent writes one event as one line that reads back as the same event, AppendFlags
// the flag columns of a layout.
//
// The columns are those of the header's legend where there is one, else inferred from
// their width, with a diagnostic. What a line does not say is never guessed: a timer's
// hidden address is NoArg, a line that no layout explains is counted and shown.
//
// Not read: function_graph output without absolute time (it has no stamps).
package ftracetext
