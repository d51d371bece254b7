package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// emptyNames say nothing about what lives in a package.
var emptyNames = []string{"util", "utils", "common", "types", "model", "models", "helper", "helpers", "misc", "base", "lib"}

func TestPackagesHaveANameAndAComment(t *testing.T) {
	tree := goFiles(t)
	comments := make(map[string]int)
	for _, s := range tree.sources {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if slices.Contains(emptyNames, name) {
			t.Errorf("%s: a package called %s says nothing", s.path, name)
		}
		if s.test || s.file.Doc == nil {
			continue
		}
		comments[s.dir]++
		begin := "Package " + name + " "
		if name == "main" {
			begin = "Command "
		}
		if !strings.HasPrefix(s.file.Doc.Text(), begin) {
			t.Errorf("%s: the package comment does not begin with %q", s.path, begin)
		}
	}
	for _, dir := range tree.packages() {
		if n := comments[dir]; n != 1 {
			t.Errorf("%s has %d package comments, want 1", dir, n)
		}
	}
}

func TestExportedNamesAreExplained(t *testing.T) {
	tree := goFiles(t)
	for _, s := range tree.sources {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			for _, id := range undocumented(d) {
				t.Errorf("%s: %s is exported and has no comment", tree.at(s, id), id.Name)
			}
		}
	}
}

// undocumented returns the exported names that d declares without a comment. Names of a
// group share the comment of the group.
func undocumented(d ast.Decl) []*ast.Ident {
	var list []*ast.Ident
	add := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if id.IsExported() && !slices.ContainsFunc(docs, func(c *ast.CommentGroup) bool { return c != nil }) {
			list = append(list, id)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || exportedReceiver(d.Recv) {
			add(d.Name, d.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(spec.Name, d.Doc, spec.Doc)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					add(id, d.Doc, spec.Doc, spec.Comment)
				}
			}
		}
	}
	return list
}

func exportedReceiver(recv *ast.FieldList) bool {
	typ := recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func TestUndocumentedFindsWhatItShould(t *testing.T) {
	const src = `package p
func Bare() {}
// Told is told.
func Told() {}
func (t *T) Method() {}
func (t *hidden) Method() {}
type T struct{}
// These are told together.
const ( A = 1; B = 2 )
const C = 3 // C is told here
var D = 4
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range f.Decls {
		for _, id := range undocumented(d) {
			got = append(got, id.Name)
		}
	}
	if want := []string{"Bare", "Method", "T", "D"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
