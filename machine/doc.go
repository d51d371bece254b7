// Package machine is the hardware under the scheduler model: CPUs that execute tasks,
// timers, interrupts between CPUs, and ticks.
//
//  1. RunUntil takes what is due next from the engine's queue and moves the clock there.
//     Work that ends at one moment ends before anything follows from it; timers and ticks
//     of one moment are one interrupt.
//  2. An interrupt is served by its CPU as soon as that has its interrupts on (irq.go). Its
//     handler changes tasks and asks package sched what follows. Those of devices (line.go)
//     take time, in interrupt context or in a thread, and devices (device.go) raise them
//     again until a request is done.
//  3. When all that happens at this nanosecond is done, each CPU that was asked to look
//     serves what waits, schedules if it should and the preemption model lets it, and goes
//     on with its current thread (cpu.go).
//
// What a thread does is a Program: asked for its next step, it acts on the machine (wakes
// others, changes its attributes) and says what comes: run, sleep, block, yield, exit.
// Work has a Mode: user mode, kernel mode, preemption off, interrupts off.
//
// Machine implements sched.Host and hands every event to a sink, in the order in which a
// kernel's tracepoints would record them, with the flags and the preemption depth that a
// recorded kernel shows. Costs price the work that the scheduler counts; with the zero Costs
// everything but a thread's own work takes no time.
//
// Not modelled: softirqs, idle states beyond one cost of leaving them, time stolen by a hypervisor. A timer expires
// on the CPU that armed it. All CPUs tick at the same time.
package machine
