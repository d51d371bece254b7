// Package machine is the hardware under the scheduler model: CPUs that execute tasks,
// timers, interrupts between CPUs, and ticks.
//
//  1. Run takes the next item from the engine's queue and moves the clock there.
//  2. An item is the end of a stretch of work, a timer, an interrupt from another CPU, or a
//     tick. Its handler changes tasks and asks package sched what follows.
//  3. When all that happens at this nanosecond on a CPU is done, the CPU schedules if it
//     should and may, and goes on with its current task.
//
// What a task does is a Program: asked for its next step, it acts on the machine (wakes
// others, changes its attributes) and says what comes: run, sleep, block, yield, exit.
//
// Machine implements sched.Host and hands every event to a sink, in the order in which a
// kernel's tracepoints would record them. It prices the work that the scheduler counts:
// with the zero Costs everything but a task's own work takes no time.
//
// Not modelled yet: interrupts of devices, softirqs, idle states, time stolen by a
// hypervisor. A sleep timer expires on the CPU that armed it.
package machine
