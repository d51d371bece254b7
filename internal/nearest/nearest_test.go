package nearest

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	known := []string{"json", "kernel", "over", "all", "all-tasks"}
	for word, want := range map[string]string{
		"jsn": "json", "JSON": "json", "kernal": "kernel", "kernlXY": "", "ovre": "over",
		"al": "all", "": "", "xyz": "", strings.Repeat("all", 1000): "",
	} {
		if got := Word(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// TestEditDistance: the examples of textbooks, and that it is a distance.
func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"kitten", "sitting", 3}, {"saturday", "sunday", 3}, {"", "abc", 3}, {"abc", "abc", 0}, {"flaw", "lawn", 2}} {
		if got, back := editDistance(c.a, c.b), editDistance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
