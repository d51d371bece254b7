package rtapp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Amendment is what Amend writes into a scenario.
type Amendment struct {
	// Changes take the place of those that the file always makes.
	Changes []string
	// CostTable is the table of costs, in the place of the file's; "": as it is.
	CostTable string
}

// Amend returns the scenario text with an amendment in its object "whylate". Everything else
// stays as it stands there, byte for byte. Errors are those of Parse's syntax.
func Amend(name string, text []byte, a Amendment, o Options) ([]byte, error) {
	n := &notes{file: name, text: string(text)}
	p := parser{scanner: scanner{text: n.text}, notes: n, workgen: o.Workgen}
	tree, err := p.root()
	if err != nil {
		_, _, err := Parse(name, text, o)
		return nil, err
	}
	if tree.kind != object {
		return nil, fmt.Errorf("%s: a scenario must be an object, not %s", name, tree.describe())
	}
	e := editor{text: n.text}
	if w := tree.memberValue("whylate"); w != nil && w.kind == object {
		if a.CostTable != "" {
			e.put(w, "cost_table", encoded(a.CostTable))
		}
		e.put(w, "changes", lines(a.Changes))
		return e.apply(w), nil
	}
	body := `"changes": ` + lines(a.Changes)
	if a.CostTable != "" {
		body = `"cost_table": ` + encoded(a.CostTable) + ", " + body
	}
	e.put(&tree, "whylate", "{"+body+"}")
	return e.apply(&tree), nil
}

// memberValue returns the value of key in an object, nil where there is none.
func (v *value) memberValue(key string) *value {
	for i := range v.list {
		if v.list[i].key == key {
			return &v.list[i].value
		}
	}
	return nil
}

// editor collects edits of a text.
type editor struct {
	text  string
	edits []edit
	more  []string // new members
}

type edit struct {
	from, to int
	text     string
}

// put sets the value of key in the object v: where it stands, or in front of all others.
func (e *editor) put(v *value, key, to string) {
	if old := v.memberValue(key); old != nil {
		e.edits = append(e.edits, edit{old.off, old.end, to})
		return
	}
	e.more = append(e.more, encoded(key)+": "+to)
}

// apply makes the edits; new members are those of v.
func (e *editor) apply(v *value) []byte {
	if len(e.more) > 0 {
		// As the first member of v is set, so are those in front of it.
		space := e.text[v.off+1:]
		space = space[:len(space)-len(strings.TrimLeft(space, " \t\r\n"))]
		text := space + strings.Join(e.more, ","+cmp.Or(space, " "))
		if len(v.list) > 0 {
			text += ","
			if space == "" {
				text += " "
			}
		}
		e.edits = append(e.edits, edit{v.off + 1, v.off + 1, text})
	}
	slices.SortFunc(e.edits, func(a, b edit) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, x := range e.edits {
		out.WriteString(e.text[at:x.from])
		out.WriteString(x.text)
		at = x.to
	}
	out.WriteString(e.text[at:])
	return out.Bytes()
}

// lines is an array of strings.
func lines(texts []string) string {
	list := make([]string, 0, len(texts))
	for _, t := range texts {
		list = append(list, encoded(t))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// encoded is a string as JSON has it, readable where it may be.
func encoded(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be written
	return strings.TrimSuffix(b.String(), "\n")
}
