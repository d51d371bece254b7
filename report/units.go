package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// amount prints a length of time with its unit: "11 020.3 µs", with Nano "11020312 ns".
func (p *printer) amount(ns int64) string {
	if p.Nano {
		return p.number(ns) + " ns"
	}
	return p.number(ns) + " µs"
}

// number is amount without the unit, for columns whose head says it.
func (p *printer) number(ns int64) string {
	if p.Nano {
		return strconv.FormatInt(ns, 10)
	}
	return micros(ns)
}

// unit is the unit of number.
func (p *printer) unit() string {
	if p.Nano {
		return "ns"
	}
	return "µs"
}

// micros prints ns as µs with one decimal, rounded half away from zero, and a space
// between thousands. There is no fraction of more digits: the stamp of an event is
// seldom better than 0.1 µs.
func micros(ns int64) string {
	tenths, rest := ns/100, ns%100
	switch {
	case rest >= 50:
		tenths++
	case rest <= -50:
		tenths--
	}
	sign := ""
	if tenths < 0 {
		sign, tenths = "-", -tenths
	}
	return sign + count(tenths/10) + "." + strconv.FormatInt(tenths%10, 10)
}

// count prints a whole number with a space between thousands: "41 203".
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// clock prints a point in time as perf and trace-cmd do, seconds and micros, so that it
// can be searched for in their output; with Nano down to the ns.
func (p *printer) clock(ns int64) string {
	digits, unit := 6, int64(1000)
	if p.Nano {
		digits, unit = 9, 1
	}
	sign := ""
	if ns < 0 {
		sign = "-"
	}
	sec, frac := ns/1e9, ns%1e9/unit
	return sign + magnitude(sec) + "." + leftZeros(magnitude(frac), digits)
}

// seconds prints the length of a trace, "2.310 s": a scale for the numbers below it, not
// a length of waiting, so it does not follow the unit of those.
func seconds(ns int64) string {
	ms := ns / 1e6
	return count(ms/1000) + "." + leftZeros(magnitude(ms%1000), 3) + " s"
}

// magnitude is |n| in digits; unlike −n it exists for every n.
func magnitude(n int64) string { return strings.TrimPrefix(strconv.FormatInt(n, 10), "-") }

func leftZeros(s string, n int) string { return strings.Repeat("0", max(n-len(s), 0)) + s }

// percent prints part of whole, rounded; "<1 %" for what is there but rounds to nothing.
func percent(part, whole int64) string {
	if whole <= 0 {
		return "0 %"
	}
	// In floating point, since part·100 may not fit; for a rounded percent it will do.
	n := int64(float64(part)/float64(whole)*100 + 0.5)
	if n == 0 && part > 0 {
		return "<1 %"
	}
	return strconv.FormatInt(n, 10) + " %"
}

// left and right pad s to width n; a rune counts as one column.
func left(s string, n int) string { return s + strings.Repeat(" ", max(n-width(s), 0)) }

func right(s string, n int) string { return strings.Repeat(" ", max(n-width(s), 0)) + s }

func width(s string) int { return utf8.RuneCountInString(s) }

// plural prints "1 wait", "1 155 waits".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}
