package cases

import (
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
)

// sizes is deaths of tasks whose name says how many MB they have, with what each MB takes.
type sizes struct{ *deaths }

func watchSizes(victims ...string) func(*experiment.Context) experiment.Watcher {
	watch := watchDeaths(victims...)
	return func(c *experiment.Context) experiment.Watcher { return sizes{watch(c).(*deaths)} }
}

// Values adds the slopes between the smallest and the largest size that have a number: of the
// median death, and of the longest wait. Where the changes keep waits short there is nothing to
// divide: the slope is then about 0.
func (s sizes) Values(end event.Time) map[string]int64 {
	m := s.deaths.Values(end)
	for _, of := range []struct{ slope, name, which string }{{"death_ns_per_mb", "death_", "_p50_ns"}, {"rt_latency_ns_per_mb", "rt_latency_", "_max_ns"}} {
		first, last := "", ""
		for _, v := range s.victims {
			if _, ok := m[of.name+v+of.which]; ok {
				if first == "" {
					first = v
				}
				last = v
			}
		}
		if mb := megabytes(last) - megabytes(first); mb > 0 {
			m[of.slope] = (m[of.name+last+of.which] - m[of.name+first+of.which]) / mb
		}
	}
	return m
}

// megabytes reads the size off a name such as mb64.
func megabytes(name string) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(name, "mb"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
