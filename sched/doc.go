// Package sched is the scheduler model. It mirrors kernel/sched: runqueues, the classes
// stop, deadline, real-time, fair and idle in one package, under the kernel's names.
//
//  1. The machine calls TryToWakeUp, Schedule, SchedulerTick, TimerExpired and the
//     setters, each at the moment that Host.Now tells.
//  2. The classes change their queues and say through Host.Resched which CPU should
//     schedule, through Host.SetTimer when they want to be called again, and through
//     Host.Emit what a kernel's tracepoints would say.
//  3. Every operation counts the work that it did; what that costs is the machine's
//     business. With zero costs the model reproduces what is proven on paper.
//
// The behaviour is that of 6.1 and 6.12. Where the two differ, or a configuration decides,
// Config names it; where they differ in corners that no trace shows, 6.12 was taken. What
// departs from the kernel on purpose is told at the place, and together in docs/model.md.
//
// State is integers only: no time but Host.Now, no input or output, no randomness, no
// floating point. Nothing is allocated in an operation once the queues have grown. Check
// finds broken rules; tests call it after everything that happens.
//
// The fair class goes by the rules of CFS or of EEVDF, as FairConfig says; so do the places of its
// tasks and the balancing between CPUs (place_fair.go, balance.go).
package sched
