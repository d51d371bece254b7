// Package shared finds the recorded traces and public samples that tests compare with.
// They lie in a folder named shared beside the checkout and are not part of the project.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of name (slash-separated) inside the shared folder. Where it is
// not there the test is skipped, but fails when the environment has CI set: there the
// folder is promised.
func Path(t testing.TB, name string) string {
	t.Helper()
	root := filepath.Join(checkout(t), "..", "shared")
	path := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("shared: %v (CI promises it)", err)
		}
		t.Skipf("shared: %s is not beside this checkout", name)
	}
	return path
}

// checkout is the folder of go.mod above the package under test, in which go test runs it.
// Where the source lies is no help: with -trimpath the program does not know that.
func checkout(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatalf("shared: %v", err)
	}
	for dir := at; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("shared: no go.mod above %s", at)
		}
	}
}
