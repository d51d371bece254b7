// Package cases has the public discussions that whylate was made for, each as scenarios that
// can be run, with the changes that were proposed as variants and the objections that were
// raised answered with numbers.
//
//  1. A Case is a list of parts: a scenario file below this folder, its variants, the
//     measures that its events give, and a sentence that its numbers fill.
//  2. Run hands all parts to package experiment at once.
//  3. The answers are made of the numbers that came out, whatever they are. Nothing here
//     knows what should come out; a test compares direction and order with what was
//     published.
//
// The files are complete scenarios: `whylate run` takes them, and `whylate case NAME -o DIR`
// hands them out.
package cases
