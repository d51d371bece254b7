// Package stats says what a few numbers tell of all that could have come, and whether two such
// lists differ. Package golang.org/x/perf/benchmath does the arithmetic.
//
//  1. The caller states what may be assumed of the numbers (Assumption): nothing, as of
//     percentiles and maxima, or that they scatter as sums do.
//  2. Estimate gives their middle and where that of all possible numbers lies.
//  3. Differ tests two lists and, where it shows no difference, says which one it would have
//     shown.
//
// Every number must have come about without regard to the others. Waits of one trace do not:
// whoever calls this gives one number for each run, or for each stretch of a trace.
package stats
