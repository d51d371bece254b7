// Package timeline turns events into the state of every task and CPU.
//
//  1. Tracker follows the stream event by event and knows at each moment who is
//     current on each CPU and what each task was last seen doing. It checks every
//     sched_switch against the one before it; where the chain is broken it says from
//     when on the CPU cannot be trusted, repairs its own state and goes on.
//  2. Index keeps what a second look needs: runs, interrupts, softirqs, timer
//     expiries, priority changes, marks of exiting tasks, and gaps, in order of time.
//
// A task is a pid from its creation to its end: a reused pid is another Task. The idle
// task is one Task per CPU. Names change while a task runs, so sums go by Task.
//
// Not here: what a wait is (package latency) and why it was long (package cause).
package timeline
