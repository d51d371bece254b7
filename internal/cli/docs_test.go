package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the output of the examples in the documents")

// TestDocumentedExamples runs every `$ whylate …` of the console blocks in README.md and
// docs/*.md, beside the built-in trace as demo.dat and docs/examples, and compares what it prints, on
// standard output and then on standard error, with what the document shows. A line "…" in
// a document stands for any number of lines.
func TestDocumentedExamples(t *testing.T) {
	docs, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	docs = append(docs, filepath.Join("..", "..", "README.md"))
	for i := range docs {
		if docs[i], err = filepath.Abs(docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	examples, err := filepath.Abs(filepath.Join("..", "..", "docs", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS(filepath.Join("docs", "examples"), os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	if err := writeDemo("demo.dat"); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, doc := range docs {
		t.Run(filepath.Base(doc), func(t *testing.T) { ran += checkDocument(t, doc) })
	}
	if ran == 0 {
		t.Error("no document shows an example")
	}
}

// checkDocument runs the examples of one document and returns how many there were.
func checkDocument(t *testing.T, doc string) int {
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	examples, lines := findExamples(string(text))
	changed := false
	outputs := make([][]string, len(examples)) // in order: one may read what another wrote
	for i, e := range examples {
		outputs[i] = runExample(t, e)
	}
	for i := len(examples) - 1; i >= 0; i-- { // from the end, so that line numbers stay right
		e, got := examples[i], outputs[i]
		if matches(e.want, got) {
			continue
		}
		if *update {
			lines = append(lines[:e.line+1:e.line+1], append(got, lines[e.line+1+len(e.want):]...)...)
			changed = true
			continue
		}
		t.Errorf("%s:%d: %s: (-document +program; -update rewrites the document)\n%s",
			filepath.Base(doc), e.line+1, e.command, cmp.Diff(e.want, got))
	}
	if changed {
		if err := os.WriteFile(doc, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return len(examples)
}

// example is a command of a document with the output shown below it.
type example struct {
	command string
	line    int // of the command, from 0
	want    []string
}

// findExamples returns the examples of a document, and its lines. The output of a command
// goes on to the next command or to the end of the block; blank lines at its end are no
// part of it.
func findExamples(text string) ([]example, []string) {
	var list []example
	lines := strings.Split(text, "\n")
	inside := false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ "):
			want := lines[i+1:]
			for j, l := range want {
				if strings.HasPrefix(l, "```") || strings.HasPrefix(l, "$ ") {
					want = want[:j]
					break
				}
			}
			if strings.HasPrefix(line, "$ whylate ") && !strings.ContainsAny(line, "|>") {
				list = append(list, example{line[2:], i, trimBlank(want)})
			}
		}
	}
	return list, lines
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func runExample(t *testing.T, e example) []string {
	args, err := splitWords(e.command)
	if err != nil {
		t.Fatalf("%s: %v", e.command, err)
	}
	var stdout, stderr bytes.Buffer
	if code := Run(context.Background(), args[1:], strings.NewReader(""), &stdout, &stderr); code != ExitOK {
		fmt.Fprintf(&stderr, "exit code %d", code)
	}
	out := strings.TrimRight(stdout.String()+stderr.String(), "\n")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// splitWords takes a command apart as a shell does, as far as the documents need it:
// words at blanks, single quotes around what belongs together, # begins a comment.
func splitWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quoted := false, false
	for _, c := range s + " " {
		switch {
		case c == '\'':
			quoted, inWord = !quoted, true
		case !quoted && c == '#' && !inWord:
			return words, nil
		case !quoted && c == ' ':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed")
	}
	return words, nil
}

// matches compares lines; "…" in want stands for any number of lines of got.
func matches(want, got []string) bool {
	for len(want) > 0 && want[0] != "…" {
		if len(got) == 0 || strings.TrimRight(got[0], " ") != strings.TrimRight(want[0], " ") {
			return false
		}
		want, got = want[1:], got[1:]
	}
	if len(want) == 0 {
		return len(got) == 0
	}
	for i := 0; i <= len(got); i++ {
		if matches(want[1:], got[i:]) {
			return true
		}
	}
	return false
}

func TestMatchesKnowsGaps(t *testing.T) {
	got := []string{"a", "b", "c", "d"}
	for _, c := range []struct {
		want string
		ok   bool
	}{
		{"a b c d", true}, {"a … d", true}, {"… d", true}, {"a …", true}, {"a b … c d", true}, {"a … b … d", true},
		{"a b c", false}, {"a … x", false}, {"b …", false}, {"", false},
	} {
		if matches(strings.Fields(c.want), got) != c.ok {
			t.Errorf("%q: want %v", c.want, c.ok)
		}
	}
}
