package whatif

import "github.com/whylate/whylate/result"

// confirmations are predictions that were committed before the changed recording was made; go
// test -run Confirmations -update writes them, from docs/fidelity.md.
var confirmations = []result.Confirmed{
	{Mechanism: "affinity", Predictions: 42, Within: 40, Median: 27, P90: 28},
	{Mechanism: "deadline", Predictions: 52, Within: 51, Median: 1, P90: 1},
	{Mechanism: "exit", Predictions: 1, Within: 1, Median: 6, P90: 6},
	{Mechanism: "fair server", Predictions: 448, Within: 443, Median: 0, P90: 0},
	{Mechanism: "interrupt thread", Predictions: 1, Within: 1, Median: 0, P90: 0},
	{Mechanism: "policy", Predictions: 25, Within: 25, Median: 0, P90: 0},
	{Mechanism: "priority", Predictions: 150, Within: 150, Median: 0, P90: 2},
	{Mechanism: "priority inheritance", Predictions: 115, Within: 115, Median: 0, P90: 6},
	{Mechanism: "removal", Predictions: 25, Within: 25, Median: 0, P90: 0},
	{Mechanism: "throttling", Predictions: 736, Within: 644, Median: 0, P90: 111},
	{Mechanism: "work", Predictions: 51, Within: 49, Median: 2, P90: 3},
}
