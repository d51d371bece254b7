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
//  3. Softirqs (softirq.go) run in interrupt context in front of the task, or in a thread:
//     ksoftirqd/N, ktimers/N (softirqd.go), that of the handler that raised them.
//  4. When all that happens at this nanosecond is done, each CPU that was asked to look
//     serves what waits, schedules if it should and the preemption model lets it, and goes
//     on with its current thread (cpu.go), or enters an idle state (idle.go).
//
// What a thread does is a Program: asked for its next step, it acts on the machine (wakes
// others, changes its attributes) and says what comes: run, sleep, block, yield, exit.
// Work has a Mode: user mode, kernel mode, preemption off, interrupts off, softirqs off.
//
// A recorded load says when its interrupts came (scripted.go), when its CPUs stood still
// (StealAt), what migration/N did (AddStopper), and what a wake took to the switch
// (handover.go); Sched.StartRTPeriod and SetRTUsed say where the throttling stood.
//
// What lies over the current task of a CPU is its Layer: an interrupt, softirqs, the
// machine's own work, a hypervisor. Together with tasks and idleness the layers are all of
// the time.
//
// Machine implements sched.Host and hands every event to a sink, in the order in which a
// kernel's tracepoints would record them, with the flags and the preemption depth that a
// recorded kernel shows. Costs price the work that the scheduler counts; with the zero Costs
// everything but a thread's own work and that of interrupts takes no time.
//
// Not modelled: the timer wheel, RCU and load balancing, and so their softirqs; the lock
// that softirqs off are on PREEMPT_RT; priorities among interrupts. A timer expires on the
// CPU that armed it. All CPUs tick at the same time.
package machine
