package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/internal/nearest"
)

// conditionParser knows the text for its errors.
type conditionParser struct{ text string }

func (p *conditionParser) fail(at int, format string, args ...any) error {
	return &SyntaxError{Text: p.text, At: at, Msg: fmt.Sprintf(format, args...)}
}

// word cuts text[from:to] to what is between blanks.
func (p *conditionParser) word(from, to int) (string, int) {
	for from < to && (p.text[from] == ' ' || p.text[from] == '\t') {
		from++
	}
	return strings.TrimSpace(p.text[from:to]), from
}

// measure reads what stands before the comparison.
func (p *conditionParser) measure(m *Measure, from, to int) error {
	word, at := p.word(from, to)
	if word == "" {
		return p.fail(at, "nothing to compare; write p99, max or a kind of cause")
	}
	first, rest, dotted := strings.Cut(word, ".")
	if i := slices.Index(seriesNames, first); i >= 0 {
		m.Series = Series(i)
		if !dotted {
			return p.fail(at+len(word), "which number of it? write %s.p99 or %s.max", first, first)
		}
		return p.stat(m, rest, at+len(first)+1)
	}
	if slices.ContainsFunc(cause.Kinds(), func(k *cause.Kind) bool { return k.Name == first }) {
		m.Kind, m.Stat = first, Total
		if !dotted {
			return nil
		}
		if err := p.stat(m, rest, at+len(first)+1); err != nil {
			return err
		}
		if m.Stat == Percentile || m.Stat == Misses {
			return p.fail(at+len(first)+1, "of a cause there are total, max, mean and waits")
		}
		return nil
	}
	return p.stat(m, word, at)
}

// stat reads the name of a number; at is where it stands.
func (p *conditionParser) stat(m *Measure, word string, at int) error {
	if digits, ok := strings.CutPrefix(word, "p"); ok && digits != "" && digits[0] >= '0' && digits[0] <= '9' {
		m.Stat = Percentile
		return p.quantile(m, digits, at+1)
	}
	for i, name := range statNames[1:] {
		if word == name {
			m.Stat = Stat(i + 1)
			return nil
		}
	}
	msg := fmt.Sprintf("%q is neither a number of waits (p50 … p99.999, max, mean, total, waits, deadline_misses) nor a kind of cause (whylate list causes)", word)
	if near := nearest.Word(word, measureWords()); near != "" {
		msg = fmt.Sprintf("there is no %s; did you mean %s?", word, near)
	}
	return p.fail(at, "%s", msg)
}

// measureWords are the words that may have been meant.
func measureWords() []string {
	words := slices.Concat(statNames, seriesNames)
	for _, k := range cause.Kinds() {
		words = append(words, k.Name)
	}
	return words
}

// quantile reads 99.9 as 999 of 1000.
func (p *conditionParser) quantile(m *Measure, digits string, at int) error {
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(fraction) > 6 {
		return p.fail(at, "p%s is finer than a millionth of a percent", digits)
	}
	n, err := strconv.ParseUint(whole+fraction, 10, 40)
	den := int64(100)
	for range fraction {
		den *= 10
	}
	if err != nil || int64(n) > den || n == 0 || strings.HasSuffix(digits, ".") {
		return p.fail(at, "p%s is no percentile; write p50, p99 or p99.9", digits)
	}
	m.Num, m.Den = int64(n), den
	return nil
}

// units of a limit, in ns.
var units = map[string]int64{"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 1_000_000, "s": 1_000_000_000}

// limit reads what stands after the comparison.
func (p *conditionParser) limit(c *Condition, from int) error {
	word, at := p.word(from, len(p.text))
	number, sign := word, int64(1)
	switch {
	case strings.HasPrefix(word, "+"):
		number, c.Change = word[1:], true
	case strings.HasPrefix(word, "-"):
		number, c.Change, sign = word[1:], true, -1
	}
	start := at + len(word) - len(number)
	end := strings.IndexFunc(number, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	unit := ""
	if end >= 0 {
		number, unit = number[:end], strings.TrimSpace(number[end:])
	}
	if number == "" {
		return p.fail(start, "no limit; write a number with a unit: 100us, 1ms")
	}
	if unit == "%" {
		if !c.Change {
			return p.fail(at, "a share needs a sign that says from where: +%s%% is that much more than before", number)
		}
		c.Percent = true
		return p.scaled(c, number, 100, sign, start)
	}
	if c.Measure.Counts() {
		if unit != "" {
			return p.fail(start+len(number), "%s has no unit: it is a number of waits", c.Text)
		}
		return p.scaled(c, number, 1, sign, start)
	}
	scale := int64(1000) // a plain number is µs, as in all flags
	if unit != "" {
		var ok bool
		if scale, ok = units[unit]; !ok {
			return p.fail(start+len(number), "%q is no unit; ns, us, ms or s", unit)
		}
	}
	return p.scaled(c, number, scale, sign, start)
}

// scaled sets the limit to a decimal number times scale, without a binary fraction between.
func (p *conditionParser) scaled(c *Condition, number string, scale, sign int64, at int) error {
	whole, fraction, dotted := strings.Cut(number, ".")
	if strings.Contains(fraction, ".") || dotted && fraction == "" || whole == "" {
		return p.fail(at, "%q is no number", number)
	}
	for range fraction {
		if scale%10 != 0 {
			return p.fail(at, "%s is too fine: whole ns, whole numbers and hundredths of a percent", number)
		}
		scale /= 10
	}
	n, err := strconv.ParseUint(whole+fraction, 10, 62)
	if err != nil || int64(n) > (1<<62)/scale {
		return p.fail(at, "%s does not fit", number)
	}
	c.Limit = sign * int64(n) * scale
	return nil
}
