package rtapp

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/internal/nearest"
)

// members reads the members of one object by name, with rt-app's rules: null counts as
// absent, integers must be written as integers, what nobody asks for is ignored. Every
// accessor reports a wrong type and then returns the default, so that one reading finds
// all mistakes.
type members struct {
	n     *notes
	at    *place
	off   int
	list  []member
	used  []bool
	known []string // keys that were asked for
}

// membersOf prepares v for reading. A value that is no object reads as an empty one, as
// in rt-app; where rt-app rejects or dies of it the caller has looked before.
func (n *notes) membersOf(v *value, at *place) *members {
	const most = 24 // keys of a task
	m := &members{n: n, at: at, off: v.off, known: make([]string, 0, most)}
	if v.kind == object {
		m.list, m.used = v.list, make([]bool, len(v.list))
	}
	return m
}

// take returns the value of key, nil where it is absent or null.
func (m *members) take(key string) *value {
	m.known = append(m.known, key)
	for i := range m.list {
		if m.list[i].key == key {
			m.used[i] = true
			if m.list[i].value.kind == null {
				return nil
			}
			return &m.list[i].value
		}
	}
	return nil
}

// wrongType reports that the value of key is not what.
func (m *members) wrongType(v *value, key, what string) {
	m.n.errorf(v.off, m.at.member(key), "must be %s, not %s", what, v.describe())
}

// intOr returns the integer under key as rt-app's C int holds it.
func (m *members) intOr(key string, def int64) int64 {
	if v := m.take(key); v != nil {
		if n, ok := m.n.cInt(v, m.at.member(key)); ok {
			return n
		}
	}
	return def
}

// cInt reads an integer as json_object_get_int does: what an int cannot hold becomes its
// nearest end.
func (n *notes) cInt(v *value, at *place) (int64, bool) {
	if v.kind != integer {
		n.errorf(v.off, at, "must be an integer, not %s", v.describe())
		return 0, false
	}
	// json-c keeps 64 bits, rt-app takes 32 of them by way of json_object_get_int, which
	// saturates.
	i, err := strconv.ParseInt(v.str, 10, 32)
	if err != nil {
		i = math.MaxInt32
		if strings.HasPrefix(v.str, "-") {
			i = math.MinInt32
		}
		n.warnf(v.off, at, "rt-app's int cannot hold %s; it uses %d", short(v.str), i)
	}
	return i, true
}

// boolOr returns the boolean under key.
func (m *members) boolOr(key string, def bool) bool {
	v := m.take(key)
	if v == nil {
		return def
	}
	if v.kind != boolean {
		m.wrongType(v, key, "true or false")
		return def
	}
	return v.str == "true"
}

// textOr returns the string under key.
func (m *members) textOr(key, def string) string {
	v := m.take(key)
	if v == nil {
		return def
	}
	if v.kind != text {
		m.wrongType(v, key, "a string")
		return def
	}
	return v.str
}

// offset returns where the value of key stands, or the object itself if it has none.
func (m *members) offset(key string) int {
	for i := range m.list {
		if m.list[i].key == key {
			return m.list[i].value.off
		}
	}
	return m.off
}

// has reports whether key stands there with a value other than null.
func (m *members) has(key string) bool {
	return slices.ContainsFunc(m.list, func(e member) bool { return e.key == key && e.value.kind != null })
}

// errorf reports a mistake in the value of key.
func (m *members) errorf(key, format string, args ...any) {
	m.n.errorf(m.offset(key), m.at.member(key), format, args...)
}

// warnf reports a doubt about the value of key.
func (m *members) warnf(key, format string, args ...any) {
	m.n.warnf(m.offset(key), m.at.member(key), format, args...)
}

// ignored warns of every member that nobody asked for: rt-app ignores it. more are further
// keys that somebody may have meant.
func (m *members) ignored(more ...string) {
	for i := range m.list {
		if !m.used[i] {
			m.known, more = append(m.known, more...), nil
			e := &m.list[i]
			m.n.warnf(e.off, m.at.member(e.key), "rt-app ignores this key%s", m.n.suggestion(e.key, m.known))
		}
	}
}

// suggestion returns `; did you mean "x"?` for the known word nearest to word, "" if none
// is near. Comparing is slow, so a hostile file gets only so many.
func (n *notes) suggestion(word string, known []string) string {
	const mostSuggestions = 100
	if n.suggestions++; n.suggestions > mostSuggestions {
		return ""
	}
	best := nearest.Word(word, known)
	if best == "" {
		return ""
	}
	return "; did you mean " + strconv.Quote(best) + "?"
}
