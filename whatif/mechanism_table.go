package whatif

import "github.com/whylate/whylate/result"

// confirmations are predictions that were committed before the changed recording was made; go
// test -run Confirmations -update writes them, from docs/fidelity.md.
var confirmations = []result.Confirmed{
	{Mechanism: "affinity", Predictions: 120, Within: 118, Median: 0, P90: 27},
	{Mechanism: "deadline", Predictions: 151, Within: 150, Median: 0, P90: 1},
	{Mechanism: "exit", Predictions: 3, Within: 3, Median: 0, P90: 6},
	{Mechanism: "fair server", Predictions: 12, Within: 12, Median: 6, P90: 36},
	{Mechanism: "interrupt thread", Predictions: 7, Within: 7, Median: 0, P90: 0},
	{Mechanism: "policy", Predictions: 100, Within: 100, Median: 0, P90: 0},
	{Mechanism: "priority", Predictions: 570, Within: 570, Median: 0, P90: 0},
	{Mechanism: "priority inheritance", Predictions: 90, Within: 90, Median: 2, P90: 7},
	{Mechanism: "removal", Predictions: 100, Within: 100, Median: 0, P90: 0},
	{Mechanism: "throttling", Predictions: 228, Within: 146, Median: 0, P90: 1000},
	{Mechanism: "work", Predictions: 75, Within: 73, Median: 1, P90: 3},
}
