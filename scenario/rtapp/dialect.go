package rtapp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// syntaxError is what stops the tokenizer: nothing behind it can be trusted.
type syntaxError struct {
	off int
	msg string
}

func (e *syntaxError) Error() string { return e.msg }

// syntaxf makes a syntaxError at a byte offset. The words are those of json-c where it has
// some, so that they can be found.
func syntaxf(off int, format string, args ...any) error {
	return &syntaxError{off, fmt.Sprintf(format, args...)}
}

// scanner cuts the text into tokens as json-c does when it is not strict. Beyond JSON it
// takes both kinds of comment, single quotes, literals in any case, NaN and Infinity,
// leading zeros, "5." and "5e", control characters inside strings.
type scanner struct {
	text string
	at   int
}

// space skips white space and comments. A comment at the end of the file must be closed,
// "//" by a newline: json-c asks for more text and rt-app takes that for an error.
func (s *scanner) space() error {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		case '/':
			if err := s.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// comment skips "// …" with its newline, or "/* … */".
func (s *scanner) comment() error {
	from := s.at
	rest := s.text[s.at+1:]
	switch {
	case strings.HasPrefix(rest, "/"):
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			return syntaxf(from, "the file ends in a // comment; rt-app wants a newline behind it")
		}
		s.at += 1 + n + 1
		return noNUL(rest[:n], from+1)
	case strings.HasPrefix(rest, "*"):
		for i := 1; i < len(rest); i++ {
			if rest[i] != '*' {
				continue
			}
			// json-c looks at one character behind a star and then forgets the star, so
			// that "**/" closes nothing.
			if i++; i < len(rest) && rest[i] == '/' {
				s.at += 1 + i + 1
				return noNUL(rest[:i], from+1)
			}
		}
		if strings.Contains(rest, "**/") {
			return syntaxf(from, `comment without an end: rt-app's parser does not see the end in "**/", write "* */"`)
		}
		return syntaxf(from, "comment without an end")
	}
	return syntaxf(from, "a / must begin a comment")
}

// noNUL refuses a NUL in a comment, which ends the text for json-c.
func noNUL(comment string, off int) error {
	if i := strings.IndexByte(comment, 0); i >= 0 {
		return syntaxf(off+i, "NUL byte inside a comment")
	}
	return nil
}

// peek returns the next character, 0 at the end of the text.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// str reads a string in either kind of quotes. The result shares memory with the text
// unless the string has escapes.
func (s *scanner) str() (string, error) {
	from, quote := s.at, s.text[s.at]
	s.at++
	// Nearly all strings have no escape: they are cut out of the text. Raw newlines are
	// allowed.
	for i := s.at; i < len(s.text); i++ {
		switch s.text[i] {
		case quote:
			str := s.text[s.at:i]
			s.at = i + 1
			return str, nil
		case '\\':
			return s.escaped(from, quote)
		case 0:
			return "", syntaxf(i, "NUL byte inside a string")
		}
	}
	return "", syntaxf(from, "string without an end")
}

// escaped reads a string with escapes; s.at is behind the opening quote. \' is not one,
// not even in single quotes.
func (s *scanner) escaped(from int, quote byte) (string, error) {
	var b strings.Builder
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch c {
		case quote:
			s.at++
			return b.String(), nil
		case 0:
			return "", syntaxf(s.at, "NUL byte inside a string")
		case '\\':
			if err := s.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	return "", syntaxf(from, "string without an end")
}

// escape reads one escape into b; s.at is at the backslash.
func (s *scanner) escape(b *strings.Builder) error {
	from := s.at
	if s.at++; s.at >= len(s.text) {
		return syntaxf(from, "string without an end")
	}
	c := s.text[s.at]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		b.WriteByte("\"\\/\b\f\n\r\t"[i])
		s.at++
		return nil
	}
	if c != 'u' {
		if c <= ' ' || c >= 0x7f {
			return syntaxf(from, "invalid string sequence: a backslash and the byte %#02x", c)
		}
		return syntaxf(from, `invalid string sequence \%c`, c)
	}
	r, ok := s.hex()
	if !ok {
		return syntaxf(from, `invalid string sequence: \u needs four hexadecimal digits`)
	}
	if utf16.IsSurrogate(r) {
		r = s.pair(r)
	}
	b.WriteRune(r)
	return nil
}

// hex reads "u12ab" and moves behind it.
func (s *scanner) hex() (rune, bool) {
	if s.at+5 > len(s.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(s.text[s.at+1:s.at+5], 16, 16)
	if err != nil {
		return 0, false
	}
	s.at += 5
	return rune(n), true
}

// pair completes a surrogate with the escape behind it; without a fitting one it is
// U+FFFD and that escape stands for itself.
func (s *scanner) pair(high rune) rune {
	if !strings.HasPrefix(s.text[s.at:], `\u`) {
		return utf8.RuneError
	}
	back := s.at
	s.at++
	low, ok := s.hex()
	if both := utf16.DecodeRune(high, low); ok && both != utf8.RuneError {
		return both
	}
	s.at = back
	return utf8.RuneError
}

// number reads "-12", "012", "5.", "-.5", "5e": whole is false where it has a point or an
// exponent, which makes it a floating-point number whatever its value.
func (s *scanner) number() (literal string, whole bool, err error) {
	from := s.at
	if s.peek() == '-' {
		s.at++
	}
	if word := s.word("infinity"); word {
		return s.text[from:s.at], false, nil
	}
	// A point needs a digit on one of its sides, or a minus in front of it; ".5" never comes
	// here, because a value cannot begin with a point.
	digits := s.digits()
	whole = true
	if s.peek() == '.' && (digits > 0 || s.at > from) {
		whole = false
		s.at++
		digits += s.digits()
	}
	if digits == 0 {
		return "", false, syntaxf(from, "number expected")
	}
	// An exponent without digits is cut off by json-c, but the number stays a float.
	if c := s.peek(); c == 'e' || c == 'E' {
		whole = false
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		s.digits()
	}
	// Only what may follow a value ends a number: "1a" is no number with something behind it.
	if c := s.peek(); s.at < len(s.text) && strings.IndexByte(" \t\r\n,]}/", c) < 0 {
		if c == 'x' || c == 'X' {
			return "", false, syntaxf(from, "number expected; rt-app reads no hexadecimal numbers")
		}
		return "", false, syntaxf(s.at, "%s inside a number", quoted(s.text[s.at:s.at+1]))
	}
	return s.text[from:s.at], whole, nil
}

// digits moves behind the digits that stand here and returns how many they are.
func (s *scanner) digits() int {
	from := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at - from
}

// word moves behind lower in any case, if that stands here.
func (s *scanner) word(lower string) bool {
	end := s.at + len(lower)
	if end > len(s.text) || !strings.EqualFold(s.text[s.at:end], lower) {
		return false
	}
	s.at = end
	return true
}
