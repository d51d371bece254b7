// Package truth keeps what the model knows and no trace tells: who held each CPU at every
// instant and by which rule, what lay over it, which runqueues and deadline tasks were
// throttled, when an exit really began, when a sleep timer was due and who carried it out,
// how each task waited, where it might have run, and the looks of the load balancer that could
// have ended its wait.
//
//  1. Whoever runs the model tells a Log what happens, from the state of the scheduler
//     itself and not from its events.
//  2. Afterwards the Log answers for any instant or stretch of a CPU, and lists the waits.
//
// These are facts without a word about causes: package cause cannot see them, and tests
// score its answers against them.
//
// Memory grows with the length of the run: this is for tests and experiments, not for the
// way from a scenario to its explanation. The looks of the balancer are bounded by KeepPasses.
package truth
