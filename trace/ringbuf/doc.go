// Package ringbuf walks and makes the pages of the kernel's trace ring buffer as trace.dat
// files, per_cpu/cpuN/trace_pipe_raw and perf's tracing data carry them.
//
//  1. Layout says how the recording kernel laid a page out (its header_page file): where
//     the length stands, how wide it is, and which end comes first;
//  2. Page.Reset checks the head of one page: base time, length, loss flags;
//  3. Page.Next hands out one record after the other and keeps its time;
//  4. Builder is the way back, for writers: records and their times become a page.
//
// Facts: the kernel's Documentation/trace/ring-buffer-map.rst and
// ring-buffer-design.rst, and the header_event file, which names the four special
// record types. Times are the clock's own units: the package converts nothing.
//
// It does not know what the records mean (trace/eventformat) and reads no file.
package ringbuf
