package scenario

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario/rtapp"
)

// Options say how a scenario is read.
type Options struct {
	// Args are the options of the program that a template stands for.
	Args []string
	// Workgen keeps duplicate keys of a file in their order, as rt-app's script workgen
	// does, where rt-app itself keeps the last value.
	Workgen bool
	// Stdin is read for the name "-".
	Stdin io.Reader
}

// mostBytes bounds what is read of a file.
const mostBytes = 16 << 20

// Open returns the plan of the scenario file name. Where there is no such file and name is
// that of a template, it is the template's.
func Open(name string, o Options) (*Plan, error) {
	text, err := load(name, o.Stdin)
	if errors.Is(err, fs.ErrNotExist) && IsTemplate(name) {
		return FromTemplate(name, o.Args)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the scenario: %w", err)
	}
	if len(o.Args) > 0 {
		return nil, fmt.Errorf("%s is a file: it takes no options", name)
	}
	return Read(name, text, o)
}

// load returns the text of a file, at most one byte more than may be.
func load(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" && stdin != nil {
		return io.ReadAll(io.LimitReader(stdin, mostBytes+1))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	return text, errors.Join(err, f.Close())
}

// IsTemplate reports whether name is that of a load that needs no file.
func IsTemplate(name string) bool {
	for i := range templates {
		if templates[i].Name == name {
			return true
		}
	}
	return false
}

// Read returns the plan of a scenario in rt-app's JSON; name is only printed. Warnings of
// the file become notes of the plan.
func Read(name string, text []byte, o Options) (*Plan, error) {
	ro := rtapp.Options{Workgen: o.Workgen, Stdin: name == "-"}
	for _, s := range settings {
		if s.Feature {
			ro.Features = append(ro.Features, s.Name)
		} else {
			ro.Settings = append(ro.Settings, s.Name)
		}
	}
	for _, c := range new(Costs).named() {
		ro.Costs = append(ro.Costs, c.name)
	}
	f, warnings, err := rtapp.Parse(name, text, ro)
	if err != nil {
		return nil, err
	}
	p, err := Build(f)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		p.Notes = event.Diagnose(p.Notes, "scenario", 1, w.String())
	}
	return p, nil
}

// Amend returns the text of a scenario that always makes the changes, in the place of those that
// it made, with the table of costs called costs, where that is not "". Everything else stays as
// it is. Errors are those of a text that is no scenario.
func Amend(name string, text []byte, changes []string, costs string, workgen bool) ([]byte, error) {
	return rtapp.Amend(name, text, rtapp.Amendment{Changes: changes, CostTable: costs}, rtapp.Options{Workgen: workgen})
}
