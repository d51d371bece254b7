package eventformat

import (
	"strconv"
	"strings"
)

// A print fmt is a C format string and its arguments. The few kinds of expression that
// the kernel uses there are parsed into nodes and evaluated for a value of one field.

// value is what an expression yields: a number or a text.
type value struct {
	n    uint64
	s    string
	text bool
}

// node is an expression; eval reports false where it needs something unknown. Nothing is
// compiled further: results are cached by value (stateTable), so each is evaluated a few
// dozen times in a trace of millions.
type node interface {
	eval(field uint64) (value, bool)
}

// constant is a number or a string literal.
type constant value

func (c constant) eval(uint64) (value, bool) { return value(c), true }

// fieldRef is REC->name for the one field that the expression is evaluated for.
type fieldRef struct{}

func (fieldRef) eval(v uint64) (value, bool) { return value{n: v}, true }

// binary2 is an operator between two numbers.
type binary2 struct {
	op   string
	l, r node
}

func (b binary2) eval(field uint64) (value, bool) {
	l, ok := b.l.eval(field)
	r, ok2 := b.r.eval(field)
	if !ok || !ok2 || l.text || r.text {
		return value{}, false
	}
	n, ok := arith(b.op, l.n, r.n)
	return value{n: n}, ok
}

// arith computes with 64 bits, as C does with the types that occur there. Both sides of
// && and || are always evaluated; there are no side effects to notice it.
func arith(op string, l, r uint64) (uint64, bool) {
	truth := func(b bool) (uint64, bool) {
		if b {
			return 1, true
		}
		return 0, true
	}
	switch op {
	case "|":
		return l | r, true
	case "&":
		return l & r, true
	case "^":
		return l ^ r, true
	case "+":
		return l + r, true
	case "-":
		return l - r, true
	case "*":
		return l * r, true
	case "<<":
		return l << (r & 63), true // more than 63 is undefined in C
	case ">>":
		return l >> (r & 63), true
	case "==":
		return truth(l == r)
	case "!=":
		return truth(l != r)
	case "<":
		return truth(int64(l) < int64(r))
	case ">":
		return truth(int64(l) > int64(r))
	case "<=":
		return truth(int64(l) <= int64(r))
	case ">=":
		return truth(int64(l) >= int64(r))
	case "&&":
		return truth(l != 0 && r != 0)
	case "||":
		return truth(l != 0 || r != 0)
	}
	return 0, false
}

// unary is a sign or a negation.
type unary struct {
	op byte
	x  node
}

func (u unary) eval(field uint64) (value, bool) {
	v, ok := u.x.eval(field)
	if !ok || v.text {
		return value{}, false
	}
	switch u.op {
	case '-':
		v.n = -v.n
	case '~':
		v.n = ^v.n
	case '!':
		if v.n == 0 {
			v.n = 1
		} else {
			v.n = 0
		}
	}
	return v, true
}

// conditional is cond ? yes : no; only the chosen side is evaluated.
type conditional struct{ cond, yes, no node }

func (c conditional) eval(field uint64) (value, bool) {
	v, ok := c.cond.eval(field)
	if !ok || v.text {
		return value{}, false
	}
	if v.n != 0 {
		return c.yes.eval(field)
	}
	return c.no.eval(field)
}

// pair is one { value, "text" } of a table.
type pair struct {
	n uint64
	s string
}

// printFlags is __print_flags(x, delim, pairs): the texts of all bits that are set.
type printFlags struct {
	x     node
	delim string
	pairs []pair
}

func (p printFlags) eval(field uint64) (value, bool) {
	v, ok := p.x.eval(field)
	if !ok || v.text {
		return value{}, false
	}
	var parts []string
	for _, pair := range p.pairs {
		// A table may have names for single bits and for combinations; the first that fits
		// takes its bits, as the kernel does it.
		if pair.n != 0 && v.n&pair.n == pair.n {
			parts = append(parts, pair.s)
			v.n &^= pair.n
		}
	}
	if v.n != 0 { // the kernel prints the bits that have no name as a number
		parts = append(parts, "0x"+strconv.FormatUint(v.n, 16))
	}
	return value{s: strings.Join(parts, p.delim), text: true}, true
}

// printSymbolic is __print_symbolic(x, pairs): the text of the one equal value.
type printSymbolic struct {
	x     node
	pairs []pair
}

func (p printSymbolic) eval(field uint64) (value, bool) {
	v, ok := p.x.eval(field)
	if !ok || v.text {
		return value{}, false
	}
	for _, pair := range p.pairs {
		if pair.n == v.n {
			return value{s: pair.s, text: true}, true
		}
	}
	// As the kernel prints what its table lacks.
	return value{s: "0x" + strconv.FormatUint(v.n, 16), text: true}, true
}
