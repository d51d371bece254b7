package rtapp

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse: any bytes give a file or an error that says where, and never more messages
// than are kept.
func FuzzParse(f *testing.F) {
	whole, err := os.ReadFile("testdata/whole.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, false)
	for _, src := range []string{
		`{"tasks":{"a":{"run":1}}}`, `{'tasks':{'a':{"loop":01,"run":1,"run":2,"suspend",},},}//x` + "\n", "{\"tasks\":{\"a\":{\"lock\":\"\\ud83d\\u0000\n\"}}}",
		`{"tasks":{"a":{"cpus":[NaN,-Infinity,5.,"1x"],"timer":5,"memrun":{"type":"chase"}}}}`, strings.Repeat("[", 40), `{"whylate":{"costs":{"x":["1.5ms",3]}}}`,
		`{"tasks":{"a":{"instance":1000000000,"delay":-1,"run":99999999999999999999}}}`, "\ufeff{}", "/* **/", `{"whylate":{"irqs":{"x":{"cpus":"0-8191"}}},"tasks":{}}`,
	} {
		f.Add([]byte(src), true)
	}
	f.Fuzz(func(t *testing.T, src []byte, workgen bool) {
		file, warnings, err := Parse("f", src, Options{Workgen: workgen, Stdin: true, Settings: []string{"HZ"}})
		if (file == nil) != (err != nil) {
			t.Fatalf("%v, %v", file, err)
		}
		if len(warnings) > mostWarnings+1 {
			t.Fatalf("%d warnings", len(warnings))
		}
		if err == nil {
			checkFile(t, file)
			return
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !strings.HasPrefix(line, "f:") {
				t.Fatalf("an error without a place: %q", line)
			}
		}
	})
}

// FuzzJSON: what is JSON is read with the same values as Go reads it.
func FuzzJSON(f *testing.F) {
	for _, src := range []string{`{}`, `[1, -0.5e+3, "é\ud83d\ude00\ud83d", null, true]`, `{"a":{"b":[[],{}]},"a":1}`, ` ["\u0041\/"]`, `5`} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if !utf8.Valid(src) || bytes.Contains(src, []byte(`\u0000`)) {
			return
		}
		d := json.NewDecoder(bytes.NewReader(src))
		d.UseNumber()
		var want any
		if !json.Valid(src) || d.Decode(&want) != nil {
			return
		}
		n := &notes{text: string(src)}
		p := parser{scanner: scanner{text: n.text}, notes: n}
		v, err := p.root()
		if p.depth > mostDepth {
			return // json-c's limit, not JSON's
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := plain(&v); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// plain turns v into what encoding/json makes of it.
func plain(v *value) any {
	switch v.kind {
	case null:
		return nil
	case boolean:
		return v.str == "true"
	case text:
		return v.str
	case array:
		list := make([]any, 0, len(v.list))
		for i := range v.list {
			list = append(list, plain(&v.list[i].value))
		}
		return list
	case object:
		m := make(map[string]any)
		for i := range v.list {
			m[v.list[i].key] = plain(&v.list[i].value)
		}
		return m
	}
	return json.Number(v.str)
}

// checkFile checks what every file that was taken must keep.
func checkFile(t *testing.T, f *File) {
	if f.Threads() > mostThreads {
		t.Fatalf("%d threads", f.Threads())
	}
	first := 0
	for i := range f.Tasks {
		task := &f.Tasks[i]
		if task.First != first || task.Delay < 0 || len(task.Phases) == 0 || task.Loop < Forever {
			t.Fatalf("got %+v", task)
		}
		first += task.Instances
		for j := range task.Phases {
			if p := &task.Phases[j]; len(p.Events) == 0 || p.Loop < Forever || p.Loop == 0 {
				t.Fatalf("got %+v", p)
			}
		}
	}
	f.each(func(_ *Task, _ *Phase, e *Event) {
		if e.Duration < 0 || e.Bytes < 0 || e.Pos.Line < 1 || !strings.HasPrefix(e.Key, e.Kind.String()) {
			t.Fatalf("got %+v", e)
		}
	})
	for name, n := range f.BarrierUsers() {
		if n < 0 {
			t.Fatalf("%d users of %q", n, name)
		}
	}
}
