package rtapp

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// strict reads an object inside "whylate". It is ours, so every key that nobody asks for,
// every null and every duplicate is an error.
type strict struct{ *members }

// open prepares v for reading; an error where it is no object.
func (n *notes) open(v *value, at *place) strict {
	if v.kind != object {
		n.errorf(v.off, at, "must be an object, not %s", v.describe())
	}
	return strict{n.membersOf(v, at)}
}

// close reports the members that should not be there.
func (s strict) close() {
	for i := range s.list {
		e := &s.list[i]
		at := s.at.member(e.key)
		switch {
		case e.again:
			s.n.errorf(e.off, at, "duplicate key")
		case !s.used[i]:
			s.n.errorf(e.off, at, "unknown key%s", s.n.suggestion(e.key, s.known))
		case e.value.kind == null:
			s.n.errorf(e.value.off, at, "must not be null; leave the key out")
		}
	}
}

// each opens every member of the object under key: a name with an object.
func (s strict) each(key string, do func(name string, pos Pos, s strict)) {
	s.eachValue(key, func(e *member, at *place) {
		m := s.n.open(&e.value, at)
		do(e.key, s.n.pos(e.off), m)
		m.close()
	})
}

// eachValue hands out every member of the object under key. Their names are free, but none
// may be empty or stand there twice.
func (s strict) eachValue(key string, do func(e *member, at *place)) {
	v := s.take(key)
	if v == nil {
		return
	}
	if v.kind != object {
		s.wrongType(v, key, "an object")
		return
	}
	for i := range v.list {
		e, at := &v.list[i], s.at.member(key).member(v.list[i].key)
		switch {
		case e.again:
			s.n.errorf(e.off, at, "duplicate key")
		case e.key == "":
			s.n.errorf(e.off, at, "a name must not be empty")
		}
		do(e, at)
	}
}

// elements hands out every element of the array under key.
func (s strict) elements(key string, do func(v *value, at *place)) {
	v := s.take(key)
	if v == nil {
		return
	}
	if v.kind != array {
		s.wrongType(v, key, "an array")
		return
	}
	for i := range v.list {
		do(&v.list[i].value, s.at.member(key).element(i))
	}
}

// number reads an integer from low to high; def where it is absent or wrong.
func (s strict) number(key string, low, high, def int64) int64 {
	if v := s.take(key); v != nil {
		return s.n.inRange(v, s.at.member(key), low, high, def)
	}
	return def
}

// inRange returns the integer v, or def with an error where it is none from low to high. Unlike
// rt-app's, our integers have 64 bits and do not saturate.
func (n *notes) inRange(v *value, at *place, low, high, def int64) int64 {
	if v.kind != integer {
		n.errorf(v.off, at, "must be an integer, not %s", v.describe())
		return def
	}
	i, err := strconv.ParseInt(v.str, 10, 64)
	if err != nil || i < low || i > high {
		n.errorf(v.off, at, "must be %d to %d, not %s", low, high, short(v.str))
		return def
	}
	return i
}

// flag reads a boolean, nil where it is absent.
func (s strict) flag(key string) *bool {
	if !s.has(key) {
		s.take(key)
		return nil
	}
	b := s.boolOr(key, false)
	return &b
}

// name reads a string that is not empty; "" where it is absent.
func (s strict) name(key string) string {
	name := s.textOr(key, "")
	if v := s.take(key); v != nil && v.kind == text && name == "" {
		s.errorf(key, "must not be empty")
	}
	return name
}

// oneOf reads one of words; "" where it is absent.
func (s strict) oneOf(key string, words []string) string {
	word := s.name(key)
	if word != "" && !slices.Contains(words, word) {
		s.errorf(key, "unknown word %s%s; there are %s", quoted(word), s.n.suggestion(word, words), strings.Join(words, ", "))
		return ""
	}
	return word
}

// duration reads a length of time; def where it is absent.
func (s strict) duration(key string, def event.Time) event.Time {
	if v := s.take(key); v != nil {
		return s.n.length(v, s.at.member(key))
	}
	return def
}

// span reads a length of time or an array of two, [min, max].
func (s strict) span(key string) Span {
	if v := s.take(key); v != nil {
		return s.n.lengths(v, s.at.member(key))
	}
	return Span{}
}

// lengths converts one length of time, or an array of two.
func (n *notes) lengths(v *value, at *place) Span {
	if v.kind != array {
		t := n.length(v, at)
		return Span{t, t}
	}
	if len(v.list) != 2 {
		n.errorf(v.off, at, "must be a length of time or two of them, [min, max]")
		return Span{}
	}
	p := Span{n.length(&v.list[0].value, at.element(0)), n.length(&v.list[1].value, at.element(1))}
	if p.Min > p.Max {
		n.errorf(v.off, at, "the first must not be more than the second")
	}
	return p
}

// length converts an integer of µs, or a string with a unit, to ns.
func (n *notes) length(v *value, at *place) event.Time {
	if v.kind == text {
		t, err := parseTime(v.str)
		if err != nil {
			n.errorf(v.off, at, "%v", err)
		}
		return t
	}
	if v.kind != integer {
		n.errorf(v.off, at, `must be an integer of µs or a string like "1.5ms", not %s`, v.describe())
		return 0
	}
	return event.Time(n.inRange(v, at, 0, math.MaxInt64/1000, 0)) * 1000
}

// bytes reads an amount of memory: an integer, or a string like "64MiB".
func (s strict) bytes(key string) int64 {
	v := s.take(key)
	switch {
	case v == nil:
		return 0
	case v.kind == text:
		b, err := parseBytes(v.str)
		if err != nil {
			s.errorf(key, "%v", err)
		}
		return b
	}
	return s.n.inRange(v, s.at.member(key), 0, mostMemory, 0)
}

// cpus reads an array of CPUs, or a string like "0-3,8"; nil where it is absent.
func (s strict) cpus(key string) []int {
	v := s.take(key)
	if v == nil {
		return nil
	}
	limit := s.n.limitCPU()
	list := []int{}
	switch v.kind {
	case text:
		// A few letters stand for thousands of CPUs: what all lists hold together is bounded.
		if s.n.listed > mostValues {
			s.errorf(key, "too many CPUs in all lists together")
			return nil
		}
		var err error
		if list, err = parseCPUs(v.str, limit); err != nil {
			s.errorf(key, "%v", err)
			return nil
		}
		s.n.listed += len(list)
	case array:
		// An array costs as many letters as it holds CPUs, so it is bounded by the file.
		for i := range v.list {
			list = append(list, int(s.n.inRange(&v.list[i].value, s.at.member(key).element(i), 0, limit, 0)))
		}
	default:
		s.wrongType(v, key, `an array of integers or a string like "0-3,8"`)
		return nil
	}
	if len(list) == 0 {
		s.errorf(key, "must name a CPU")
	}
	return list
}
