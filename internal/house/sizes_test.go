package house

import (
	"go/ast"
	"slices"
	"testing"
)

// What a reader can hold in mind at once, in lines. Test files may be longer: they are
// tables.
const (
	mostLinesP90      = 450  // of nine in ten files
	mostLines         = 1000 // of any file
	mostFunctionLines = 80
)

func TestFilesAreShort(t *testing.T) {
	var lines []int
	for _, s := range goFiles(t).sources {
		if s.lines > mostLines {
			t.Errorf("%s has %d lines, more than %d: one concern each", s.path, s.lines, mostLines)
		}
		if !s.test {
			lines = append(lines, s.lines)
		}
	}
	slices.Sort(lines)
	if p90 := lines[len(lines)*9/10]; p90 > mostLinesP90 {
		t.Errorf("one file in ten has %d lines or more; the house holds %d", p90, mostLinesP90)
	}
}

func TestFunctionsAreShort(t *testing.T) {
	tree := goFiles(t)
	for _, s := range tree.sources {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := tree.fset.Position(f.End()).Line - tree.fset.Position(f.Pos()).Line + 1
			if n > mostFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", tree.at(s, f), f.Name.Name, n, mostFunctionLines)
			}
		}
	}
}
