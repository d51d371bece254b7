// Package report prints the structs of package result for people.
//
// It computes nothing: no threshold, no classification and no choice of what matters
// is made here. What package result holds is laid out in this order:
//
//  1. Explain: one line about the input, then the answer. Tasks come in the order of
//     their worst late wait in Explain.Late, each with its percentiles, what its
//     waiting was made of, and its late waits with causes, verdicts and what would
//     settle them. Waits of one task with the same main kind and culprit print once,
//     with how many more there are; the JSON never groups. Remaining tasks, on
//     request, are a table. Diagnostics come last, lost events first.
//  2. Latency: a table with a row per task (or group), wakeup waits first, preemption
//     waits below, deadline and real-time tasks on top.
//  3. HistCyclictest and HistRTLA: the histograms in the layouts of cyclictest -h
//     (rt-tests 2.4) and of rtla timerlat hist (6.1), so that the scripts that people
//     have for those keep working.
//  4. Info: what a trace holds, which verdicts its events allow, and what to record.
//
// Lengths of time print in µs with one decimal and a space between thousands
// ("11 020.3 µs"); Options.Nano prints whole ns without spaces. The unit never changes
// with the size of the number, so columns compare at a glance and grep finds them.
//
// Names, messages and commands come from traces, which may be hostile: control and
// invisible characters are escaped before they reach a terminal.
package report
