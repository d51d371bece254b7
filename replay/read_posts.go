package replay

import (
	"sort"

	"github.com/whylate/whylate/timeline"
)

// readLines makes interrupts of the wakes that no task and no sleep timer of the sleeper did.
func readLines(x *timeline.Index, posts []posted) []Line {
	if len(posts) == 0 {
		return nil
	}
	sort.SliceStable(posts, func(i, j int) bool { return posts[i].at < posts[j].at })
	l := Line{Number: -1, Name: x.Names.Intern("wake"), Thread: -1}
	for i, p := range posts {
		if n := len(l.Arrivals) - 1; n >= 0 && i > 0 && l.Arrivals[n].At == p.at && l.Arrivals[n].CPU == p.cpu {
			l.Arrivals[n].Wakes = append(l.Arrivals[n].Wakes, p.task)
			continue
		}
		l.Arrivals = append(l.Arrivals, Arrival{At: p.at, CPU: p.cpu, Wakes: []int{p.task}})
	}
	return []Line{l}
}
