// Command gen writes what is generated from the commands of package cli: man pages to
// docs/man and shell completions to docs/completion.
//
//	go run ./internal/gen
//
// It is a program of its own, so that the page writer and its libraries are no part of
// whylate. A test beside it fails when the written files no longer agree with the
// commands.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/whylate/whylate/internal/cli"
)

func main() {
	if err := generate("docs"); err != nil {
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(1)
	}
}

// pagesDate stands in the footer of the man pages. It is not the day of the build: the
// pages are the same bytes for whoever builds them.
var pagesDate = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)

// generate writes all files below dir, which is the docs folder or a copy of it.
func generate(dir string) error {
	man, completion := filepath.Join(dir, "man"), filepath.Join(dir, "completion")
	for _, d := range []string{man, completion} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return fmt.Errorf("making a folder for generated files: %w", err)
		}
	}
	root := cli.Command()
	if err := completions(root, completion); err != nil {
		return fmt.Errorf("writing completions: %w", err)
	}
	withExitCodes(root)
	header := &doc.GenManHeader{Title: "", Section: "1", Date: &pagesDate, Source: "whylate", Manual: "whylate manual"}
	if err := doc.GenManTree(root, header, man); err != nil {
		return fmt.Errorf("writing man pages: %w", err)
	}
	return nil
}

// completions writes one file per shell, named as the shells expect it in their folders.
func completions(root *cobra.Command, dir string) error {
	if err := root.GenBashCompletionFileV2(filepath.Join(dir, "whylate.bash"), true); err != nil {
		return err
	}
	if err := root.GenZshCompletionFile(filepath.Join(dir, "_whylate")); err != nil {
		return err
	}
	return root.GenFishCompletionFile(filepath.Join(dir, "whylate.fish"), true)
}

// withExitCodes adds the exit codes to the page of every verb; the root has them already.
func withExitCodes(cmd *cobra.Command) {
	for _, verb := range cmd.Commands() {
		if verb.Long == "" {
			verb.Long = verb.Short + "."
		}
		verb.Long += "\n\n" + cli.ExitCodes
		withExitCodes(verb)
	}
}
