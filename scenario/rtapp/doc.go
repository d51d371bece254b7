// Package rtapp reads scenario files: the JSON of rt-app, whole, plus one top-level
// object "whylate" that rt-app ignores, for what rt-app cannot say. The same file runs on
// a real kernel with rt-app and in the model, so every key means here what it means there.
//
//  1. dialect.go and value.go read the text as rt-app's JSON parser does (json-c 0.16, not
//     strict) into a tree that keeps order, positions and duplicate keys;
//  2. global.go, resource.go, task.go, phase.go, event.go, props.go read that tree with
//     rt-app's defaults and types; object.go is what they share;
//  3. check.go looks at the file as a whole: fork targets, barriers, names, shared buffers;
//  4. whylate*.go read the "whylate" object, strictly: there every unknown key is an error;
//  5. Parse returns plain structs with all times in nanoseconds, the warnings, and all
//     errors with line and column.
//
// What rt-app rejects, or dies of, is an error. What it silently ignores, changes or
// misunderstands is a warning. What only a kernel rejects (EBUSY at admission, a CPU that
// is offline) is neither. The rules follow rt-app of May 2026 (its doc/tutorial.txt) and
// what that program was seen to do; where rt-app 1.0 of Debian differs, the newer holds.
//
// A negative time or size is an error too: rt-app takes it for an endless one, or for none.
//
// The tokenizer is our own. A library for JSON, or for JSON with comments as hujson is,
// would want the dialect rewritten first: that moves the bytes which the positions of errors
// point at, has no word for NaN, and has to find every token anyway.
//
// The package runs nothing and knows nothing of schedulers: other packages turn its structs
// into a workload. It has no opinion on names that other rooms own (settings, features,
// costs) unless Options lists them.
package rtapp
