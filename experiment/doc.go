// Package experiment runs variants of a scenario with many seeds and compares them, and
// searches for the arrivals of a task at which something takes longest.
//
//  1. An Experiment has a plan, variants (lists of changes), a number of seeds and the
//     measures that are taken beside the waits of the tasks.
//  2. Run makes every run of every experiment a job of one pool with a bounded number of
//     workers. A job looks once at the events of its run. Where the second seed gives the
//     same events as the first, the scenario has nothing random and further seeds are left
//     out.
//  3. For each variant the run with the longest wait is run once more and that wait is
//     explained from its events, as `whylate explain` would.
//  4. The numbers of the runs are samples: package stats gives
//     medians or means with their intervals and the tests against the first variant.
//
// A run depends on its variant and seed alone, and results are put together in their order,
// so that the answer is the same for any number of processors.
//
// The search is Worst: a Search has axes, a function that measures at a point, and first
// points; Arrivals makes all of them of a scenario and a task. It plans runs in generations
// and looks at their values in order, so its answer does not depend on processors either, and
// it can be interrupted and resumed.
//
// Waits within one run are not independent of each other. Tests therefore compare runs, each
// with one number, and never waits.
package experiment
