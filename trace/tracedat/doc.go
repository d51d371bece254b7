// Package tracedat reads trace.dat, the file of trace-cmd, versions 6 and 7, and writes
// version 6, which every reader opens.
//
//  1. Open reads the head: formats of the events, names, options, and for each ring
//     buffer where the data of its CPUs lies; kallsyms stay in the file until a stream
//     needs them;
//  2. Events starts one goroutine per CPU that reads and decompresses ahead by a bounded
//     amount; what it hands over does not depend on timing;
//  3. package ringbuf walks the pages, package eventformat turns records into events;
//  4. the stream merges the CPUs by (time, CPU) and puts a Gap where events were lost;
//  5. Writer is the way back: it fills pages by CPU, keeps them in a temporary file, and
//     writes head and pages when all is known.
//
// Facts: trace-cmd's manual pages trace-cmd.dat.v6(5) and v7(5), and files written by
// several versions of it, by a 32-bit kernel and by other people's changed versions.
// Times are those that "trace-cmd report -t" prints: the options DATE, OFFSET and
// TSC2NSEC are applied; the options of host and guest synchronisation are not.
//
// Damaged files: what cannot be understood at all is a *event.FormatError; a cut or
// damaged page costs its events, a Gap and a Diagnostic.
package tracedat
