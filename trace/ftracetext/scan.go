package ftracetext

import (
	"bytes"
	"math"

	"github.com/whylate/whylate/event"
)

// maxCPU bounds CPU numbers: NR_CPUS is at most 8192. A larger one is no CPU.
const maxCPU = 8191

// skipSpaces returns the place of the first byte from i on that is no blank.
func skipSpaces(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

// trimLeft is b without leading blanks.
func trimLeft(b []byte) []byte { return b[skipSpaces(b, 0):] }

// isDigit relies on the wrap of bytes below '0'.
func isDigit(c byte) bool { return c-'0' <= 9 }

// digits reads an unsigned number at i. It returns i itself if there is none or if it
// does not fit, so that callers see one condition, next == i, for both.
func digits(b []byte, i int) (v int64, next int) {
	j := i
	for j < len(b) && isDigit(b[j]) {
		if v > (math.MaxInt64-9)/10 {
			return 0, i
		}
		v = v*10 + int64(b[j]-'0')
		j++
	}
	return v, j
}

// number reads all of b as a decimal number with an optional sign. Trailing bytes make it
// fail: "12x" is no number of any kernel.
func number(b []byte) (int64, bool) {
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	v, n := digits(b, 0)
	if n != len(b) || n == 0 {
		return 0, false
	}
	if neg {
		v = -v
	}
	return v, true
}

// hexNumber reads all of b as a hexadecimal number, with or without 0x, of up to 64 bits:
// addresses of the kernel become negative.
func hexNumber(b []byte) (int64, bool) {
	if len(b) > 2 && b[0] == '0' && (b[1] == 'x' || b[1] == 'X') {
		b = b[2:]
	}
	if len(b) == 0 || len(b) > 16 {
		return 0, false
	}
	var v uint64
	for _, c := range b {
		switch {
		case isDigit(c):
			v = v<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | uint64(c-'a'+10)
		case c >= 'A' && c <= 'F':
			v = v<<4 | uint64(c-'A'+10)
		default:
			return 0, false
		}
	}
	return int64(v), true
}

// anyNumber reads a decimal number, or a hexadecimal one with 0x.
func anyNumber(b []byte) (int64, bool) {
	if len(b) > 2 && b[0] == '0' && b[1] == 'x' {
		return hexNumber(b)
	}
	return number(b)
}

// pidNumber reads a thread id; -1 is one that the trace does not know. Others below 0 and
// beyond 31 bits do not exist.
func pidNumber(b []byte) (event.PID, bool) {
	v, ok := number(b)
	if !ok || v < -1 || v > math.MaxInt32 {
		return event.NoPID, false
	}
	return event.PID(v), true
}

// prioNumber reads a priority. The kernel's -1 of deadline tasks appears as 4294967295
// where an event's format declares it unsigned.
func prioNumber(b []byte) (event.Prio, bool) {
	v, ok := number(b)
	if !ok || v < math.MinInt32 || v > math.MaxUint32 {
		return event.NoPrio, false
	}
	return event.Prio(int32(uint32(v))), true
}

// cpuNumber reads a CPU; -1 is one that the event does not name.
func cpuNumber(b []byte) (event.CPU, bool) {
	v, ok := number(b)
	if !ok || v < -1 || v > maxCPU {
		return event.NoCPU, false
	}
	return event.CPU(v), true
}

// cutLast splits b around the last sep. A task name may contain what looks like the next
// field; the last occurrence is the real one, since only numbers follow.
func cutLast(b []byte, sep string) (before, after []byte, ok bool) {
	i := indexOf(b, sep)
	if i < 0 {
		return b, nil, false
	}
	// Searching forward again is faster than backward: sep is nearly always there once.
	for {
		j := indexOf(b[i+1:], sep)
		if j < 0 {
			return b[:i], b[i+len(sep):], true
		}
		i += 1 + j
	}
}

// indexOf is the place of the first sep in b, -1 if there is none.
func indexOf(b []byte, sep string) int {
	// The conversion does not escape, so it does not allocate.
	return bytes.Index(b, []byte(sep))
}

// cutPrefix is bytes.CutPrefix for a string, without a conversion on the heap.
func cutPrefix(b []byte, prefix string) ([]byte, bool) {
	if len(b) < len(prefix) || string(b[:len(prefix)]) != prefix {
		return b, false
	}
	return b[len(prefix):], true
}

// hasPrefix reports whether b begins with prefix.
func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// nextToken cuts the next word off b; both parts are empty at the end.
func nextToken(b []byte) (token, rest []byte) {
	b = trimLeft(b)
	for i, c := range b {
		if c == ' ' {
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

// lastToken cuts the last word off b, and the blanks around it.
func lastToken(b []byte) (before, token []byte) {
	end := len(b)
	for end > 0 && b[end-1] == ' ' {
		end--
	}
	i := end
	for i > 0 && b[i-1] != ' ' {
		i--
	}
	start := i
	for i > 0 && b[i-1] == ' ' {
		i--
	}
	return b[:i], b[start:end]
}

// nextField cuts the next key=value off b; a word without "=" has no key.
func nextField(b []byte) (key, value, rest []byte) {
	token, rest := nextToken(b)
	i := bytes.IndexByte(token, '=')
	if i < 0 {
		return nil, token, rest
	}
	return token[:i], token[i+1:], rest
}
