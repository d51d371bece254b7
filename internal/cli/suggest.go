package cli

import (
	"github.com/spf13/pflag"

	"github.com/whylate/whylate/internal/nearest"
)

// nearestFlag returns the flag whose name is closest to name, "" if none is close.
func nearestFlag(flags *pflag.FlagSet, name string) string {
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	return nearest.Word(name, known)
}
