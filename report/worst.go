package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/whylate/whylate/result"
)

// Worst prints the answer of `whylate worst`: how long, why, how sure that is, which arrivals
// make it and how to see it again. Only writing to w can fail.
func Worst(w io.Writer, r *result.WorstCase, o Options) error {
	p := newPrinter(w, o)
	p.line("%s   model · %s · %s", p.bold(escape(r.Scenario)), escape(r.Kernel), plural(int64(r.CPUs), "CPU", "CPUs"))
	if r.Job.Number == 0 {
		p.line("%s: no job in %s: it never came back from a sleep of its own", escape(r.Task), plural(int64(r.Search.Runs), "run", "runs"))
		p.diagnostics(r.Notes)
		return p.flush()
	}
	p.line("%s   %s", p.bold(p.amount(r.WorstNS)), worstWord(r))
	p.worstJob(r)
	p.worstParts(r)
	if p.Verbose {
		for i := range r.Waits {
			p.line("")
			p.late(&r.Input, &r.Waits[i], map[string]bool{})
		}
	}
	p.worstSure(r)
	p.worstArrivals(r)
	if r.Replay != "" {
		p.line("again    %s", escape(r.Replay))
	}
	p.diagnostics(r.Notes)
	return p.flush()
}

// worstWord says what was longest.
func worstWord(r *result.WorstCase) string {
	of := escape(r.Task)
	switch r.Measure {
	case "wait":
		return "worst wait of " + of + " found: from its wake until it has the CPU"
	case "lateness":
		return "worst lateness of " + of + " found: from when its timer is due until it has the CPU"
	}
	return "worst response of " + of + " found: from its release until its job is done"
}

// worstJob says which job it was, and when.
func (p *printer) worstJob(r *result.WorstCase) {
	end := ""
	switch {
	case r.Open:
		end = "; that had not ended when the run did: it is longer"
	case r.Job.DoneNS != nil:
		end = ", done " + p.amount(*r.Job.DoneNS-r.Job.ReleasedNS) + " later"
	}
	p.line("  %s: job %s, released at %s s%s", p.who(r.Comm, r.PID, r.Prio), count(int64(r.Job.Number)), p.clock(r.Job.ReleasedNS), end)
}

// worstParts prints what the time went by; the lines sum to it.
func (p *printer) worstParts(r *result.WorstCase) {
	all := result.Late{Verdict: "proven"}
	for i := range r.Waits {
		all.Causes = append(all.Causes, r.Waits[i].Causes...)
	}
	shares := sumCauses(all.Causes)
	var rows [][]string
	for i, s := range shares {
		if i == maxShares && len(shares) > maxShares+1 && !p.Verbose {
			rest := int64(0)
			for _, s := range shares[i:] {
				rest += s.ns
			}
			rows = append(rows, []string{p.amount(rest), fmt.Sprintf("%d shorter ones; -v lists them", len(shares)-i)})
			break
		}
		kind := KindWord(s.Kind)
		if s.Verdict != "proven" && s.Verdict != s.Kind {
			kind += " (" + escape(s.Verdict) + ")"
		}
		rows = append(rows, []string{p.amount(s.ns), p.who(s.Comm, s.PID, s.Prio), kind, escape(s.Detail)})
	}
	if r.WakeNS != 0 {
		rows = append(rows, []string{p.amount(r.WakeNS), "–", KindWord("late_wakeup"), "from the expiry of its timer, as the model knows; its events do not tell"})
	}
	rest := r.BlockedNS
	for i := range r.Blocked {
		b := &r.Blocked[i]
		rest -= b.NS
		why := "ran while " + escape(r.Task) + " slept for others"
		if b.Woke {
			why = escape(r.Task) + " slept until it was woken by it: a lock, mostly"
		}
		rows = append(rows, []string{p.amount(b.NS), p.who(b.Comm, b.PID, b.Prio), why})
	}
	if rest != 0 {
		rows = append(rows, []string{p.amount(rest), "–", "asleep within its job, for others"})
	}
	if r.SlackNS != 0 {
		rows = append(rows, []string{p.amount(r.SlackNS), "–", "slack of its timer"})
	}
	if r.OwnNS != 0 {
		rows = append(rows, []string{p.amount(r.OwnNS), p.task(r.Comm, r.PID), "its own work, and getting to it"})
	}
	p.columns("     ", "r", rows)
}

// labelled is a paragraph with a word in front, all such words as wide.
func (p *printer) labelled(label, text string) {
	const room = 9
	limit := paragraphWidth
	if p.Width > 40 {
		limit = min(limit, p.Width)
	}
	line := left(label, room-1)
	for _, word := range strings.Fields(escape(text)) {
		if width(line)+1+width(word) > limit && strings.TrimSpace(line) != "" {
			p.line("%s", line)
			line = left("", room-1)
		}
		line += " " + word
	}
	p.line("%s", line)
}

// worstSure says how sure the answer is, and what was tried.
func (p *printer) worstSure(r *result.WorstCase) {
	s, t := &r.Search, &r.Theory
	swarm := plural(int64(s.Runs-s.GridTried), "run", "runs") + " of a swarm over " + varied[s.Vary]
	p.line("")
	switch {
	case t.GapNS != nil && *t.GapNS == 0:
		p.labelled("sure", "proven: theory allows no more")
	case s.Proven && s.GridWorstNS == r.WorstNS:
		p.labelled("sure", "proven on the grid, not between its points: it is the worst of them all, and "+swarm+" found nothing worse")
	case s.Proven:
		p.labelled("sure", "best found, by a swarm, no proof; the worst of all points of the grid is "+p.amount(s.GridWorstNS))
	default:
		p.labelled("sure", "best found, no proof: more points of the grid are left, and --budget tries more of them")
	}
	if t.BoundNS == nil {
		p.labelled("theory", "has no bound here: "+t.Why)
	} else {
		text := "at most " + p.amount(*t.BoundNS)
		if *t.GapNS != 0 {
			text += ", of which " + p.amount(*t.GapNS) + " (" + percent(*t.GapNS, *t.BoundNS) + ") were not found"
		}
		p.labelled("theory", text+": "+t.Why)
	}
	tried := "all " + count(int64(s.Grid))
	if !s.Proven {
		tried = count(int64(s.GridTried)) + " of " + count(int64(s.Grid))
	}
	first := ""
	if s.InstantsCut {
		first = "first "
	}
	p.labelled("tried", fmt.Sprintf("%s points of a grid: starts that let an arrival meet one of the %s%s at which something happens without the task, and starts every %s; %s",
		tried, first, plural(int64(s.Instants), "instant", "instants"), p.amount(s.ResolutionNS), swarm))
	text := fmt.Sprintf("in run %s of %s", count(int64(s.FoundRun)), count(int64(s.Runs)))
	if s.Again > 0 {
		text += "; " + plural(int64(s.Again), "later one", "later ones") + " met the same"
	}
	p.labelled("found", text)
}

var varied = map[string]string{"phase": "the start of the task", "arrivals": "its start and each of its first arrivals", "all": "its arrivals and the starts of all others"}

// worstArrivals says when everything came.
func (p *printer) worstArrivals(r *result.WorstCase) {
	a := &r.Arrivals
	if len(a.Changes) == 0 {
		p.line("change   none: everything arrives as the scenario says")
	}
	for _, c := range a.Changes {
		p.line("change   %s", escape(c))
	}
	var at []string
	for _, ns := range a.ReleasesNS {
		at = append(at, p.clock(ns))
	}
	if len(at) > 0 {
		p.labelled("", "it is released, up to this job, at s: "+strings.Join(at, "  "))
	}
	var others []string
	for i := range a.Others {
		o := &a.Others[i]
		sign := ""
		if o.FromNS > 0 {
			sign = "+"
		}
		others = append(others, escape(o.Comm)+" "+sign+p.amount(o.FromNS))
	}
	if len(others) > 0 {
		p.labelled("", "others, counted from that release: "+strings.Join(others, "; "))
	}
}
