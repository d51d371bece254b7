// Package explain runs the passes over a trace and fills the public results: it is where
// the rooms from event to cause meet the rooms that print.
//
//  1. The first pass follows all events and builds the index that explanations look
//     things up in (timeline.Builder, cause.New).
//  2. The second pass finds the waits again, one after the other, explains each at once,
//     adds it to the row of its task and keeps it if it belongs to the late ones. Waits
//     are never all in memory.
//  3. Where evidence is wanted, a third pass picks the event lines.
//
// Latency needs the first pass only, and no index. The package decides which waits are
// told and in which order; it does not decide why a task was late.
package explain
