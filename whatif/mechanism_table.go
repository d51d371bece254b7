package whatif

import "github.com/whylate/whylate/result"

// confirmations are predictions that were committed before the changed recording was made; go
// test -run Confirmations -update writes them, from docs/fidelity.md.
var confirmations = []result.Confirmed{
	{Mechanism: "affinity", Predictions: 42, Within: 40, Median: 27, P90: 28},
	{Mechanism: "exit", Predictions: 1, Within: 1, Median: 6, P90: 6},
	{Mechanism: "policy", Predictions: 25, Within: 25, Median: 0, P90: 0},
	{Mechanism: "priority", Predictions: 150, Within: 150, Median: 0, P90: 2},
	{Mechanism: "priority inheritance", Predictions: 40, Within: 40, Median: 0, P90: 0},
	{Mechanism: "removal", Predictions: 25, Within: 25, Median: 0, P90: 0},
	{Mechanism: "throttling", Predictions: 470, Within: 445, Median: 0, P90: 0},
	{Mechanism: "work", Predictions: 51, Within: 49, Median: 2, P90: 3},
}
