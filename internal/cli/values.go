package cli

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/whylate/whylate/event"
)

// parseDuration reads a length of time: "100us", "1ms", "1.5s" as time.ParseDuration
// does, and a number without a unit as µs, which is what cyclictest and rtla take.
func parseDuration(s string) (event.Time, error) {
	if s != "" && strings.Trim(s, "0123456789.") == "" {
		us, err := parseFixed(s, 3)
		return event.Time(us), err
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errors.New(`not a duration; write 100us, 1ms, 2s, or a plain number of µs`)
	}
	return event.Time(d), nil
}

// parsePositive is parseDuration without 0, which would mean "not set".
func parsePositive(s string) (event.Time, error) {
	d, err := parseDuration(s)
	if err == nil && d == 0 {
		err = errors.New("must be more than 0")
	}
	return d, err
}

// parseFixed reads a decimal number with at most digits digits after the point and
// returns it in units of the last one: ("1.5", 3) is 1500. No binary fraction comes in
// between, so that a time copied from a trace finds exactly its event.
func parseFixed(s string, digits int) (int64, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	if len(fraction) > digits {
		return 0, errors.New("finer than 1 ns")
	}
	if whole == "" && fraction == "" {
		return 0, errors.New("not a number")
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", digits-len(fraction)), 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number that fits", s)
	}
	return int64(n), nil
}

// timeSpan is a part of the trace; event.NoTime at either end leaves it open.
type timeSpan struct{ from, to event.Time }

// parseTimeSpan reads perf's "start,stop": seconds on the trace's clock, either may be
// empty.
func parseTimeSpan(s string) (timeSpan, error) {
	span := timeSpan{event.NoTime, event.NoTime}
	from, to, ok := strings.Cut(s, ",")
	if !ok {
		return span, errors.New("write START,STOP in seconds; either may be empty, the comma not")
	}
	for _, end := range []struct {
		text string
		into *event.Time
	}{{from, &span.from}, {to, &span.to}} {
		if end.text == "" {
			continue
		}
		ns, err := parseFixed(end.text, 9)
		if err != nil {
			return span, err
		}
		*end.into = event.Time(ns)
	}
	if span.from.Valid() && span.to.Valid() && span.to <= span.from {
		return span, errors.New("the stop is not after the start")
	}
	return span, nil
}

// maxCPU bounds what a list can expand to; NR_CPUS of the largest kernels is 8192.
const maxCPU = 65535

// parseCPUs reads a list of the kernel's form: "0-3,5".
func parseCPUs(s string) ([]event.CPU, error) {
	var cpus []event.CPU
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.ParseUint(first, 10, 31)
		b, errB := strconv.ParseUint(last, 10, 31)
		if errA != nil || errB != nil || b < a || b > maxCPU {
			return nil, fmt.Errorf("%q is not a CPU or a range of CPUs; write 0-3,5", part)
		}
		for cpu := a; cpu <= b; cpu++ {
			cpus = append(cpus, event.CPU(cpu))
		}
	}
	return cpus, nil
}

// parsePIDs reads "311,412".
func parsePIDs(s string) ([]event.PID, error) {
	var pids []event.PID
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil || n > math.MaxInt32 {
			return nil, fmt.Errorf("%q is not a pid; write 311,412", part)
		}
		pids = append(pids, event.PID(n))
	}
	return pids, nil
}

// parseCount reads a number of things, at least one.
func parseCount(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n == 0 {
		return 0, errors.New("not a number of 1 or more")
	}
	return int(n), nil
}

// parseGlob checks a shell pattern for task names.
func parseGlob(s string) (string, error) {
	if _, err := path.Match(s, ""); err != nil || s == "" {
		return "", errors.New(`not a shell pattern; write ctl-loop, 'irq/*' or 'worker-[0-9]'`)
	}
	return s, nil
}

// parseWaitID checks the form of a wait's name. Whether there is such a wait only the
// trace can say.
func parseWaitID(s string) (string, error) {
	pid, at, ok := strings.Cut(s, "@")
	_, err := strconv.ParseUint(pid, 10, 31)
	if !ok || err != nil || at == "" {
		return "", errors.New("not the name of a wait; copy one that explain prints, like 311@290.333201")
	}
	return s, nil
}

// oneOf returns a parser that accepts only the given words.
func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		for _, w := range words {
			if s == w {
				return s, nil
			}
		}
		return "", fmt.Errorf("must be one of: %s", strings.Join(words, ", "))
	}
}

// into returns a flag function that stores what parse returns.
func into[T any](dst *T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		if err == nil {
			*dst = v
		}
		return err
	}
}

// appendInto is into for flags that may be given several times.
func appendInto[T any](dst *[]T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		if err == nil {
			*dst = append(*dst, v)
		}
		return err
	}
}

// appendAllInto is appendInto for flags that take lists.
func appendAllInto[T any](dst *[]T, parse func(string) ([]T, error)) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		if err == nil {
			*dst = append(*dst, v...)
		}
		return err
	}
}
