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

// Values adds the slopes between the smallest and the largest size: of the median death, and
// of the longest wait. Where the changes keep waits short there is nothing to divide: the
// slope is then about 0.
func (s sizes) Values(end event.Time) map[string]int64 {
	m := s.deaths.Values(end)
	small, large := s.victims[0], s.victims[len(s.victims)-1]
	mb := megabytes(large) - megabytes(small)
	for _, of := range []struct{ slope, name, which string }{{"death_ns_per_mb", "death_", "_p50_ns"}, {"rt_wait_ns_per_mb", "rt_wait_", "_max_ns"}} {
		a, okA := m[of.name+small+of.which]
		b, okB := m[of.name+large+of.which]
		if okA && okB && mb > 0 {
			m[of.slope] = (b - a) / mb
		}
	}
	return m
}

func megabytes(name string) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(name, "mb"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
