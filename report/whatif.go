package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/whylate/whylate/result"
)

// WhatIf prints the answer of `whylate whatif`: for each set of changes what becomes of the
// longest wait, then of each late wait, of each task, and who is harmed. A prediction is called
// one and carries the error of the unchanged replay; what is withheld prints as unknown, with
// the reason. Only writing to w can fail.
func WhatIf(w io.Writer, r *result.WhatIf, o Options) error {
	p := newPrinter(w, o)
	if o.Markdown {
		p.line("%s", mdText(strings.TrimSpace(r.Input.File+"   "+p.inputText(&r.Input))))
	} else {
		p.input(&r.Input)
	}
	for i := range r.Changes {
		p.changed(r, &r.Changes[i])
	}
	p.gap()
	p.say("%s; `whylate replay` tells more", answerable(&r.Replay))
	if o.All || o.Verbose {
		p.assumed(r.Assumed)
	} else if n := len(r.Assumed); n > 0 {
		p.say("%s; -v lists them", plural(int64(n), "assumption about the recorded machine", "assumptions about the recorded machine"))
	}
	p.diagnostics(r.Diagnostics)
	return p.flush()
}

// changed prints one set of changes.
func (p *printer) changed(r *result.WhatIf, c *result.Changed) {
	names := make([]string, len(c.Changes))
	for i, text := range c.Changes {
		names[i] = "--change '" + escape(text) + "'"
	}
	if p.Markdown {
		p.line("\n### %s", mdCode(strings.Join(names, " ")))
	} else {
		p.line("\n%s", p.bold(strings.Join(names, " ")))
	}
	for _, command := range c.Commands {
		if p.Markdown {
			p.line("\n%s", mdCode(command))
			continue
		}
		p.line("   %s", escape(command))
	}
	if c.Refused != "" {
		p.gap()
		p.say("the kernel refuses this: %s", escape(c.Refused))
		return
	}
	p.gap()
	p.say("%s", p.bold(p.foretold(r, c)))
	if n := &c.Sum; len(c.Late) > 1 {
		p.say("of %s %s become shorter, %s longer, %s stay, %s are not answered", plural(int64(len(c.Late)), "late wait", "late waits"),
			count(n.Shorter), count(n.Longer), count(n.Same), count(n.Withheld))
	}
	p.predictedWaits(r, c)
	p.changedTasks(r, c)
	if slices.ContainsFunc(c.Harm, func(h result.Harm) bool { return p.Verbose || !h.Kernel }) {
		p.gap()
		p.harm("", c.Harm)
	}
	if slices.ContainsFunc(c.Late, func(f result.Prediction) bool { return f.Withheld == "" }) {
		p.gap()
		p.say("%s", prediction(c))
	}
	for _, d := range c.Diagnostics {
		p.say("note: %s (%s)", escape(d.Text), count(d.Count))
	}
}

// foretold says what becomes of the first late wait for which something is predicted: they
// stand in the order in which people look at them.
func (p *printer) foretold(r *result.WhatIf, c *result.Changed) string {
	if len(c.Late) == 0 {
		return "no wait is late enough to ask about; --over chooses shorter ones"
	}
	for i := range c.Late {
		f, l := &c.Late[i], &r.Late[i]
		if f.Withheld != "" {
			continue
		}
		text := fmt.Sprintf("predicted: %s of %s (wait %s) become %s", p.amount(f.BeforeNS), p.task(l.Comm, l.PID), escape(f.ID), p.amount(f.AfterNS))
		if f.WorseNS > 0 {
			text += fmt.Sprintf(", but another of its waits becomes %s", p.amount(f.WorseNS))
		}
		return text + fmt.Sprintf("; the unchanged replay is off by %s there (%s)", p.amount(f.ErrorNS), percent(f.ErrorNS, f.BeforeNS))
	}
	return "nothing is predicted: " + escape(c.Late[0].Withheld)
}

// The waits of a set of changes that print without All: in all, and of one task.
const (
	mostPredicted = 20
	mostOfATask   = 5
)

// predictedWaits prints what becomes of each late wait.
func (p *printer) predictedWaits(r *result.WhatIf, c *result.Changed) {
	rows := [][]string{{"WAIT", "TASK", "AS", "RECORDED", "REPLAYED", "ERROR", "PREDICTED", ""}}
	hidden, fair, of := 0, 0, make(map[int32]int)
	for i := range c.Late {
		f, l := &c.Late[i], &r.Late[i]
		switch {
		case p.All:
		case f.Withheld != "" && l.Class == "fair" && !c.FairClass:
			fair++
			continue
		case len(rows) > mostPredicted || of[l.PID] == mostOfATask:
			hidden++
			continue
		}
		of[l.PID]++
		after, note := p.number(f.AfterNS), ""
		if f.WorseNS > 0 {
			note = "another of its waits becomes " + p.number(f.WorseNS)
		}
		if f.Withheld != "" {
			after, note = "unknown", escape(f.Withheld)
		}
		rows = append(rows, []string{escape(f.ID), p.task(l.Comm, l.PID), classWord(l.Class, l.Prio), p.number(f.BeforeNS), p.number(f.ReplayedNS),
			percent(f.ErrorNS, f.BeforeNS), after, note})
	}
	if len(rows) > 1 {
		p.table("late waits, "+p.unit(), "lllrrrr", rows)
	}
	if hidden > 0 {
		p.say("and %s more; --all shows them", count(int64(hidden)))
	}
	if fair > 0 {
		p.say("%s: nothing is predicted, they took turns as they were recorded, since no snapshot tells their virtual run times", plural(int64(fair), "late wait of a fair task", "late waits of fair tasks"))
	}
}

// changedTasks prints the waits of each task before and after. Without All that are the deadline
// and real-time tasks that were asked about or are harmed: nothing is promised for others.
func (p *printer) changedTasks(r *result.WhatIf, c *result.Changed) {
	asked := make(map[int32]bool)
	for i := range c.Late {
		asked[r.Late[i].PID] = true
	}
	for i := range c.Harm {
		asked[c.Harm[i].PID] = true
	}
	rows := [][]string{{"TASK", "AS", "P50", "P99", "MAX", "RECORDED P99", "RECORDED MAX", "LATE JOBS"}}
	for i := range c.Tasks {
		t := &c.Tasks[i]
		if !p.All && (t.Class != "rt" && t.Class != "dl" || !asked[t.PID]) {
			continue
		}
		jobs := ""
		if t.Jobs > 0 {
			jobs = fmt.Sprintf("%s of %s", arrow(count(t.MissesBefore), count(t.MissesAfter)), count(t.Jobs))
		}
		rows = append(rows, []string{p.task(t.Comm, t.PID), classWord(t.Class, t.Prio), arrow(p.number(t.Replayed.P50NS), p.number(t.Changed.P50NS)),
			arrow(p.number(t.Replayed.P99NS), p.number(t.Changed.P99NS)), arrow(p.number(t.Replayed.MaxNS), p.number(t.Changed.MaxNS)),
			p.number(t.Recorded.P99NS), p.number(t.Recorded.MaxNS), jobs})
	}
	if len(rows) > 1 {
		p.table("wakeup waits, "+p.unit()+", unchanged replay → changed replay", "llrrrrrr", rows)
	}
}

// prediction says what a prediction is, and how well those of its sort were met.
func prediction(c *result.Changed) string {
	text := "This is a prediction: the recorded load in a model of the scheduler, with the change made."
	k := c.Confirmed
	if k == nil && len(c.Changes) > 1 {
		return text + " No prediction of several changes together is counted among those that were compared with a recording."
	}
	if k == nil || k.Predictions == 0 {
		return text + " None of this sort was compared with a recording of the changed machine yet."
	}
	return text + fmt.Sprintf(" Of %s of more than 1 ms that were predicted for changes of this sort (%s) before they were recorded, %s within 10 %%; off by %s in the middle, by %s at p90.",
		plural(int64(k.Predictions), "wait", "waits"), escape(k.Mechanism), plural(int64(k.Within), "was", "were"), percent(k.Median, 1000), percent(k.P90, 1000))
}
