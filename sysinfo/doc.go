// Package sysinfo is the snapshot of a machine at the time of a recording: what events do not
// tell and verdicts and replays depend on.
//
//  1. Snapshot has the settings, the scheduler's features, the CPUs and how they share things,
//     the tasks with policy and affinity, the control groups and the interrupts;
//  2. Read takes its JSON, schema whylate.sysinfo/1, and Write makes it: the same snapshot
//     gives the same bytes;
//  3. it lies inside a trace.dat as an option that other readers pass over (package tracedat
//     puts what Pack made there), or beside a trace as FILE.sysinfo.json;
//  4. Of asks a source of events for the one that belongs to it.
//
// The form and where on a Linux machine every field comes from is told in docs/sysinfo.md.
// The package reads no machine: that is a recorder's work.
package sysinfo
