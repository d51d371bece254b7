package whatif

import (
	"strings"
	"testing"
)

func TestParseBudget(t *testing.T) {
	const file = `// what the arm needs
{"budgets": [
	"hi25:p99.9<100us", /* as agreed */
	{"task": "ctl-*", "series": "preempted", "measure": "max", "limit": "1ms", "note": "half a cycle"},
	{"kind": "rt_throttled", "limit": "==0"},
	{"measure": "deadline_misses", "limit": "0",}, // "never",]
]}`
	got, err := ParseBudget([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"hi25:p99.9<100us", "ctl-*:preempted.max<=1ms", "rt_throttled==0", "deadline_misses<=0"}
	for i, c := range got {
		if c.Text != want[i] {
			t.Errorf("budget %d: %s, want %s", i, c.Text, want[i])
		}
	}
	if len(got) != len(want) || got[1].Note != "half a cycle" {
		t.Errorf("%d budgets, note %q", len(got), got[1].Note)
	}
	if list, err := ParseBudget([]byte(`["max<1us"]`)); err != nil || len(list) != 1 {
		t.Errorf("a list alone: %v", err)
	}
}

func TestBudgetErrors(t *testing.T) {
	for file, says := range map[string]string{
		"":                                      "empty",
		"{}":                                    "no budgets",
		"{\"budgets\": [\n\"p99<1us\",\n}":      "line 3",
		`{"budgets": ["p99<1xs"]}`:              `budget 1: condition p99<1xs: "xs" is no unit`,
		`{"budgets": [5]}`:                      "neither a text nor an object",
		`{"budgets": [{"meassure": "max"}]}`:    "meassure",
		`{"budgets": [{"limit": "5us"}]}`:       "no measure",
		`{"budgets": [{"measure": "max"}]}`:     "no limit",
		`["max<1us"] x`:                         "follows",
		`{"budget": ["max<1us"]}`:               `"budget"`,
		`[{"kind":"irq","series":"wakeup"}]`:    "give one",
		`[{"measure":"max","limit":"5us<6us"}]`: "unit",
	} {
		if _, err := ParseBudget([]byte(file)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want …%s…", file, err, says)
		}
	}
}

func FuzzParseBudget(f *testing.F) {
	f.Add([]byte(`{"budgets": ["hi25:p99.9<100us", /* a */ {"kind": "irq", "limit": "==0"},]} // b`))
	f.Add([]byte(`["max<1us\`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ParseBudget(text)
		if err == nil && len(list) == 0 {
			t.Fatal("no budgets and no error")
		}
	})
}
