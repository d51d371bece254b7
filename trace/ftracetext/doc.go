// Package ftracetext reads and writes scheduling traces as text: what tracefs shows in
// trace and trace_pipe, what `trace-cmd report` and `perf script` print, and the latency
// format of the wakeup tracers.
//
// A file is read in these steps:
//
//  1. Sniff says whether the first bytes look like one of the layouts;
//  2. Open reads the header comments: the legend of the flag columns, the number of
//     CPUs, whether the buffer was overwritten, the facts of a latency trace;
//  3. for each line, prefix.go or perfscript.go find task, CPU, flags and time; then one
//     decoder per event fills the fields (decode_*.go), from the kernel's own key=value
//     print or from the other text that libtraceevent's plugins make of it;
//  4. a small window puts lines into the order of their stamps; lines with the same stamp
//     keep the order of the file, which at microsecond resolution is all that is known;
//  5. lost events become events of kind Gap in front of the first line after them.
//
// AppendEvent writes one event as one line that reads back as the same event, AppendFlags
// the flag columns of a layout, Writer a whole trace with the header that readers expect.
//
// The layouts, each with what tells it from the others:
//
//	a-1       [002] d.h2.   812.000100: sched_waking: comm=…      tracefs
//	a-1       (    1) [002] d.h2.   812.000100: sched_waking: …   with record-tgid
//	a-1         2d.h4    1us#: try_to_wake_up <-wake_up_process   latency format
//	a-1       [003]   117.100003: sched_wakeup:   b:2 [120] …     trace-cmd report
//	a-1       [003]   117.100003: sched_wakeup:   comm=b pid=2 …  trace-cmd report -R
//	a-1         3d.h4   117.100003: sched_wakeup: b:2 [120] …     trace-cmd report -l
//	a     1/1 [001]   108.582100:   sched:sched_waking: comm=…    perf script
//
// The columns are those of the header's legend where there is one, else inferred from
// their width, with a diagnostic. What a line does not say is never guessed: a timer's
// hidden address is NoArg, a line that no layout explains is counted and shown.
//
// Diagnostics: lost_events; inferred (columns without a legend); flags (columns that do
// not fit); clock (stamps without a unit); unknown_line, unknown_fields (with the first
// of them); wrapped_line (a marker's text with line ends); long_line; no_cpu;
// out_of_order (beyond the window: taken as of the stamp before); text_cut (texts that take too much memory).
//
// Facts: the print formats in include/trace/events and kernel/trace/trace_output.c from
// 3.4 to 6.18, the manual pages trace-cmd-report(1) and perf-script(1), and texts that
// these tools printed of known recordings.
//
// Not read: function_graph output without absolute time (it has no stamps), the tables
// that perf sched makes, the blocks of `trace-cmd report` for several instances.
package ftracetext
