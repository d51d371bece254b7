package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/result"
)

// Replay prints the answer of `whylate replay`: how many of the late real-time waits the
// unchanged replay meets, then decisions with their baselines, then the waits. Only writing to
// w can fail.
func Replay(w io.Writer, r *result.Replay, o Options) error {
	p := newPrinter(w, o)
	p.input(&r.Input)
	p.line("\n%s", p.bold(answerable(&r.Waits)))
	p.decisions(r)
	p.replayedClasses(&r.Waits)
	p.replayedLong(&r.Waits)
	if p.All || p.Verbose {
		p.replayedTasks(&r.Waits)
	}
	p.unfinished(r.Unfinished)
	p.assumed(r.Assumed)
	p.diagnostics(r.Diagnostics)
	return p.flush()
}

// answerable says of how many late waits whatif can tell what would become of them.
func answerable(w *result.ReplayedWaits) string {
	if w.Late == 0 {
		return "no deadline or real-time task waited late"
	}
	return fmt.Sprintf("the replay meets %s of %s late deadline and real-time waits well enough for predictions (%s)",
		count(w.Answerable), count(w.Late), percent(w.Answerable, w.Late))
}

// decisions prints what the model would have chosen where the kernel chose.
func (p *printer) decisions(r *result.Replay) {
	if len(r.Decisions) == 0 {
		p.line("\nno decision of the recorded kernel can be compared: it had no choice, or the events do not tell")
		return
	}
	rows := [][]string{{"CLASS", "DECISION", "COUNTED", "AGREES", "", "BASELINE", "", "NOT TOLD", ""}}
	for i := range r.Decisions {
		d := &r.Decisions[i]
		class, _ := classColumns(d.Class, result.NoPrio)
		undecided := ""
		if d.Undecided > 0 {
			undecided = count(d.Undecided)
		}
		rows = append(rows, []string{class, escape(d.Type), count(d.N), count(d.Agree), tenths(d.Agree, d.N), count(d.Baseline), tenths(d.Baseline, d.N), undecided, reasons(d.Why)})
	}
	p.table("decisions of the recorded kernel, and the model's in its place", "llrrrrrr", rows)
	p.decisionMisses(r)
}

// tenths prints part of whole in percent with one decimal, never rounded up to all: 99.9 %.
func tenths(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	n := int64(float64(part) / float64(whole) * 1000)
	return fmt.Sprintf("%d.%d %%", n/10, n%10)
}

// mostReasons bounds the reasons of a row without All.
const mostReasons = 3

func reasons(list []result.Reason) string {
	var words []string
	for i, r := range list {
		if i == mostReasons {
			words = append(words, "…")
			break
		}
		words = append(words, fmt.Sprintf("%s %s", strings.ReplaceAll(escape(r.Reason), "_", " "), count(r.Count)))
	}
	return strings.Join(words, ", ")
}

// mostDecisionMisses bounds the misses that print without All, of each class.
const mostDecisionMisses = 5

// decisionMisses prints decisions of which the model thought otherwise.
func (p *printer) decisionMisses(r *result.Replay) {
	if r.Missed == 0 {
		return
	}
	rows := [][]string{{"AT", "CPU", "CLASS", "DECISION", "RECORDED", "MODEL", ""}}
	seen := make(map[string]int)
	for i := range r.Misses {
		m := &r.Misses[i]
		if seen[m.Class]++; !p.All && seen[m.Class] > mostDecisionMisses {
			continue
		}
		class, _ := classColumns(m.Class, result.NoPrio)
		why := strings.ReplaceAll(escape(m.Reason), "_", " ")
		if m.Text != "" {
			why += ": " + escape(m.Text)
		}
		rows = append(rows, []string{p.clock(r.Input.StartNS + m.AtNS), strconv.Itoa(int(m.CPU)), class, escape(m.Type), escape(m.Recorded), escape(m.Model), why})
	}
	p.table("where the model decides otherwise", "rrllll", rows)
	if more := r.Missed - int64(len(rows)-1); more > 0 {
		p.line("and %s more; --all shows more of them", count(more))
	}
}

// replayedClasses prints the waits by class.
func (p *printer) replayedClasses(w *result.ReplayedWaits) {
	rows := [][]string{{"CLASS", "WAITS", "MATCHED", "LONG", "WITHIN 5 %", "LATE", "ANSWERABLE", "P99 OF OTHERS", "REPLAYED", "MAX OF OTHERS", "REPLAYED"}}
	for i := range w.Classes {
		c := &w.Classes[i]
		class, _ := classColumns(c.Class, result.NoPrio)
		rows = append(rows, append([]string{class}, p.replayedCells(c)...))
	}
	p.table("waits of the recording, and of the load that runs free, "+p.unit(), "lrrrrrrrrrr", rows)
	p.line("long: %s or more on either side; late: %s or more, answerable if met within 20 %% or 50 µs", p.amount(w.LongFromNS), p.amount(w.LateFromNS))
}

func (p *printer) replayedCells(c *result.ReplayedClass) []string {
	within, answers := "", ""
	if c.Long > 0 {
		within = count(c.Within)
	}
	if c.Late > 0 {
		answers = count(c.Answerable)
	}
	r := &c.Rest
	return []string{count(c.Waits), count(c.Matched), count(c.Long), within, count(c.Late), answers,
		p.number(r.Recorded.P99NS), p.number(r.Replayed.P99NS), p.number(r.Recorded.MaxNS), p.number(r.Replayed.MaxNS)}
}

// mostLong bounds the long waits of a class that print without All.
const mostLong = 10

// replayedLong prints the long waits of deadline and real-time tasks one by one: those that the
// replay misses first.
func (p *printer) replayedLong(w *result.ReplayedWaits) {
	rows := [][]string{{"WAIT", "TASK", "RECORDED", "REPLAYED", "ERROR", "", ""}}
	hidden := 0
	for i := range w.Classes {
		c := &w.Classes[i]
		if !p.All && c.Class != "rt" && c.Class != "dl" {
			continue
		}
		list := slices.Clone(c.Worst)
		slices.SortStableFunc(list, func(a, b result.ReplayedWait) int {
			return int(min(1, max(-1, magnitudeOf(b.ErrorNS)-magnitudeOf(a.ErrorNS))))
		})
		for j := range list {
			if !p.All && j >= mostLong {
				hidden += len(list) - j
				break
			}
			rows = append(rows, p.replayedWait(&list[j]))
		}
	}
	if len(rows) == 1 {
		return
	}
	p.table("long waits, the largest error first, "+p.unit(), "llrrrr", rows)
	if hidden > 0 {
		p.line("and %s more with smaller errors", count(int64(hidden)))
	}
}

func (p *printer) replayedWait(w *result.ReplayedWait) []string {
	recorded, replayed, sign := p.number(w.RecordedNS), p.number(w.ReplayedNS), ""
	note := ""
	switch {
	case w.Only == "replay":
		recorded, note = "–", "only in the replay"
	case w.Only == "recorded":
		replayed, note = "–", "only in the recording"
	case !w.Answerable:
		note = "too far off for an answer"
	}
	if w.ErrorNS > 0 {
		sign = "+"
	}
	return []string{escape(w.ID), p.task(w.Comm, w.PID), recorded, replayed, sign + p.number(w.ErrorNS), tenths(w.Error, 1000), note}
}

func magnitudeOf(n int64) int64 { return max(n, -n) }

// replayedTasks prints the waits of each task.
func (p *printer) replayedTasks(w *result.ReplayedWaits) {
	rows := [][]string{{"TASK", "AS", "WAITS", "MATCHED", "LONG", "WITHIN 5 %", "LATE", "ANSWERABLE", "P99 OF OTHERS", "REPLAYED", "MAX OF OTHERS", "REPLAYED"}}
	for i := range w.Tasks {
		c := &w.Tasks[i]
		class, _ := classColumns(c.Class, result.NoPrio)
		rows = append(rows, append([]string{p.task(c.Comm, c.PID), class}, p.replayedCells(c)...))
	}
	p.table("by task, "+p.unit(), "llrrrrrrrrrr", rows)
}

// unfinished names the tasks that did not do all that they did in the recording.
func (p *printer) unfinished(list []result.Unfinished) {
	if len(list) == 0 {
		return
	}
	var names []string
	stuck := 0
	for i := range list {
		u := &list[i]
		if u.Stuck {
			stuck++
		}
		if !p.All && len(names) >= mostLong {
			continue
		}
		text := fmt.Sprintf("%s (%s)", p.task(u.Comm, u.PID), percent(u.Done, u.Steps))
		if u.Stuck {
			text += " waits for a wake that does not come"
		}
		names = append(names, text)
	}
	more := ""
	if n := len(list) - len(names); n > 0 {
		more = fmt.Sprintf(" and %s more", count(int64(n)))
	}
	p.line("\nnot all that they did in the recording was done in the same time: %s%s", strings.Join(names, ", "), more)
}

// assumed prints what the replay had to guess.
func (p *printer) assumed(list []result.Diagnostic) {
	if len(list) == 0 {
		return
	}
	rows := [][]string{{"COUNT", "WHAT THE REPLAY RESTS ON"}}
	for i := range list {
		rows = append(rows, []string{count(list[i].Count), escape(list[i].Text)})
	}
	if p.Markdown {
		p.line("")
		p.mdTable("r", rows)
		return
	}
	p.line("\n%s", p.bold("what the replay rests on"))
	p.columns("  ", "r", rows[1:])
}
