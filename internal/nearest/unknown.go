package nearest

import (
	"fmt"
	"slices"
	"strings"
)

// mostListed bounds how many names an error lists.
const mostListed = 20

// Unknown is the error for a name that nothing of its kind has: what may have been meant,
// and what there is.
func Unknown(kind, name string, known []string) error {
	text := fmt.Sprintf("no %s is called %q", kind, name)
	if near := Word(name, known); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	known = slices.Clone(known)
	if n := len(known); n > mostListed {
		known = append(known[:mostListed], fmt.Sprintf("%d more", n-mostListed))
	}
	if len(known) == 0 {
		return fmt.Errorf("%s: there is none", text)
	}
	return fmt.Errorf("%s; there are %s", text, strings.Join(known, ", "))
}
