package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/whylate/whylate"

// source is one Go file of the checkout.
type source struct {
	path  string // from the root, with slashes
	dir   string // its package, as the table of rooms calls it
	test  bool
	lines int
	file  *ast.File
}

// tree is the parsed checkout.
type tree struct {
	fset    *token.FileSet
	sources []*source
}

// root is the checkout: the folder two above this package, in which go test runs. The path
// that the compiler knows is none with -trimpath.
var root = sync.OnceValue(func() string {
	at, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return filepath.Join(at, "..", "..")
})

var parseTree = sync.OnceValues(func() (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := eachFile(func(name, full string) error {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			return nil
		}
		f, err := parser.ParseFile(t.fset, full, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		t.sources = append(t.sources, &source{
			path: name, dir: path.Dir(name), file: f,
			test:  strings.HasSuffix(name, "_test.go"),
			lines: t.fset.File(f.Pos()).LineCount(),
		})
		return nil
	})
	return t, err
})

// eachFile calls do for every file of the checkout, with its path from the root.
func eachFile(do func(name, full string) error) error {
	return filepath.WalkDir(root(), func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == "dist" {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root(), full)
		if err != nil {
			return err
		}
		return do(filepath.ToSlash(rel), full)
	})
}

// goFiles returns the parsed checkout, and fails if that is suspiciously small.
func goFiles(t *testing.T) *tree {
	t.Helper()
	parsed, err := parseTree()
	if err != nil {
		t.Fatal(err)
	}
	if len(parsed.sources) < 20 {
		t.Fatalf("found only %d Go files below %s", len(parsed.sources), root())
	}
	return parsed
}

// packages returns the folders with code that is not a test, sorted.
func (t *tree) packages() []string {
	var list []string
	for _, s := range t.sources {
		if !s.test && !slices.Contains(list, s.dir) {
			list = append(list, s.dir)
		}
	}
	slices.Sort(list)
	return list
}

// at is where a node stands, for messages: "event/kind.go:12".
func (t *tree) at(s *source, n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return s.path + ":" + itoa(p.Line)
}
