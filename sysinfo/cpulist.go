package sysinfo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// CPUList are numbers of CPUs, rising. In JSON it is a list in the kernel's form, "0-3,5".
type CPUList []int32

// mostCPUs bounds the numbers of CPUs; NR_CPUS is at most 8192.
const mostCPUs = 8192

// ListOf is cpus as a list.
func ListOf(cpus []event.CPU) CPUList {
	list := make(CPUList, len(cpus))
	for i, c := range cpus {
		list[i] = int32(c)
	}
	return list
}

// String is the kernel's form of the list.
func (l CPUList) String() string {
	var b strings.Builder
	for i := 0; i < len(l); {
		j := i
		for j+1 < len(l) && l[j+1] == l[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(l[i])))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(l[j])))
		}
		i = j + 1
	}
	return b.String()
}

// MarshalJSON writes the kernel's form.
func (l CPUList) MarshalJSON() ([]byte, error) { return json.Marshal(l.String()) }

// ParseCPUs reads a list such as 0-3,5 in any order; "" is none.
func ParseCPUs(text string) (CPUList, error) {
	list := CPUList{}
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		low, high, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseUint(low, 10, 31)
		b := a
		if err == nil && isRange {
			b, err = strconv.ParseUint(high, 10, 31)
		}
		if err != nil || b < a || b >= mostCPUs || len(list) > 2*mostCPUs {
			return nil, fmt.Errorf("%q is no list of CPUs such as 0-3,5", short(text))
		}
		for c := a; c <= b; c++ {
			list = append(list, int32(c))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// short cuts what stands in a message.
func short(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}
