package eventformat

import (
	"strconv"
	"strings"
)

// maxDepth bounds nesting and maxNodes the size of an expression from a trace.
const (
	maxDepth = 64
	maxNodes = 4096
)

// parser reads one expression; field is the name that REC->field has to have.
type parser struct {
	text  string
	field string
	depth int
	nodes int
}

// parseExpr parses an argument of a print fmt for the given field; nil if it uses
// anything that is not understood.
func parseExpr(text, field string) node {
	p := &parser{text: text, field: field}
	n := p.expr()
	// What is left over was not understood, so the part in front of it means nothing.
	if p.space(); n == nil || p.text != "" {
		return nil
	}
	return n
}

// precedence has C's binary operators, weakest first.
var precedence = [][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*"},
}

func (p *parser) space() { p.text = strings.TrimLeft(p.text, " \t\n") }

// token takes s if it comes next.
func (p *parser) token(s string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.text, s)
	if ok {
		p.text = rest
	}
	return ok
}

// expr reads an expression with the ternary operator, which binds weakest.
func (p *parser) expr() node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil
	}
	// Both sides are whole expressions again: a ? b : c ? d : e groups to the right.
	cond := p.binary(0)
	if cond == nil || !p.token("?") {
		return cond
	}
	yes := p.expr()
	if yes == nil || !p.token(":") {
		return nil
	}
	no := p.expr()
	if no == nil {
		return nil
	}
	return conditional{cond, yes, no}
}

// binary reads operators of the given level and of all that bind stronger; operators of
// one level group to the left.
func (p *parser) binary(level int) node {
	if level == len(precedence) {
		return p.unary()
	}
	l := p.binary(level + 1)
	for l != nil {
		op := p.operator(level)
		if op == "" {
			return l
		}
		r := p.binary(level + 1)
		if p.nodes++; r == nil || p.nodes > maxNodes {
			return nil
		}
		l = binary2{op, l, r}
	}
	return nil
}

// operator takes an operator of the given level. A longer operator that starts with
// the same characters ("||" for "|", "<<" for "<") belongs to another level.
func (p *parser) operator(level int) string {
	p.space()
	for _, op := range precedence[level] {
		rest, ok := strings.CutPrefix(p.text, op)
		if !ok {
			continue
		}
		if len(op) == 1 && rest != "" && (rest[0] == op[0] && strings.Contains("|&<>", op)) {
			continue
		}
		p.text = rest
		return op
	}
	return ""
}

// unary reads signs and negations in front of an operand.
func (p *parser) unary() node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil
	}
	for _, op := range "-~!" {
		if p.token(string(op)) {
			if x := p.unary(); x != nil {
				return unary{byte(op), x}
			}
			return nil
		}
	}
	return p.primary()
}

// primary reads an operand.
func (p *parser) primary() node {
	p.space()
	switch {
	case p.text == "":
		return nil
	case p.text[0] == '"':
		s, ok := p.str()
		if !ok {
			return nil
		}
		return constant{s: s, text: true}
	case p.text[0] >= '0' && p.text[0] <= '9':
		n, ok := p.number()
		if !ok {
			return nil
		}
		return constant{n: n}
	case p.token("("): // a cast, or an expression in parentheses
		if p.cast() {
			return p.unary()
		}
		n := p.expr()
		if n == nil || !p.token(")") {
			return nil
		}
		return n
	case p.token("REC->"), p.token("(REC)->"): // other fields would need the whole record
		if p.ident() != p.field {
			return nil
		}
		return fieldRef{}
	}
	return p.call()
}

// cast takes "unsigned long)" behind an opening parenthesis. Casts change nothing here:
// the field is already as wide as any of them.
func (p *parser) cast() bool {
	end := strings.IndexByte(p.text, ')')
	if end < 0 {
		return false
	}
	// Any other word is a variable, and the parentheses are none of a cast.
	for _, word := range strings.Fields(p.text[:end]) {
		switch word {
		case "unsigned", "signed", "long", "int", "short", "char", "u8", "u16", "u32", "u64",
			"s8", "s16", "s32", "s64", "__u32", "__u64", "__s32", "__s64", "void", "*":
		default:
			return false
		}
	}
	if strings.TrimSpace(p.text[:end]) == "" {
		return false
	}
	p.text = p.text[end+1:]
	return true
}

// call reads __print_flags(…) and __print_symbolic(…).
func (p *parser) call() node {
	name := p.ident()
	if (name != "__print_flags" && name != "__print_symbolic") || !p.token("(") {
		return nil
	}
	x := p.expr()
	if x == nil {
		return nil
	}
	// Only flags can be several, and have something between them.
	delim := ""
	if name == "__print_flags" {
		if !p.token(",") {
			return nil
		}
		p.space()
		var ok bool
		if delim, ok = p.str(); !ok {
			return nil
		}
	}
	var pairs []pair
	for p.token(",") {
		one, ok := p.pair()
		if p.nodes++; !ok || p.nodes > maxNodes {
			return nil
		}
		pairs = append(pairs, one)
	}
	if !p.token(")") {
		return nil
	}
	if name == "__print_flags" {
		return printFlags{x, delim, pairs}
	}
	return printSymbolic{x, pairs}
}

// pair reads { value, "text" }.
func (p *parser) pair() (pair, bool) {
	if !p.token("{") {
		return pair{}, false
	}
	x := p.expr()
	if x == nil || !p.token(",") {
		return pair{}, false
	}
	// A table is made of sums and shifts of constants.
	v, ok := x.eval(0) // constant: the value of the field does not matter
	p.space()
	s, ok2 := p.str()
	return pair{v.n, s}, ok && ok2 && !v.text && p.token("}")
}

// ident reads letters, digits and underscores; "" if there is none.
func (p *parser) ident() string {
	p.space()
	i := 0
	for i < len(p.text) && (p.text[i] == '_' || p.text[i]|0x20 >= 'a' && p.text[i]|0x20 <= 'z' || p.text[i] >= '0' && p.text[i] <= '9') {
		i++
	}
	id := p.text[:i]
	p.text = p.text[i:]
	return id
}

// number reads a decimal, octal or hexadecimal constant with C's suffixes.
func (p *parser) number() (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimRight(p.ident(), "uUlL"), 0, 64)
	return n, err == nil
}

// str reads string literals; adjacent ones are one.
func (p *parser) str() (string, bool) {
	var b strings.Builder
	if p.text == "" || p.text[0] != '"' {
		return "", false
	}
	for strings.HasPrefix(p.text, `"`) {
		i := 1
		for i < len(p.text) && p.text[i] != '"' {
			if p.text[i] == '\\' && i+1 < len(p.text) {
				i++
			}
			b.WriteByte(p.text[i])
			i++
		}
		if i >= len(p.text) {
			return "", false
		}
		p.text = p.text[i+1:]
		p.space()
	}
	return b.String(), true
}

// arguments splits a print fmt at the commas between its arguments; the first is the
// format string.
func arguments(printFmt string) []string {
	var args []string
	// A comma within a call, a table or a text does not separate arguments.
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(printFmt); i++ {
		switch c := printFmt[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(' || c == '{':
			depth++
		case c == ')' || c == '}':
			depth--
		case c == ',' && depth == 0:
			args = append(args, printFmt[start:i])
			start = i + 1
		}
	}
	return append(args, printFmt[start:])
}
