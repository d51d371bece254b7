package cases

import "github.com/whylate/whylate/latency"

// tally collects lengths of time by name and gives the median and the maximum of each as
// measures: restart_p50_ns, restart_max_ns.
type tally struct {
	names  []string
	series []*latency.Series
}

func (t *tally) add(name string, ns int64) {
	for i, have := range t.names {
		if have == name {
			t.series[i].Add(ns)
			return
		}
	}
	t.names, t.series = append(t.names, name), append(t.series, &latency.Series{})
	t.series[len(t.series)-1].Add(ns)
}

// values adds the measures to m.
func (t *tally) values(m map[string]int64) {
	for i, name := range t.names {
		p50, _ := t.series[i].Percentile(50, 100)
		m[name+"_p50_ns"], m[name+"_max_ns"] = p50, t.series[i].Max()
	}
}
