// Package whatif tells what would be, and what has become, of the waits of a recording.
//
//  1. Condition is the grammar of what users demand of waits; ParseBudget reads a file of
//     them.
//  2. Gate asks conditions of one trace and says for each whether it holds, and whether
//     enough was recorded for that to mean anything.
//  3. Diff compares two traces, or two sets of them: task by task and cause by cause, with
//     tests. Its conditions may also be about the change.
//
// Waits of one trace are not independent of each other: what is tested are stretches of a
// trace, or whole traces where there are several.
package whatif
