package rtapp

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// node is a JSON Schema or a part of one, as far as these tests look at it.
type node = map[string]any

func schemaTree(t *testing.T) node {
	t.Helper()
	var s node
	if err := json.Unmarshal([]byte(Schema()), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// resolve follows $ref into $defs.
func resolve(t *testing.T, root, n node) node {
	t.Helper()
	ref, ok := n["$ref"].(string)
	if !ok {
		return n
	}
	name := strings.TrimPrefix(ref, "#/$defs/")
	def, ok := root["$defs"].(node)[name].(node)
	if !ok {
		t.Fatalf("%s leads nowhere", ref)
	}
	return def
}

// used collects which properties of which objects of the schema the value has.
func used(t *testing.T, root, n node, v any, name string, seen map[string]bool) {
	t.Helper()
	n = resolve(t, root, n)
	switch v := v.(type) {
	case []any:
		if items, ok := n["items"].(node); ok {
			for _, e := range v {
				used(t, root, items, e, name, seen)
			}
		}
	case node:
		properties, _ := n["properties"].(node)
		rest, _ := n["additionalProperties"].(node)
		for key, e := range v {
			switch p, ok := properties[key].(node); {
			case ok:
				seen[name+"."+key] = true
				used(t, root, p, e, name+"."+key, seen)
			case rest != nil:
				used(t, root, rest, e, name, seen)
			default:
				t.Errorf("the schema has no %s.%s", name, key)
			}
		}
	}
}

// declared collects all properties below n.
func declared(t *testing.T, root, n node, name string, all map[string]bool) {
	t.Helper()
	n = resolve(t, root, n)
	properties, _ := n["properties"].(node)
	for key, p := range properties {
		all[name+"."+key] = true
		declared(t, root, p.(node), name+"."+key, all)
	}
	for _, word := range []string{"additionalProperties", "items"} {
		if p, ok := n[word].(node); ok {
			declared(t, root, p, name, all)
		}
	}
}

// TestSchemaAndParserKnowTheSameKeys: the file with every key fills every field
// (TestEveryFieldIsRead), so a key that the parser knows and the schema lacks, or the other
// way round, is one that this file has or lacks.
func TestSchemaAndParserKnowTheSameKeys(t *testing.T) {
	src, err := os.ReadFile("testdata/whole.json")
	if err != nil {
		t.Fatal(err)
	}
	_, strictly, _ := strings.Cut(string(src), `"$schema"`) // the rest is strict JSON
	var file node
	if err := json.Unmarshal([]byte(`{"$schema"`+strictly), &file); err != nil {
		t.Fatal(err)
	}
	root := schemaTree(t)
	whylate := root["properties"].(node)["whylate"].(node)
	has, knows := make(map[string]bool), make(map[string]bool)
	used(t, root, whylate, file["whylate"], "whylate", has)
	declared(t, root, whylate, "whylate", knows)
	if d := cmp.Diff(slices.Sorted(maps.Keys(knows)), slices.Sorted(maps.Keys(has))); d != "" {
		t.Errorf("schema against file:%s", d)
	}
	if len(knows) < 60 {
		t.Errorf("only %d keys", len(knows))
	}
}

// TestParserTakesOnlyWhatTheSchemaDeclares: in every object the parser refuses a key that
// the schema does not declare, and never calls a declared one unknown.
func TestParserTakesOnlyWhatTheSchemaDeclares(t *testing.T) {
	root := schemaTree(t)
	objects := map[string]string{ // how an object of each kind stands inside "whylate"
		"whylate": `%`, "topology": `"topology":{%}`, "idle_state": `"idle_states":{"x":{%}}`, "cgroup": `"cgroups":{"/x":{%}}`, "autogroup": `"autogroups":{"x":{%}}`,
		"irq": `"irqs":{"x":{%}}`, "steal": `"steal":{"x":{%}}`, "device": `"devices":{"x":{%}}`, "task": `"tasks":{"a":{%}}`,
		"kernel_section": `"tasks":{"a":{"kernel_sections":[{%}]}}`, "lock": `"locks":{"m":{%}}`, "program": `"programs":{"x":{%}}`, "exit": `"tasks":{"a":{"exit":{%}}}`,
	}
	for name, def := range root["$defs"].(node) {
		properties, ok := def.(node)["properties"].(node)
		if !ok {
			continue
		}
		if def.(node)["additionalProperties"] != false {
			t.Errorf("%s takes any key", name)
		}
		shell, ok := objects[name]
		if !ok {
			t.Errorf("no place for a %s", name)
			continue
		}
		keys := slices.Sorted(maps.Keys(properties))
		for _, key := range append(keys, "nonsense") {
			body := strings.Replace(shell, "%", `"`+key+`":{"$":0}`, 1)
			_, _, err := Parse("f", []byte(`{"tasks":{"a":{"run":1}},"whylate":{`+body+`}}`), Options{})
			unknown := err != nil && strings.Contains(err.Error(), key+": unknown key") || err != nil && strings.Contains(err.Error(), `"`+key+`": unknown key`)
			if unknown != (key == "nonsense") {
				t.Errorf("%s.%s: %v", name, key, err)
			}
		}
	}
}

// TestSchemaWordsAreTheParsers: lists of words stand in both places.
func TestSchemaWordsAreTheParsers(t *testing.T) {
	root := schemaTree(t)
	for path, want := range map[string][]string{
		"irq.softirq":         softirqWords,
		"irq.policy":          policyNames[1:6],
		"kernel_section.kind": sectionWords,
		"lock.kind":           lockWords,
		"lock.protocol":       protocolWords,
		"exit.signal":         append(slices.Clip(coreSignals), killSignals...),
	} {
		def, key, _ := strings.Cut(path, ".")
		var got []string
		for _, w := range root["$defs"].(node)[def].(node)["properties"].(node)[key].(node)["enum"].([]any) {
			got = append(got, w.(string))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
}
