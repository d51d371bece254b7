package cli

import "github.com/spf13/pflag"

// nearestFlag returns the flag whose name is closest to name, "" if none is close: at
// most two letters differ, and half of the name.
func nearestFlag(flags *pflag.FlagSet, name string) string {
	best, bestDistance := "", min(3, len(name)/2+1)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if d := editDistance(name, f.Name); d < bestDistance {
			best, bestDistance = f.Name, d
		}
	})
	return best
}

// editDistance counts the letters to insert, delete or replace to turn a into b
// (Levenshtein). It keeps one row of the table.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
