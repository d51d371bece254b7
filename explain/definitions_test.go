package explain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a paragraph, a list item or a table row of docs/definitions.md, together with
// the tests that it names.
type block struct {
	line  int
	text  string
	tests []string
}

var testComment = regexp.MustCompile(`<!-- test: (.*?) -->`)

// blocksOf splits a document. Headings, the head of a table, and what stands before the
// first section say nothing that a test could hold.
func blocksOf(doc string) (list []block) {
	inSection, current := false, -1
	for i, line := range strings.Split(doc, "\n") {
		bare := strings.TrimSpace(testComment.ReplaceAllString(line, ""))
		switch {
		case strings.HasPrefix(line, "#"):
			inSection, current = strings.HasPrefix(line, "## "), -1
			continue
		case !inSection, strings.HasPrefix(bare, "| kind |"), strings.HasPrefix(bare, "|---"):
			continue
		case strings.TrimSpace(line) == "":
			current = -1
			continue
		case current < 0 || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "|"):
			list = append(list, block{line: i + 1})
			current = len(list) - 1
		}
		b := &list[current]
		if b.text == "" {
			b.text = bare
		}
		for _, m := range testComment.FindAllStringSubmatch(line, -1) {
			for _, name := range strings.Split(m[1], ";") {
				b.tests = append(b.tests, strings.TrimSpace(name))
			}
		}
	}
	return list
}

// TestEachDefinitionHasATest: every paragraph, list item and row of docs/definitions.md names
// the tests or stories that hold whylate to it, or says that they come later; and each of
// these exists.
func TestEachDefinitionHasATest(t *testing.T) {
	doc, err := os.ReadFile("../docs/definitions.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := blocksOf(string(doc))
	if len(blocks) < 30 {
		t.Errorf("only %d definitions found", len(blocks))
	}
	known := map[string]map[string]bool{}
	used := map[string]bool{}
	for _, b := range blocks {
		if len(b.tests) == 0 {
			t.Errorf("docs/definitions.md:%d: no test holds whylate to %.60q", b.line, b.text)
		}
		for _, name := range b.tests {
			used[name] = true
			if why := missing(t, name, known); why != "" {
				t.Errorf("docs/definitions.md:%d: %s", b.line, why)
			}
		}
	}
	stories, err := filepath.Glob("testdata/stories/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stories {
		if name := "story " + strings.TrimSuffix(filepath.Base(file), ".txtar"); !used[name] {
			t.Errorf("%s: no definition names it", name)
		}
	}
}

// missing says why the reference name leads nowhere, "" if it does not.
func missing(t *testing.T, name string, known map[string]map[string]bool) string {
	if name == "later" {
		return ""
	}
	if story, ok := strings.CutPrefix(name, "story "); ok {
		if _, err := os.Stat(filepath.Join("testdata/stories", story+".txtar")); err != nil {
			return "there is no story " + story
		}
		return ""
	}
	pkg, test, ok := strings.Cut(name, ".")
	if !ok || !strings.HasPrefix(test, "Test") {
		return "not a test, a story or later: " + name
	}
	if known[pkg] == nil {
		known[pkg] = testsOf(t, filepath.Join("..", pkg))
	}
	if !known[pkg][test] {
		return "there is no test " + name
	}
	return ""
}

// testsOf lists the test functions of the package in dir.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				tests[fn.Name.Name] = true
			}
		}
	}
	return tests
}

// TestDefinitionCheckFindsWhatItShould: the check above must be able to fail.
func TestDefinitionCheckFindsWhatItShould(t *testing.T) {
	blocks := blocksOf("# T\nintro\n## S\n- one\n  more\n  <!-- test: a.TestA; story b -->\n- two\n\ntext\n<!-- test: later -->\n" +
		"| kind | x |\n|---|---|\n| c | d <!-- test: e --> |\n| f | g |\n")
	var got []string
	for _, b := range blocks {
		got = append(got, b.text+" "+strings.Join(b.tests, ","))
	}
	want := []string{"- one a.TestA,story b", "- two ", "text later", "| c | d  | e", "| f | g | "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("blocks %q, want %q", got, want)
	}
	known := map[string]map[string]bool{}
	for name, exists := range map[string]bool{
		"later": true, "story higher_prio": true, "explain.TestStories": true,
		"story none": false, "explain.TestNone": false, "nothing.TestStories": false, "Stories": false, "explain.story": false, "": false,
	} {
		if why := missing(t, name, known); (why == "") != exists {
			t.Errorf("reference %q: %q", name, why)
		}
	}
}
