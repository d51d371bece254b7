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

// TestUnknown: the error says what was meant and what there is, but does not fill the screen.
func TestUnknown(t *testing.T) {
	many := make([]string, 30)
	for i := range many {
		many[i] = strings.Repeat("x", i+5)
	}
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"exti", []string{"exit", "throttle"}, `no case is called "exti"; did you mean exit?; there are exit, throttle`},
		{"zzzzzz", []string{"exit"}, `no case is called "zzzzzz"; there are exit`},
		{"a", nil, `no case is called "a": there is none`},
	} {
		if got := Unknown("case", c.name, c.known).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := Unknown("case", "a", many).Error(); !strings.HasSuffix(got, ", 10 more") {
		t.Errorf("lists all: %q", got)
	}
	if many[20] != strings.Repeat("x", 25) {
		t.Error("the list was changed")
	}
}
