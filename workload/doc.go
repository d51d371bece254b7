// Package workload says what tasks do, in the operations that rt-app knows: work, sleep,
// timers, locks, conditions, barriers, semaphores, fork.
//
//  1. A Spec lists tasks with phases of operations; package scenario fills it from a file.
//  2. Load puts it on a machine as one process: a main thread that creates the others, as
//     rt-app does, lets them run for Spec.Duration and cancels them.
//  3. Each thread is a machine.Program. One operation is one step, so that whoever a wake
//     or an unlock makes runnable can preempt before the next one.
//  4. Locks with priority inheritance raise their holders along chains through sched.Boost,
//     and hand over to the waiter that goes first; the others behave as futexes do.
//
// Semantics are those of rt-app as of 2026-05 (doc/tutorial.txt and its source). Where they
// are surprising they are kept: runtime counts time that the task did not run, and a signal
// that nobody waits for is lost. Not kept is one: a thread that is cancelled while it waits
// for a condition goes without taking the mutex again, where glibc would let it die with
// the mutex and the next one hang. What memory and devices cost is the business of package
// scenario: here all work is time.
//
// Integer nanoseconds only; nothing is random but what Spec.Seed fixes.
package workload
