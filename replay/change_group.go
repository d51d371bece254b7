package replay

import (
	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// changeGroups writes the files of the control groups that match.
func (l *Load) changeGroups(c *scenario.Change) error {
	found := false
	var known []string
	for i := range l.Groups {
		g := &l.Groups[i]
		if g.Auto {
			continue
		}
		known = append(known, g.Path)
		if c.Matches(g.Path) {
			found = true
			c.AlterGroup(&g.Group)
		}
	}
	if !found {
		return nearest.Unknown("control group of the snapshot that recorded tasks are in", c.Pattern, known)
	}
	return nil
}

// fairSettings are settings of the fair class that are no features.
var fairSettings = map[string]bool{"latency_ns": true, "min_granularity_ns": true, "idle_min_granularity_ns": true, "wakeup_granularity_ns": true,
	"base_slice_ns": true, "sched_cfs_bandwidth_slice_us": true, "sched_autogroup_enabled": true,
	"migration_cost_ns": true, "nr_migrate": true}

// NeedsFairClass reports whether a change is one of what the fair class goes by, so that fair tasks cannot
// go on to take turns as they were recorded: a weight, a slice, a policy among fair ones, a group,
// or a setting of that class.
func (l *Load) NeedsFairClass(c *scenario.Change) bool {
	switch c.Kind {
	case scenario.ChangeCGroup:
		return true
	case scenario.ChangeSet:
		for _, v := range c.Values {
			if _, is := sched.FeatureNamed(v.Name); is || fairSettings[v.Name] {
				return true
			}
		}
	case scenario.ChangeTask:
		found, err := l.matching(c)
		if err != nil || !c.AltersAttr() {
			return false
		}
		for _, i := range found {
			if t := &l.Tasks[i]; isFair(&t.Attr) {
				to := c.Alter(t.Attr)
				return isFair(&to) && to != t.Attr
			}
		}
	}
	return false
}

// UseFairClass lets fair tasks run by the rules of the kernel's fair class. What of them no snapshot
// tells is assumed.
func (l *Load) UseFairClass() {
	if l.FairClass {
		return
	}
	l.FairClass = true
	n := int64(0)
	for i := range l.Tasks {
		if t := &l.Tasks[i]; isFair(&t.Attr) && t.VirtualBy != FromSnapshot && t.Begin != BeginNew {
			n++
		}
	}
	if n > 0 {
		l.assume(guesses[fairInferred].kind, n, guesses[fairInferred].text)
	}
}
