package house

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	mostTestdata     = 5 << 20 // bytes, over the whole tree
	mostDemo         = 300_000 // bytes of the built-in trace
	mostDependencies = 12      // modules that the program itself imports from
)

func TestTestDataIsSmall(t *testing.T) {
	var testdata, demo int64
	err := eachFile(func(name, full string) error {
		st, err := os.Lstat(full)
		switch {
		case err != nil:
			return err
		case strings.Contains(name, "testdata/"):
			testdata += st.Size()
		case strings.HasPrefix(name, "internal/demo/"):
			demo += st.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if testdata > mostTestdata {
		t.Errorf("all testdata together is %d bytes, more than %d", testdata, mostTestdata)
	}
	if demo > mostDemo {
		t.Errorf("the built-in trace is %d bytes, more than %d", demo, mostDemo)
	}
}

func TestTheLicenceIsThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(), "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Apache License", "Version 2.0, January 2004", "END OF TERMS AND CONDITIONS"} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("LICENSE lacks %q", part)
		}
	}
}

// leftovers are marks of unfinished work. The words are put together here so that this
// file does not hold them.
var leftovers = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b|not impl` + `emented`)

// machinePaths are folders of whoever wrote a file.
var machinePaths = regexp.MustCompile(`(^|[\s"'` + "`" + `(=:])/(wor` + `k|ro` + `ot|ho` + `me)/\w`)

func TestNothingIsLeftOver(t *testing.T) {
	parent := filepath.Dir(root()) + string(filepath.Separator)
	err := eachFile(func(name, full string) error {
		text, err := os.ReadFile(full)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err // a binary file
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := leftover(line, parent); found != "" && !strings.Contains(name, "testdata/fuzz/") {
				t.Errorf("%s:%d: %s: %s", name, i+1, found, strings.TrimSpace(line[:min(len(line), 100)]))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// leftover says what is wrong with a line; parent is the folder around the checkout.
func leftover(line, parent string) string {
	switch {
	case leftovers.MatchString(line):
		return "unfinished work"
	case machinePaths.MatchString(line), startsPath(line, parent):
		return "a path of some machine"
	}
	return ""
}

// startsPath reports whether an absolute path below dir stands in line.
func startsPath(line, dir string) bool {
	at := strings.Index(line, dir)
	return len(dir) > 1 && at >= 0 && (at == 0 || strings.ContainsRune(" \t\"'`(=:", rune(line[at-1])))
}

func TestLeftoversAreFound(t *testing.T) {
	for line, want := range map[string]bool{
		"// TO" + "DO: later":             true,
		"// everything is done":           false,
		"open(\"/ho" + "me/me/trace.dat)": true,
		"see kworker/0:2 and /proc/1":     false,
		"read " + "/some/place/file":      true,
		"read other/some/place/file":      false,
	} {
		if got := leftover(line, "/some/place/") != ""; got != want {
			t.Errorf("%q: found %v, want %v", line, got, want)
		}
	}
}

func TestTheProgramHasFewDependencies(t *testing.T) {
	required := requiredModules(t)
	var used []string
	for _, s := range goFiles(t).sources {
		if s.test || s.dir == "internal/gen" {
			continue
		}
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range required {
				if (name == m || strings.HasPrefix(name, m+"/")) && !slices.Contains(used, m) {
					used = append(used, m)
				}
			}
		}
	}
	if len(used) == 0 || len(used) > mostDependencies {
		t.Errorf("the program imports from %d modules, want at most %d: %v", len(used), mostDependencies, used)
	}
}

// requiredModules returns the modules that go.mod names.
func requiredModules(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+/\S+) v\S+`).FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
	}
	return list
}
