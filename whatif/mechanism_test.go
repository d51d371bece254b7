package whatif

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/result"
)

var update = flag.Bool("update", false, "write mechanism_table.go from docs/fidelity.md")

const (
	fidelityDoc    = "../docs/fidelity.md"
	mechanismTable = "mechanism_table.go"
)

// TestConfirmations: what an answer says of predictions like it is what docs/fidelity.md says of
// those that were committed before the changed recording was made. What the replay would
// predict now counts for nothing there.
func TestConfirmations(t *testing.T) {
	text, err := os.ReadFile(fidelityDoc)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "<!-- pairs: begin -->\n")
	said, _, ends := strings.Cut(rest, "<!-- pairs: end -->")
	_, table, has := strings.Cut(said, "| mechanism | waits | within 10 % | of > 5 ms | error in the median | at p90 |\n|---|---|---|---|---|---|\n")
	if !ok || !ends || !has {
		t.Fatalf("%s has no table of mechanisms", fidelityDoc)
	}
	var want []result.Confirmed
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		want = append(want, confirmedRow(t, line))
	}
	if *update {
		if err := os.WriteFile(mechanismTable, []byte(goTable(want)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, confirmations); diff != "" {
		t.Errorf("%s and %s; -update writes the latter (-former +latter):\n%s", fidelityDoc, mechanismTable, diff)
	}
}

// confirmedRow reads a line of the table.
func confirmedRow(t *testing.T, line string) result.Confirmed {
	t.Helper()
	cells := strings.Split(strings.Trim(line, "| "), " | ")
	if len(cells) != 6 {
		t.Fatalf("a line of %d cells: %s", len(cells), line)
	}
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return n
	}
	perMille := func(text string) int64 { return number(strings.ReplaceAll(strings.TrimSuffix(text, " %"), ".", "")) }
	within, _, _ := strings.Cut(strings.Trim(cells[2], "*"), " of ")
	return result.Confirmed{Mechanism: cells[0], Predictions: int(number(cells[1])), Within: int(number(within)), Median: perMille(cells[4]), P90: perMille(cells[5])}
}

func goTable(list []result.Confirmed) string {
	var b strings.Builder
	b.WriteString("package whatif\n\nimport \"github.com/whylate/whylate/result\"\n\n" +
		"// confirmations are predictions that were committed before the changed recording was made; go\n" +
		"// test -run Confirmations -update writes them, from docs/fidelity.md.\nvar confirmations = []result.Confirmed{\n")
	for _, c := range list {
		fmt.Fprintf(&b, "\t{Mechanism: %q, Predictions: %d, Within: %d, Median: %d, P90: %d},\n", c.Mechanism, c.Predictions, c.Within, c.Median, c.P90)
	}
	return b.String() + "}\n"
}
