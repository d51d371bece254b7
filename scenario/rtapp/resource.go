package rtapp

import (
	"slices"
	"strings"
)

// resourceTypes are the words for the type of a resource.
var resourceTypes = []string{"mutex", "wait", "timer", "signal", "broadcast", "sync", "sleep", "run"}

// resources reads the object that rt-app keeps for old files. A resource without a type
// makes rt-app read memory that it never wrote; what it does then is luck.
func (n *notes) resources(v *value, at *place) []Resource {
	if v == nil {
		return nil
	}
	if v.kind != object {
		n.warnf(v.off, at, "rt-app ignores this: it should be an object, not %s", v.describe())
		return nil
	}
	var list []Resource
	for i := range v.list {
		e := &v.list[i]
		m := n.membersOf(&e.value, at.member(e.key))
		r := Resource{Name: e.key, Pos: n.pos(e.off), Type: m.textOr("type", "")}
		switch {
		case !m.has("type"):
			n.errorf(e.off, m.at, `a resource needs a "type": one of %s`, strings.Join(resourceTypes, ", "))
		case r.Type != "" && !slices.Contains(resourceTypes, r.Type):
			m.errorf("type", "invalid type of resource %s%s; there are %s",
				quoted(r.Type), m.n.suggestion(r.Type, resourceTypes), strings.Join(resourceTypes, ", "))
		}
		m.ignored()
		list = append(list, r)
	}
	return list
}
