package cause

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/causes.md anew")

// TestCausesDoc holds docs/causes.md to the comments of the kinds: it is made from them,
// with `go test ./cause -run TestCausesDoc -update`.
func TestCausesDoc(t *testing.T) {
	want, err := causesDoc()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "docs", "causes.md")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/causes.md is not what the comments of the kinds say; run go test ./cause -run TestCausesDoc -update")
	}
}

// causesDoc makes the page from the doc comments of the variables of type Kind.
func causesDoc() ([]byte, error) {
	rules, err := ruleComments()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("<!-- Made from the comments in package cause: go test ./cause -run TestCausesDoc -update -->\n# Cause kinds\n\n" +
		"The causes of a wait sum to its lateness. At each instant exactly one kind holds; they are asked in the order of\n" +
		"this page, and the first that holds names the time. `whylate list causes` prints the table.\n")
	for _, k := range Kinds() {
		rule, ok := rules[k.Name]
		if !ok {
			return nil, fmt.Errorf("kind %s has no comment with its rule", k.Name)
		}
		fmt.Fprintf(&b, "\n## `%s`: %s\n\n%s", k.Name, k.Title, rule)
		if len(k.Needs) > 0 {
			b.WriteString("\nEvents that it needs:")
			for i, n := range k.Needs {
				if i > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, " `%s`", n)
			}
			b.WriteString(".\n")
		}
	}
	return b.Bytes(), nil
}

// ruleComments returns the comment of each kind by the kind's name, without the variable's
// name at its start.
func ruleComments() (map[string]string, error) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		return nil, err
	}
	rules := make(map[string]string)
	fset := token.NewFileSet()
	for _, name := range files {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR || g.Doc == nil || len(g.Specs) != 1 {
				continue
			}
			spec := g.Specs[0].(*ast.ValueSpec)
			if kind := kindName(spec); kind != "" {
				text := g.Doc.Text()
				_, text, _ = strings.Cut(text, ": ")
				rules[kind] = strings.ToUpper(text[:1]) + text[1:]
			}
		}
	}
	return rules, nil
}

// kindName returns the Name of a variable that is a Kind literal.
func kindName(spec *ast.ValueSpec) string {
	if len(spec.Values) != 1 {
		return ""
	}
	lit, ok := spec.Values[0].(*ast.CompositeLit)
	if !ok {
		return ""
	}
	if id, ok := lit.Type.(*ast.Ident); !ok || id.Name != "Kind" {
		return ""
	}
	for _, e := range lit.Elts {
		kv := e.(*ast.KeyValueExpr)
		if kv.Key.(*ast.Ident).Name == "Name" {
			return strings.Trim(kv.Value.(*ast.BasicLit).Value, `"`)
		}
	}
	return ""
}

// TestEachKindIsOneFile: a reader finds the kind by the name of the file.
func TestEachKindIsOneFile(t *testing.T) {
	for _, k := range Kinds() {
		if _, err := os.Stat(k.Name + ".go"); err != nil {
			t.Errorf("kind %s: %v", k.Name, err)
		}
	}
}
