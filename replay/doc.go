// Package replay makes a load of a recorded trace and lets the model of the scheduler run it.
//
//  1. Read makes a Load of a trace: which task worked how long between which waits, and what
//     ended each of its sleeps. Every guess is counted as an Assumption.
//  2. Load.Run lets the model run it, free from what the kernel decided (free-running), and
//     returns the waits of the run beside those of the recording.
//  3. Force follows the recorded kernel decision by decision and asks the model at each what
//     it would have chosen (history-forced).
//  4. Load.Change changes one thing; the run of that is a prediction.
//
// Integer nanoseconds only: the same trace and the same changes give the same bytes.
package replay
