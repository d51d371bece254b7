// Package whatif tells what would be, and what has become, of the waits of a recording.
//
//  1. Condition is the grammar of what users demand of waits; ParseBudget reads a file of
//     them.
//  2. Gate asks conditions of one trace and says for each whether it holds, and whether
//     enough was recorded for that to mean anything.
//  3. Diff compares two traces, or two sets of them: task by task and cause by cause, with
//     tests. Its conditions may also be about the change.
//  4. A Study is a load with its unchanged run. Study.Ask runs it with changes and predicts
//     what becomes of each wait and of everybody's jobs. Where the unchanged run misses the
//     recorded wait by more than 20 % and by more than 50 µs, nothing is predicted for it.
//  5. Candidates asks the causes of a late wait which changes they suggest, smallest first: a
//     rule for each kind of cause, which knows the kernel and not the model.
//  6. Advise lets a study answer them and ranks what helps by gain, harm and size. There is no
//     advice without a gain that is larger than the error on that wait.
//
// Waits of one trace are not independent of each other: what is tested are stretches of a
// trace, or whole traces where there are several. A prediction is no promise: what the model
// leaves out (docs/model.md) it leaves out too, and what was assumed of the recorded machine
// is listed with the load.
package whatif
