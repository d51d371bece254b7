package rtapp

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestAmend(t *testing.T) {
	const changes = `"changes": ["task=\"a b\" prio=1", "cpus=2"]`
	for _, c := range []struct{ in, want string }{
		{`{"tasks":{"a":{"run":1}}}`, `{"whylate": {"cost_table": "zero", ` + changes + `}, "tasks":{"a":{"run":1}}}`},
		{"{\n  \"tasks\":{}}", "{\n  \"whylate\": {\"cost_table\": \"zero\", " + changes + "},\n  \"tasks\":{}}"},
		{`{"tasks":{"a":{"run":1}}, /* { */ "whylate" : {} } x`, `{"tasks":{"a":{"run":1}}, /* { */ "whylate" : {"cost_table": "zero", ` + changes + `} } x`},
		{"{\"tasks\":{},\"whylate\": {\n    \"seed\":1}}", "{\"tasks\":{},\"whylate\": {\n    \"cost_table\": \"zero\",\n    " + changes + ",\n    \"seed\":1}}"},
		{`{"tasks":{},"whylate":{"seed":1, "changes": ["cpus=9",], "cost_table":'qemu'} }`, `{"tasks":{},"whylate":{"seed":1, ` + changes + `, "cost_table":"zero"} }`},
	} {
		got, err := Amend("x.json", []byte(c.in), Amendment{Changes: []string{`task="a b" prio=1`, "cpus=2"}, CostTable: "zero"}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, string(got)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

// TestAmendLeavesTheRest: the whole file says the same, but for its changes, and again after
// a second amendment.
func TestAmendLeavesTheRest(t *testing.T) {
	text, err := os.ReadFile("testdata/whole.json")
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := Parse("whole.json", text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, changes := range [][]string{{"x", "y"}, {`a "b" <c> ×`}, nil} {
		if text, err = Amend("whole.json", text, Amendment{Changes: changes}, Options{}); err != nil {
			t.Fatal(err)
		}
		got, _, err := Parse("whole.json", text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want.Whylate.Changes = changes
		if d := cmp.Diff(want, got, ignorePos, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q (-want +got)\n%s", changes, d)
		}
	}
	if _, err := Amend("x.json", []byte(`{"tasks":`), Amendment{}, Options{}); err == nil || !strings.Contains(err.Error(), "x.json:1:") {
		t.Errorf("got %v", err)
	}
}
