// Package workload says what tasks do, in the operations that rt-app knows: work, sleep,
// timers, locks, conditions, barriers, semaphores, fork.
//
//  1. A Spec lists tasks with phases of operations; package scenario fills it from a file.
//  2. Load puts it on a machine as one process: a main thread that creates the others, as
//     rt-app does, lets them run for Spec.Duration and cancels them.
//  3. Each thread is a machine.Program. One operation is one step, so that whoever a wake
//     or an unlock makes runnable can preempt before the next one.
//  4. Locks with priority inheritance raise their holders along chains through sched.Boost,
//     and hand over to the waiter that goes first; the others behave as futexes do. There
//     are priority ceilings, robust mutexes and spinlocks of the kernel too.
//  5. A task with memory of its own is a process. It ends with its loops, at a given time or
//     by a signal, in the order of the kernel's do_exit() (exit.go), and gives its memory
//     back in steps in which the machine finds the kernel's preemption points (teardown.go).
//
// Semantics are those of rt-app as of 2026-05 (doc/tutorial.txt and its source). Where they
// are surprising they are kept: runtime counts time that the task did not run, and a signal
// that nobody waits for is lost. Not kept is one: a thread that is cancelled while it waits
// for a condition goes without taking the mutex again, where glibc would let it die with
// the mutex and the next one hang. What the kernel's work for tasks takes is in Costs; what
// work in memory and of devices takes is the business of package scenario.
//
// Integer nanoseconds only; nothing is random but what Spec.Seed fixes.
package workload
