// Package cause says why a wait was as long as it was: intervals that sum to its
// lateness to the nanosecond, each with a kind, a culprit, a verdict and the events
// that show it.
//
//  1. New looks over the whole Index once for what is a state of a runqueue and not of
//     a task: windows of RT throttling, of the fair server, of a group without quota;
//     and for the offset between the timers' clocks and the trace's clock.
//  2. Explain cuts a wait into pieces in which nothing changes on the CPU where the
//     task was queued, and asks the kinds one after the other, in the order of the
//     definitions: gap, hard interrupt, softirq, state of the runqueue, what the
//     current task is, idle. The first that holds names the piece.
//  3. What lies before the wake, from the moment at which the wake was due, is
//     late_wakeup and is looked at as a wait of whoever should have acted.
//
// Each kind is one file that carries its own evidence rule in the comment of its
// variable; docs/causes.md is made from these comments.
//
// Not here: the model. This package works on a real trace and on one that the model
// made, and cannot tell which it has.
package cause
