// Command whylate tells why a Linux task ran late: it reads a recorded scheduler trace
// and divides each late wait into causes that sum to it. Run `whylate -h` for the verbs;
// package internal/cli holds them.
package main

import (
	"os"

	"github.com/whylate/whylate/internal/cli"
)

func main() { os.Exit(cli.Main()) }
