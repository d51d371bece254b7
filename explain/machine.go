package explain

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/sysinfo"
)

// sumUp is the snapshot s in its public form, nil for none; start is the first stamp of the trace.
func sumUp(s *sysinfo.Snapshot, start event.Time) *result.Snapshot {
	if s == nil {
		return nil
	}
	out := &result.Snapshot{Kernel: s.Kernel.Release, CPUs: len(s.CPUs), Tasks: len(s.Tasks), CGroups: len(s.CGroups), IRQs: len(s.IRQs),
		Settings: []result.Setting{}, Features: []result.Feature{}, Policies: []result.Policy{}}
	if s.TimeNS != nil {
		at := *s.TimeNS - int64(start)
		out.TimeNS = &at
	}
	for _, x := range s.Settings {
		out.Settings = append(out.Settings, result.Setting(x))
	}
	for _, f := range s.Features {
		out.Features = append(out.Features, result.Feature(f))
	}
	var isolated, nohz sysinfo.CPUList
	online := 0
	for i := range s.CPUs {
		c := &s.CPUs[i]
		if c.Isolated {
			isolated = append(isolated, c.CPU)
		}
		if c.NoHZFull {
			nohz = append(nohz, c.CPU)
		}
		if c.Online {
			online++
		}
	}
	out.Isolated, out.NoHZFull = isolated.String(), nohz.String()
	policies := map[string]int{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		policies[t.Policy]++
		if n := len(t.CPUs); n > 0 && (n < online || online == 0) {
			out.Pinned++
		}
	}
	for p, n := range policies {
		out.Policies = append(out.Policies, result.Policy{Policy: p, Tasks: n})
	}
	sort.Slice(out.Policies, func(i, j int) bool {
		if a, b := &out.Policies[i], &out.Policies[j]; a.Tasks != b.Tasks {
			return a.Tasks > b.Tasks
		}
		return out.Policies[i].Policy < out.Policies[j].Policy
	})
	for i := range s.CGroups {
		if s.CGroups[i].QuotaNS > 0 {
			out.Quotas++
		}
	}
	for i := range s.IRQs {
		if s.IRQs[i].Thread > 0 {
			out.Threaded++
		}
	}
	return out
}
