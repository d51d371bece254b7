package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGeneratedFilesAgreeWithTheCommands(t *testing.T) {
	dir := t.TempDir()
	if err := generate(dir); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"man", "completion"} {
		want := files(t, filepath.Join(dir, sub))
		got := files(t, filepath.Join("..", "..", "docs", sub))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("docs/%s is out of date; run `go run ./internal/gen` (-want +got):\n%s", sub, diff)
		}
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]string)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		list[e.Name()] = string(text)
	}
	return list
}
