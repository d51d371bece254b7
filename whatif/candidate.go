package whatif

import (
	"cmp"
	"slices"
	"strings"

	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// Candidate is a change that a cause suggests. Whether it helps is for a replay to say.
type Candidate struct {
	Kind    string // of the cause
	Change  string // in the grammar of scenario.ParseChange
	Command string // what makes the change on a running machine; "": no command does
	Text    string // for people
}

// asked is a cause of a wait whose rule is asked.
type asked struct {
	known *Known
	late  *result.Late
	cause *result.Cause // NS is the sum over all causes of this kind and culprit
}

// rules are the kinds that suggest something. Those that are missing suggest nothing: what a
// CPU needs to leave its idle state (idle_exit) and the last steps to a switch (switch) are
// no matter of settings that a replay could tell, and of what is unknown nothing follows.
var rules = map[string]func(*asked) []Candidate{
	"exit_teardown": suggestExit,
	"rt_throttled":  suggestRTThrottled,
	"fair_server":   suggestFairServer,
	"dl_throttled":  suggestDLThrottled,
	"pi_boosted":    suggestBoosted,
	"higher_prio":   suggestHigherPrio,
	"same_prio":     suggestSamePrio,
	"irq":           suggestIRQ,
	"softirq":       suggestSoftirq,
	"preempt_off":   suggestPreemptOff,
	"late_wakeup":   suggestLateWakeup,
	"cfs_quota":     suggestQuota,
	"fair_turn":     suggestFairTurn,
}

// leastShare is how much of a wait a cause must make up to be asked, in percent: that from
// which its verdict counts for the wait.
const leastShare = 5

// Candidates lists the changes that the causes of a wait suggest: the cause with the largest
// part first, of one cause the smallest change first, none twice.
func Candidates(l *result.Late, k *Known) []Candidate {
	var list []Candidate
	seen := make(map[string]bool)
	for _, c := range culprits(l) {
		rule := rules[c.Kind]
		if rule == nil || c.NS*100 < l.LatenessNS*leastShare {
			continue
		}
		for _, s := range rule(&asked{k, l, &c}) {
			if !seen[s.Change] {
				seen[s.Change] = true
				s.Kind = c.Kind
				if c, err := scenario.ParseChange(s.Change); err == nil {
					s.Command = k.Command(&c)
				}
				list = append(list, s)
			}
		}
	}
	return list
}

// culprits sums the causes of a wait by kind and culprit, the largest first. Each has the
// place and the words of its longest part.
func culprits(l *result.Late) []result.Cause {
	type key struct {
		kind, comm string
		pid        int32
	}
	var sums []result.Cause
	longest := make(map[key]int64)
	at := make(map[key]int)
	for _, c := range l.Causes {
		k := key{c.Kind, c.Comm, c.PID}
		i, ok := at[k]
		if !ok {
			at[k], longest[k] = len(sums), c.NS
			sums = append(sums, c)
			continue
		}
		total := sums[i].NS + c.NS
		if c.NS > longest[k] {
			longest[k], sums[i] = c.NS, c
		}
		sums[i].NS = total
	}
	slices.SortStableFunc(sums, func(a, b result.Cause) int { return cmp.Compare(b.NS, a.NS) })
	return sums
}

// quoted is a pattern as a value of the grammar.
func quoted(pattern string) string {
	c := scenario.Change{Kind: scenario.ChangeRemove, Pattern: pattern}
	return strings.TrimPrefix(c.String(), "remove task=")
}
