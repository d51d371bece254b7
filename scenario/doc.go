// Package scenario makes a machine with tasks from a scenario file and runs it as a source
// of events.
//
//  1. Package scenario/rtapp reads rt-app's JSON; Build turns what it found into a Setup:
//     the kernel by its profile, the machine, and the tasks as a workload.Spec. The object
//     "whylate" says what rt-app has no words for.
//  2. Apply changes a Setup in the one grammar of changes: task=NAME policy=…, set NAME=…,
//     kernel=….
//  3. NewSource runs the Setup as often as its events are asked for, always the same.
//
// What the model does not know yet is refused with the name of the mechanism, never passed
// over; what it only approximates is a diagnostic of the result.
package scenario
