// Package shared finds the recorded traces and public samples that tests compare with.
// They lie in a folder named shared beside the checkout and are not part of the project.
package shared

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Path returns the path of name (slash-separated) inside the shared folder. Where it is
// not there the test is skipped, but fails when the environment has CI set: there the
// folder is promised.
func Path(t testing.TB, name string) string {
	t.Helper()
	_, self, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("shared: no caller information")
	}
	root := filepath.Join(filepath.Dir(self), "..", "..", "..", "shared")
	path := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("shared: %v (CI promises it)", err)
		}
		t.Skipf("shared: %s is not beside this checkout", name)
	}
	return path
}
