package whatif

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MostBudget bounds a budget file, in bytes.
const MostBudget = 1 << 20

// budgetFile is the object of a budget file. Elements of Budgets are conditions as text, or
// objects.
type budgetFile struct {
	Budgets []json.RawMessage `json:"budgets"`
}

// budgetEntry is a condition in parts.
type budgetEntry struct {
	Task    string `json:"task"`    // a shell pattern; "": as without one
	Series  string `json:"series"`  // wakeup, preempted, lateness, response
	Kind    string `json:"kind"`    // of causes, instead of a series
	Measure string `json:"measure"` // p99.9, max, …
	Limit   string `json:"limit"`   // <100us; without a comparison: at most
	Note    string `json:"note"`    // is printed with it
}

// ParseBudget reads a budget file: JSON, in which there may be comments and commas before a
// closing bracket. It holds an object with a list "budgets", or the list alone; its elements
// are conditions as ParseCondition takes them, or objects with their parts:
//
//	{"budgets": [
//	  "hi25:p99.9<100us",
//	  {"task": "ctl-*", "series": "preempted", "measure": "max", "limit": "1ms", "note": "half a cycle"},
//	  {"kind": "rt_throttled", "limit": "==0"},
//	]}
func ParseBudget(text []byte) ([]*Condition, error) {
	if len(text) > MostBudget {
		return nil, fmt.Errorf("a budget file of more than %d bytes", MostBudget)
	}
	plain := withoutComments(text)
	var f budgetFile
	var err error
	if list := bytes.TrimSpace(plain); len(list) > 0 && list[0] == '[' {
		err = decode(plain, &f.Budgets)
	} else {
		err = decode(plain, &f)
	}
	if err != nil {
		return nil, at(plain, err)
	}
	if len(f.Budgets) == 0 {
		return nil, errors.New("no budgets in it")
	}
	var list []*Condition
	for i, raw := range f.Budgets {
		c, err := parseEntry(raw)
		if err != nil {
			return nil, fmt.Errorf("budget %d: %w", i+1, err)
		}
		list = append(list, c)
	}
	return list, nil
}

func parseEntry(raw json.RawMessage) (*Condition, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return ParseCondition(text)
	}
	var e budgetEntry
	if err := decode(raw, &e); err != nil {
		return nil, fmt.Errorf("neither a text nor an object: %w", err)
	}
	c, err := e.condition()
	if err != nil {
		return nil, err
	}
	c.Note = e.Note
	return c, nil
}

// condition puts the parts together, so that there is one grammar and one place for errors.
func (e *budgetEntry) condition() (*Condition, error) {
	var b strings.Builder
	if e.Task != "" {
		b.WriteString(e.Task + ":")
	}
	switch {
	case e.Kind != "" && e.Series != "":
		return nil, errors.New("a kind and a series; give one")
	case e.Kind == "" && e.Measure == "":
		return nil, errors.New("no measure; give p99, max, … or a kind of cause")
	}
	parts := []string{}
	for _, s := range []string{e.Series, e.Kind, e.Measure} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	b.WriteString(strings.Join(parts, "."))
	limit := strings.TrimSpace(e.Limit)
	if at, n, _ := findOp(limit); n == 0 || at > 0 {
		limit = "<=" + limit
	}
	return ParseCondition(b.String() + limit)
}

// decode is strict: a key that means nothing was misspelt.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("it is empty")
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its end")
	}
	return nil
}

// at adds the line to an error of the decoder that has a place.
func at(text []byte, err error) error {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typ):
		offset = typ.Offset
	}
	if offset < 0 || offset > int64(len(text)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:offset], []byte("\n")), err)
}

// withoutComments returns text with blanks for comments and for commas before a closing
// bracket, so that places stay the same.
func withoutComments(text []byte) []byte {
	out := bytes.Clone(text)
	comma := -1
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			i = stringEnd(out, i)
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := commentEnd(out, i)
			for ; i < end; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		case c == ',':
			comma = i
			i++
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
			i++
		default:
			if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
				comma = -1
			}
			i++
		}
	}
	return out
}

// stringEnd is the place after the string that begins at i.
func stringEnd(s []byte, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// commentEnd is the place after the comment that begins at i.
func commentEnd(s []byte, i int) int {
	end := []byte("\n")
	if s[i+1] == '*' {
		end = []byte("*/")
	}
	n := bytes.Index(s[i+2:], end)
	if n < 0 {
		return len(s)
	}
	return i + 2 + n + len(end)
}
