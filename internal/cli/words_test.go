package cli

import (
	"testing"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/report"
)

// TestOneWordForAKind: the report may import nothing but results, so it has its own words
// for the kinds; they must be those of the kinds.
func TestOneWordForAKind(t *testing.T) {
	for _, k := range cause.Kinds() {
		if got := report.KindWord(k.Name); got != k.Title {
			t.Errorf("%s is %q in the report and %q in the list of causes", k.Name, got, k.Title)
		}
	}
}
