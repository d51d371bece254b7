package rtapp

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// timeUnits are the units of lengths of time, in ns. The longer spellings come first.
var timeUnits = []struct {
	name string
	ns   int64
}{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

// errTime says what a length of time looks like.
var errTime = errors.New(`must be a length of time like "250ns", "1.5ms" or "2s"`)

// parseTime reads a decimal number with a unit, exactly: what is not a whole number of ns
// is an error.
func parseTime(s string) (event.Time, error) {
	for _, u := range timeUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		whole, fraction, point := strings.Cut(strings.TrimSuffix(number, " "), ".")
		if whole == "" || !digitsOnly(whole) || point && (fraction == "" || !digitsOnly(fraction)) {
			return 0, errTime
		}
		ns, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || ns > math.MaxInt64/u.ns {
			return 0, fmt.Errorf("%s is too long", quoted(s))
		}
		ns *= u.ns
		// No floating point: 0.1 has no exact value there, and results must not depend on how it
		// is rounded.
		for unit := u.ns; fraction != ""; fraction = fraction[1:] {
			if unit /= 10; unit == 0 && fraction[0] != '0' {
				return 0, fmt.Errorf("%s is no whole number of ns", quoted(s))
			}
			digit := int64(fraction[0]-'0') * unit
			if ns > math.MaxInt64-digit {
				return 0, fmt.Errorf("%s is too long", quoted(s))
			}
			ns += digit
		}
		return event.Time(ns), nil
	}
	return 0, errTime
}

// digitsOnly keeps signs, underscores and the like from strconv, which takes some.
func digitsOnly(s string) bool { return strings.Trim(s, "0123456789") == "" }

// mostMemory is more than any address space.
const mostMemory = 1 << 56

// parseBytes reads "512KiB", "64MiB", "1GiB".
func parseBytes(s string) (int64, error) {
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		number, ok := strings.CutSuffix(s, unit)
		if !ok {
			continue
		}
		number = strings.TrimSuffix(number, " ")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || !digitsOnly(number) {
			break
		}
		if shift := 10 * (i + 1); n <= mostMemory>>shift {
			return n << shift, nil
		}
		return 0, fmt.Errorf("%s is more than any address space", quoted(s))
	}
	return 0, errors.New(`must be a number of bytes or a string like "512KiB", "64MiB" or "1GiB"`)
}

// parseCPUs reads the kernel's list format: "0-3,8". No CPU may be above limit.
func parseCPUs(s string, limit int64) ([]int, error) {
	bad := fmt.Errorf(`must be a list of CPUs up to %d, like "0-3,8"`, limit)
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.ParseUint(from, 10, 31)
		b, errB := strconv.ParseUint(to, 10, 31)
		// A list that repeats itself could grow without limit.
		if errA != nil || errB != nil || a > b || b > uint64(limit) || len(list) > mostCPU {
			return nil, bad
		}
		for ; a <= b; a++ {
			list = append(list, int(a))
		}
	}
	return list, nil
}
