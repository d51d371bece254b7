package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/sched"
)

// ChangeKind is what a Change changes.
type ChangeKind uint8

// The kinds of changes.
const (
	ChangeTask     ChangeKind = iota // task=PATTERN WORD…: policy, prio, nice, cpus, runtime, deadline, period, work, exit_normalize, cgroup
	ChangeIRQ                        // irq=PATTERN WORD…: of its thread: policy, prio, nice; cpus
	ChangeSet                        // set NAME=VALUE…
	ChangeKernel                     // kernel=PROFILE
	ChangeCPUs                       // cpus=N
	ChangeTeardown                   // exit_teardown ×FACTOR
	ChangeRemove                     // remove task=PATTERN
	ChangeCGroup                     // cgroup=PATH FILE=VALUE…
	ChangeMutex                      // mutex=PATTERN pi=on|off held=×FACTOR|outside
	ChangeArrivals                   // arrivals=PATTERN delay=D later=N:D,…
)

// Change is one change of the common grammar, parsed. What it names need not be there: that
// is for whoever makes the change to find out.
type Change struct {
	Kind ChangeKind
	// Pattern is a name or a shell pattern: of ChangeTask, ChangeIRQ, ChangeRemove,
	// ChangeCGroup, ChangeMutex and ChangeArrivals.
	Pattern string
	// Values are the words NAME=VALUE in their order, checked but for what ChangeSet sets:
	// that is for the kernel to say.
	Values []Value
	Kernel string // ChangeKernel
	CPUs   int    // ChangeCPUs
	Factor int64  // ChangeTeardown, in millionths
}

// patterned are the beginnings of changes that name what they change, with the words that
// may follow; nil: any NAME=VALUE.
var patterned = []struct {
	begin string
	kind  ChangeKind
	of    string
	words []string
}{
	{"task", ChangeTask, "task", []string{"policy", "prio", "nice", "slice_us", "cpus", "runtime", "deadline", "period", "work", "exit_normalize", "cgroup"}},
	{"irq", ChangeIRQ, "interrupt", []string{"policy", "prio", "nice", "cpus"}},
	{"mutex", ChangeMutex, "mutex", []string{"pi", "held"}},
	{"cgroup", ChangeCGroup, "cgroup", groupFiles},
	{"arrivals", ChangeArrivals, "task or interrupt", []string{"delay", "later"}},
}

// ParseChange reads one change of the common grammar:
//
//	task=PATTERN policy=fifo|rr|other|batch|idle prio=N nice=N slice_us=µs cpus=0-3,5 work=×FACTOR
//	task=PATTERN policy=deadline runtime=µs deadline=µs period=µs
//	task=PATTERN exit_normalize=off|rt|all
//	task=PATTERN cgroup=PATH
//	irq=PATTERN policy=fifo|rr|other|batch|idle prio=N nice=N cpus=0-3,5
//	mutex=PATTERN pi=on|off held=×FACTOR|outside
//	arrivals=PATTERN delay=D later=N:D,N:D
//	cgroup=PATTERN cpu.max="max|QUOTA PERIOD" cpu.max.burst=µs cpu.weight=N cpu.weight.nice=N cpu.idle=0|1
//	cgroup=PATTERN cpuset.cpus=0-3,5 cpuset.cpus.partition=member|root|isolated
//	set NAME=VALUE…
//	kernel=PROFILE
//	cpus=N
//	exit_teardown ×FACTOR
//	remove task=PATTERN
//
// A value with blanks stands in double quotes, within which \" and \\ are what they say.
// Change.String gives back what is read here.
func ParseChange(text string) (Change, error) {
	c, err := parseChange(text)
	if err != nil {
		return Change{}, fmt.Errorf("change %q: %w", text, err)
	}
	return c, nil
}

func parseChange(text string) (Change, error) {
	words, err := splitWords(text)
	if err != nil {
		return Change{}, err
	}
	if len(words) == 0 {
		return Change{}, errors.New("is empty")
	}
	switch words[0] {
	case "set":
		return parseSet(words[1:])
	case "exit_teardown":
		return parseTeardown(words[1:])
	case "remove":
		return parseRemove(words[1:])
	}
	name, value, ok := strings.Cut(words[0], "=")
	for _, p := range patterned {
		if p.begin == name && ok {
			return parsePatterned(p.kind, p.of, value, words[1:], p.words)
		}
	}
	switch {
	case len(words) == 1 && name == "kernel" && ok:
		_, err := KernelNamed(value)
		return Change{Kind: ChangeKernel, Kernel: value}, err
	case len(words) == 1 && name == "cpus" && ok:
		var n int64
		err := number(value, 1, mostCPUs, &n)
		return Change{Kind: ChangeCPUs, CPUs: int(n)}, err
	}
	return Change{}, errors.New("begins with none of task=, irq=, mutex=, cgroup=, arrivals=, set, kernel=, cpus=, exit_teardown, remove")
}

func parsePatterned(kind ChangeKind, of, pattern string, words, known []string) (Change, error) {
	c := Change{Kind: kind, Pattern: pattern}
	if pattern == "" {
		return c, fmt.Errorf("names no %s", of)
	}
	if len(words) == 0 {
		return c, fmt.Errorf("says nothing about the %s", of)
	}
	if _, err := matchAny(pattern, ""); err != nil {
		return c, err
	}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" || strings.ContainsFunc(name, needsQuotes) {
			return c, fmt.Errorf("%q is not NAME=VALUE", w)
		}
		if known != nil && !slices.Contains(known, name) {
			return c, nearest.Unknown("word of this change", name, known)
		}
		if known != nil {
			if err := checkWord(name, value); err != nil {
				return c, err
			}
		}
		c.Values = append(c.Values, Value{name, value})
	}
	if kind == ChangeIRQ && c.Alter(sched.Attr{}).Policy == sched.Deadline {
		return c, errors.New("the thread of an interrupt cannot be SCHED_DEADLINE")
	}
	return c, nil
}

func parseSet(words []string) (Change, error) {
	c := Change{Kind: ChangeSet}
	if len(words) == 0 {
		return c, errors.New("wants set NAME=VALUE")
	}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return c, errors.New("wants set NAME=VALUE")
		}
		if _, err := settingNamed(name); err != nil {
			return c, err
		}
		c.Values = append(c.Values, Value{name, value})
	}
	return c, nil
}

func parseTeardown(words []string) (Change, error) {
	const wants = "wants exit_teardown ×FACTOR, like ×0.25"
	if len(words) != 1 {
		return Change{}, errors.New(wants)
	}
	n, err := parseFactor(words[0])
	if err != nil {
		return Change{}, fmt.Errorf("%q: %s", words[0], wants)
	}
	return Change{Kind: ChangeTeardown, Factor: n}, nil
}

func parseRemove(words []string) (Change, error) {
	c := Change{Kind: ChangeRemove}
	if len(words) == 1 {
		c.Pattern, _ = strings.CutPrefix(words[0], "task=")
	}
	if c.Pattern == "" || "task="+c.Pattern != words[0] {
		return c, errors.New("wants remove task=NAME")
	}
	_, err := matchAny(c.Pattern, "")
	return c, err
}

// parseFactor reads ×0.25, or x0.25, in millionths.
func parseFactor(text string) (int64, error) {
	number, ok := strings.CutPrefix(text, "×")
	if !ok {
		number, ok = strings.CutPrefix(text, "x")
	}
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return parseMillionths(number)
}

// factorText is what parseFactor reads.
func factorText(millionths int64) string {
	s := fmt.Sprintf("×%d.%06d", millionths/1_000_000, millionths%1_000_000)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// String is the change as ParseChange reads it.
func (c Change) String() string {
	words := make([]string, 0, len(c.Values)+1)
	switch c.Kind {
	case ChangeSet:
		words = append(words, "set")
	case ChangeKernel:
		return "kernel=" + quote(c.Kernel)
	case ChangeCPUs:
		return fmt.Sprintf("cpus=%d", c.CPUs)
	case ChangeTeardown:
		return "exit_teardown " + factorText(c.Factor)
	case ChangeRemove:
		return "remove task=" + quote(c.Pattern)
	default:
		for _, p := range patterned {
			if p.kind == c.Kind {
				words = append(words, p.begin+"="+quote(c.Pattern))
			}
		}
	}
	for _, v := range c.Values {
		words = append(words, v.Name+"="+quote(v.To))
	}
	return strings.Join(words, " ")
}

func needsQuotes(r rune) bool { return unicode.IsSpace(r) || r == '"' }

// quote is a value as splitWords reads it.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, needsQuotes) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// splitWords cuts text at blanks that do not stand in quotes. Outside of them a backslash is
// an ordinary character: patterns need it.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun, quoted, escaped := false, false, false
	for len(text) > 0 {
		// Names of tasks are any bytes: what is no character is kept.
		r, size := utf8.DecodeRuneInString(text)
		char := text[:size]
		text = text[size:]
		switch {
		case escaped:
			if r != '"' && r != '\\' {
				word.WriteByte('\\')
			}
			word.WriteString(char)
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted, begun = !quoted, true
		case !quoted && unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteString(char)
			begun = true
		}
	}
	if quoted {
		return nil, errors.New("a quotation is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
