package rtapp

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read. depth is json-c's own (JSON_TOKENER_DEFAULT_DEPTH) and counts
// the innermost scalar too; the others keep memory below some 150 MB, far beyond what
// rt-app could run.
const (
	mostBytes  = 16 << 20
	mostValues = 1 << 19
	mostDepth  = 32
)

// kind is the JSON type of a value. json-c keeps integers and floating-point numbers apart
// by how they are written, and rt-app asks for integers.
type kind uint8

const (
	null kind = iota
	boolean
	integer
	double
	text
	array
	object
)

// value is a node of the tree. str is the content of a string, or the literal of a number
// or boolean as the file writes it.
type value struct {
	kind kind
	off  int
	end  int // behind it
	str  string
	list []member // of an object; of an array, with empty keys
}

// member is a key with its value, or an element of an array.
type member struct {
	key   string
	off   int  // of the key that counts: the last one of duplicates
	again bool // the key stands there more than once (only where Parse keeps that)
	value value
}

// describe says what v is, for "must be an integer, not …".
func (v *value) describe() string {
	switch v.kind {
	case null:
		return "null"
	case text:
		return "the string " + quoted(v.str)
	case array:
		return "an array"
	case object:
		return "an object"
	case double:
		return short(v.str) + " with a point or an exponent"
	}
	return short(v.str)
}

// parser builds the tree.
type parser struct {
	scanner
	notes   *notes
	workgen bool
	values  int
	depth   int
}

// root reads the first value of the text. json-c ignores whatever follows it.
func (p *parser) root() (value, error) {
	// Editors do not show it, so it is worth a sentence of its own.
	if strings.HasPrefix(p.text, "\ufeff") {
		return value{}, syntaxf(0, "the file begins with a byte order mark; rt-app's parser does not take it")
	}
	if err := p.space(); err != nil {
		return value{}, err
	}
	if p.at == len(p.text) {
		return value{}, syntaxf(0, "there is nothing in it")
	}
	v, err := p.value(nil, "", -1)
	if err != nil {
		return value{}, err
	}
	// A comment that is not closed is an error even behind the end.
	if err := p.space(); err != nil {
		return value{}, err
	}
	if p.at < len(p.text) {
		p.notes.warnf(p.at, nil, "rt-app ignores everything from here on: the first value of the file is complete")
	}
	return v, nil
}

// value reads the value of a member or element of up; only what has values of its own
// makes a place of it.
func (p *parser) value(up *place, key string, index int) (v value, err error) {
	// The limit keeps this recursion, and all that walk over the tree later, from using up
	// the stack.
	if p.depth++; p.depth > mostDepth {
		return v, syntaxf(p.at, "nesting too deep: rt-app's parser stops at %d levels", mostDepth)
	}
	if p.values++; p.values > mostValues {
		return v, syntaxf(p.at, "more than %d values", mostValues)
	}
	v.off = p.at
	switch c := p.peek(); {
	case c == '{':
		v.kind = object
		v.list, err = p.object(&place{up, key, index})
	case c == '[':
		v.kind = array
		v.list, err = p.array(&place{up, key, index})
	case c == '"', c == '\'':
		v.kind = text
		v.str, err = p.cString(up, key, index)
	case c == '-', c >= '0' && c <= '9':
		var whole bool
		v.str, whole, err = p.number()
		if v.kind = double; whole {
			v.kind = integer
		}
	default:
		v.kind, v.str, err = p.literal()
	}
	p.depth--
	v.end = p.at
	return v, err
}

// cString reads a string as C code sees it: a NUL, which only \u0000 can write, ends it.
func (p *parser) cString(up *place, key string, index int) (string, error) {
	off := p.at
	s, err := p.str()
	if i := strings.IndexByte(s, 0); i >= 0 {
		p.notes.warnf(off, &place{up, key, index}, `rt-app cuts this string at \u0000`)
		s = s[:i]
	}
	if err == nil && !utf8.ValidString(s) {
		p.notes.warnf(off, &place{up, key, index}, "string is not UTF-8")
	}
	return s, err
}

// literal reads true, false, null, NaN, Infinity in any case.
func (p *parser) literal() (kind, string, error) {
	from := p.at
	switch {
	case p.word("true"):
		return boolean, "true", nil
	case p.word("false"):
		return boolean, "false", nil
	case p.word("null"):
		return null, "null", nil
	case p.word("nan"), p.word("infinity"):
		return double, p.text[from:p.at], nil
	}
	switch c := p.peek(); {
	case from == len(p.text):
		return 0, "", syntaxf(from, "the file ends where a value should be")
	case c == '#':
		return 0, "", syntaxf(from, "unexpected character; comments are /* */ and //")
	case c == '.':
		return 0, "", syntaxf(from, "unexpected character; write 0 in front of the point")
	case c == ',', c == ']', c == '}':
		return 0, "", syntaxf(from, "value expected, found %q", string(c))
	}
	// Show the whole word that should have been quoted.
	end := from
	for end < len(p.text) && end < from+20 && plainKey(p.text[end:end+1]) {
		end++
	}
	return 0, "", syntaxf(from, "unexpected character; %s is no value", quoted(p.text[from:max(end, from+1)]))
}

// array reads an array, of which p.at is at the bracket.
func (p *parser) array(at *place) ([]member, error) {
	from := p.at
	p.at++
	var list []member
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.peek() == ']' { // also behind a comma
			p.at++
			return list, nil
		}
		v, err := p.value(at, "", len(list))
		if err != nil {
			return nil, err
		}
		list = append(list, member{off: v.off, value: v})
		if err := p.separator(from, ']', "array"); err != nil {
			return nil, err
		}
	}
}

// separator moves behind a comma, or to the closing bracket.
func (p *parser) separator(from int, closing byte, what string) error {
	if err := p.space(); err != nil {
		return err
	}
	switch c := p.peek(); {
	case c == ',':
		p.at++
		return nil
	case c == closing:
		return nil
	case p.at == len(p.text):
		return syntaxf(from, "%s without an end", what)
	}
	return syntaxf(p.at, "%s: ',' or '%c' expected, found %s", what, closing, quoted(p.text[p.at:p.at+1]))
}

// object reads an object, of which p.at is at the brace.
func (p *parser) object(at *place) ([]member, error) {
	from := p.at
	p.at++
	keys := keyList{notes: p.notes, at: at, workgen: p.workgen, strict: ours(at)}
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		switch c := p.peek(); {
		case c == '}': // also behind a comma
			p.at++
			return keys.list, nil
		case p.at == len(p.text):
			return nil, syntaxf(from, "object without an end")
		case c == '#':
			return nil, syntaxf(p.at, "quoted object property name expected; comments are /* */ and //")
		case c != '"' && c != '\'':
			return nil, syntaxf(p.at, "quoted object property name expected, found %s", quoted(p.text[p.at:p.at+1]))
		}
		off := p.at
		key, err := p.cString(at.up, at.key, at.index)
		if err != nil {
			return nil, err
		}
		v, err := p.memberValue(at, key)
		if err != nil {
			return nil, err
		}
		keys.add(key, off, v)
		if err := p.separator(from, '}', "object"); err != nil {
			return nil, err
		}
	}
}

// memberValue reads the colon and the value behind a key.
func (p *parser) memberValue(up *place, key string) (value, error) {
	off := p.at
	if err := p.space(); err != nil {
		return value{}, err
	}
	switch c := p.peek(); {
	case c == ':':
		p.at++
	case (c == ',' || c == '}') && strings.HasPrefix(key, "suspend"):
		// rt-app's documents leave the value of suspend to workgen.
		if !p.workgen {
			return value{}, syntaxf(p.at, `object property name separator ':' expected; write %s : ""`, quoted(key))
		}
		p.notes.warnf(off, up.member(key), `plain rt-app rejects a key without a value; write %s : ""`, quoted(key))
		return value{kind: text, off: off}, nil
	default:
		return value{}, syntaxf(p.at, "object property name separator ':' expected")
	}
	if err := p.space(); err != nil {
		return value{}, err
	}
	return p.value(up, key, -1)
}

// ours reports whether at lies in the object that rt-app ignores, where a duplicate is
// simply a mistake.
func ours(at *place) bool {
	for ; at.up != nil; at = at.up {
		if at.up.up == nil {
			return at.key == "whylate"
		}
	}
	return false
}

// keyList is the list of members of an object while it is read.
type keyList struct {
	notes   *notes
	at      *place
	workgen bool
	strict  bool
	list    []member
	index   map[string]int // only of long lists
	suffix  int
}

// find returns the index of key, −1 if it is new. Most objects are short; in a long one
// looking at every key would take time that grows with the square.
func (l *keyList) find(key string) int {
	const few = 16
	if len(l.list) < few {
		for i := range l.list {
			if l.list[i].key == key {
				return i
			}
		}
		return -1
	}
	if l.index == nil {
		l.index = make(map[string]int, 2*few)
		for i := range l.list {
			l.index[l.list[i].key] = i
		}
	}
	if i, ok := l.index[key]; ok {
		return i
	}
	return -1
}

// add appends a member. A duplicate takes the place of the first one with that key, as
// json-c does it, or gets a key of its own, as workgen does it: the key with the first
// number that is free, counted over the whole object.
func (l *keyList) add(key string, off int, v value) {
	i := l.find(key)
	switch {
	case i < 0:
	case l.strict:
		l.list[i].again = true
		l.list[i].off, l.list[i].value = off, v
		return
	case l.workgen:
		plain := key
		l.suffix = max(l.suffix, 1)
		for key = plain + strconv.Itoa(l.suffix); l.find(key) >= 0; key = plain + strconv.Itoa(l.suffix) {
			l.suffix++
		}
	default:
		first := l.notes.pos(l.list[i].off)
		l.notes.warnf(off, l.at.member(key),
			"duplicate key: rt-app uses this value in the place of the one at %s, which is lost", first)
		l.list[i].off, l.list[i].value = off, v
		return
	}
	// The index is only made when somebody asks for it; from then on it is kept up.
	if l.index != nil {
		l.index[key] = len(l.list)
	}
	l.list = append(l.list, member{key: key, off: off, value: v})
}
