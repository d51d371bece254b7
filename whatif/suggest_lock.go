package whatif

import "fmt"

// suggestBoosted: no setting helps against what a task does while it holds a lock that a more
// important one wants; that is the program's to change. The replay tells what it would bring.
func suggestBoosted(a *asked) []Candidate {
	if a.cause.PID < 0 {
		return nil
	}
	return []Candidate{
		{Text: fmt.Sprintf("%s works outside of the lock (move the section)", a.cause.Comm), Change: "mutex=" + a.holder() + " held=outside"},
		{Text: fmt.Sprintf("%s holds the lock for half as long (shorten the section)", a.cause.Comm), Change: "mutex=" + a.holder() + " held=×0.5"},
	}
}
