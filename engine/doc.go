// Package engine is the clockwork of the model: a queue of things that will happen, in
// integer nanoseconds, and seeded streams of random numbers.
//
//  1. Push puts an item into the queue; it gets a Handle, with which it can be taken out
//     again before it happens (timers are cancelled far more often than they expire).
//  2. Pop returns the next item in the order (time, rank, sequence): what is due first; of
//     what is due at the same nanosecond the lower rank; of equal rank what was pushed
//     first. So two runs of one scenario are the same to the byte.
//
// Nothing is allocated per item once the queue has grown to its depth. The package knows
// nothing of CPUs or tasks: an item carries two numbers that its owner understands.
package engine
