package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// integerRooms must give the same bytes on every processor: no floating point there.
var integerRooms = []string{"engine", "sched", "machine", "workload", "replay"}

// speakingRooms may print and choose exit codes; all others return what they have to say.
var speakingRooms = []string{"internal/cli", "internal/gen", "cmd/whylate"}

func TestNoFloatingPointWhereResultsMustNotDiffer(t *testing.T) {
	tree := goFiles(t)
	for _, s := range tree.sources {
		if s.test || !slices.Contains(integerRooms, s.dir) {
			continue
		}
		for _, n := range floats(s.file) {
			t.Errorf("%s: floating point in %s", tree.at(s, n), s.dir)
		}
	}
}

// floats returns the places that name a floating-point type or number.
func floats(f *ast.File) []ast.Node {
	var found []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if slices.Contains([]string{"float32", "float64", "complex64", "complex128"}, n.Name) {
				found = append(found, n)
			}
		case *ast.BasicLit:
			if n.Kind == token.FLOAT || n.Kind == token.IMAG {
				found = append(found, n)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "rand" && strings.HasPrefix(n.Sel.Name, "Float") {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

func TestLibrariesNeitherPrintNorExit(t *testing.T) {
	tree := goFiles(t)
	for _, s := range tree.sources {
		if s.test || slices.Contains(speakingRooms, s.dir) {
			continue
		}
		for _, n := range speaks(s.file) {
			t.Errorf("%s: a library prints, logs or exits", tree.at(s, n))
		}
	}
}

// speaks returns the places where f prints, logs or ends the program.
func speaks(f *ast.File) []ast.Node {
	var found []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		switch x.Name + "." + sel.Sel.Name {
		case "os.Exit", "os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println":
			found = append(found, n)
		default:
			if x.Name == "log" || x.Name == "slog" {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

func TestCodeRulesFindWhatTheyShould(t *testing.T) {
	const src = `package p
import ("fmt"; "log"; "os"; "math/rand/v2")
var a = 1.5
func f(x int) float64 { fmt.Println(x); log.Print(x); os.Exit(1); fmt.Sprint(x); return rand.Float64() }
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(floats(f)); n != 3 {
		t.Errorf("floats found %d places, want 3", n)
	}
	if n := len(speaks(f)); n != 3 {
		t.Errorf("speaks found %d places, want 3", n)
	}
}

func TestEveryParserHasAFuzzTest(t *testing.T) {
	tree := goFiles(t)
	fuzzed := make(map[string]bool)
	for _, s := range tree.sources {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test && strings.HasPrefix(f.Name.Name, "Fuzz") {
				fuzzed[s.dir] = true
			}
		}
	}
	for _, dir := range tree.packages() {
		reads := strings.HasPrefix(dir, "trace/") || dir == "trace" || strings.HasPrefix(dir, "scenario") || dir == "sysinfo"
		if reads && !fuzzed[dir] {
			t.Errorf("%s reads what somebody else wrote and has no FuzzXxx", dir)
		}
	}
}
