package cases

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/result"
)

// numbers finds what the answers are made of.
type numbers struct {
	parts map[string]*result.Comparison
	told  map[string]string // what parts tell of their runs
}

// has reports whether all parts were run.
func (n *numbers) has(ids []string) bool {
	for _, id := range ids {
		if n.parts[id] == nil {
			return false
		}
	}
	return true
}

func variantOf(c *result.Comparison, name string) *result.Variant {
	for i := range c.Variants {
		if c.Variants[i].Name == name {
			return &c.Variants[i]
		}
	}
	return nil
}

// measure returns a measure of a variant; ok is false where it has none.
func measure(c *result.Comparison, variant, name string) (ns int64, ok bool) {
	v := variantOf(c, variant)
	if v == nil {
		return 0, false
	}
	ns, ok = v.Measures[name]
	return ns, ok
}

// time returns a measure of a variant in words, "?" where it has none.
func measured(c *result.Comparison, variant, name string) string {
	ns, ok := measure(c, variant, name)
	if !ok {
		return "?"
	}
	return words(ns)
}

// each lists a measure in all variants: "none 3.2 ms, A 20 µs".
func each(c *result.Comparison, name string) string {
	var list []string
	for i := range c.Variants {
		v := &c.Variants[i]
		if ns, ok := v.Measures[name]; ok {
			list = append(list, v.Name+" "+words(ns))
		}
	}
	return strings.Join(list, ", ")
}

// maxima lists the longest wait of the tasks whose name begins so, in all variants.
func maxima(c *result.Comparison, prefix string) string { return inAll(c, prefix, maxOf) }

// latest lists the largest latency of their timers, in all variants.
func latest(c *result.Comparison, prefix string) string { return inAll(c, prefix, latestOf) }

func inAll(c *result.Comparison, prefix string, of func(*result.Variant, string) int64) string {
	var list []string
	for i := range c.Variants {
		list = append(list, c.Variants[i].Name+" "+words(of(&c.Variants[i], prefix)))
	}
	return strings.Join(list, ", ")
}

// maxOf returns the longest wakeup wait of the tasks of v whose name begins so.
func maxOf(v *result.Variant, prefix string) int64 {
	most := int64(0)
	for i := range v.Tasks {
		if t := &v.Tasks[i]; strings.HasPrefix(t.Comm, prefix) {
			most = max(most, t.Wakeup.MaxNS)
		}
	}
	return most
}

// latestOf returns the largest latency of a timer of the tasks of v whose name begins so: it
// also has what kept the timer's interrupt from coming.
func latestOf(v *result.Variant, prefix string) int64 {
	most := int64(0)
	for i := range v.Tasks {
		if t := &v.Tasks[i]; strings.HasPrefix(t.Comm, prefix) {
			most = max(most, t.Timer.MaxNS)
		}
	}
	return most
}

// shown says what the tests against the first variant say of a measure: "A lower, B: no
// difference shown".
func shown(c *result.Comparison, name string) string {
	var list []string
	for i := range c.Variants {
		v := &c.Variants[i]
		d, ok := v.Against[name]
		if !ok {
			continue
		}
		switch d.Verdict {
		case "none_shown":
			list = append(list, v.Name+": no difference shown")
		case "exact_same":
			list = append(list, v.Name+": the same")
		default:
			list = append(list, v.Name+": "+strings.TrimPrefix(d.Verdict, "exact_"))
		}
	}
	return strings.Join(list, ", ")
}

// words prints a length of time so that its size is seen: three digits and a unit.
func words(ns int64) string {
	switch {
	case ns < 0:
		return "-" + words(-ns)
	case ns < 10_000:
		return tenths((ns+50)/100) + " µs"
	case ns < 999_500:
		return fmt.Sprintf("%d µs", (ns+500)/1000)
	case ns < 99_950_000:
		return tenths((ns+50_000)/100_000) + " ms"
	case ns < 999_500_000:
		return fmt.Sprintf("%d ms", (ns+500_000)/1_000_000)
	}
	hundredths := (ns + 5_000_000) / 10_000_000
	return fmt.Sprintf("%d.%02d s", hundredths/100, hundredths%100)
}

func tenths(n int64) string {
	if n%10 == 0 {
		return fmt.Sprintf("%d", n/10)
	}
	return fmt.Sprintf("%d.%d", n/10, n%10)
}

// times says by which factor b is more than a: "12 times".
func times(a, b int64) string {
	if a <= 0 {
		return "endless times"
	}
	return tenths((b*10+a/2)/a) + " times"
}
