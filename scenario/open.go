package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario/rtapp"
)

// Open returns the plan of the scenario file name. Where there is no such file and name is
// that of a template, it is the template's with args as the options of its program.
func Open(name string, args []string) (*Plan, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && isTemplate(name) {
		return FromTemplate(name, args)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the scenario: %w", err)
	}
	if len(args) > 0 {
		return nil, fmt.Errorf("%s is a file: it takes no options", name)
	}
	return Read(name, text)
}

func isTemplate(name string) bool {
	for i := range templates {
		if templates[i].Name == name {
			return true
		}
	}
	return false
}

// Read returns the plan of a scenario in rt-app's JSON; name is only printed. Warnings of
// the file become notes of the plan.
func Read(name string, text []byte) (*Plan, error) {
	f, warnings, err := rtapp.Parse(name, text, rtapp.Options{})
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
