package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/whylate/whylate/result"
)

// Info prints the answer of `whylate info`: what is in the trace, which verdicts its
// events allow, and what to record for more. Only writing to w can fail.
func Info(w io.Writer, r *result.Info, o Options) error {
	p := newPrinter(w, o)
	p.input(&r.Input)
	p.facts(r)
	p.snapshot(r.Snapshot)
	p.supports(r.Verdicts)
	if len(r.Record) > 0 {
		p.line("\n%s", p.bold("to see more, record with"))
		for _, s := range r.Record {
			p.line("  %s", escape(s))
		}
	}
	p.perCPU(r)
	if len(r.Counts) > 0 {
		p.line("\n%s", p.bold("events"))
		rows := make([][]string, len(r.Counts))
		for i, c := range r.Counts {
			rows[i] = []string{count(c.Count), escape(c.Event)}
		}
		p.columns("  ", "r", rows)
	}
	p.diagnostics(r.Diagnostics)
	return p.flush()
}

// facts prints what the trace says about itself, one fact per line. A fact that it does not
// tell is said to be missing, because verdicts depend on it; buffers and commands are not.
func (p *printer) facts(r *result.Info) {
	profile := escape(r.Profile)
	if profile == "" {
		profile = "none fits"
	}
	rows := [][]string{
		{"time", p.clock(r.Input.StartNS) + " s to " + p.clock(r.Input.EndNS) + " s"},
		{"clock", escape(r.Input.Clock)},
		{"machine", escape(r.Machine)},
		{"kernel profile", profile},
	}
	for _, s := range r.Buffers {
		if s == "" { // the main buffer has no name
			s = "main"
		}
		rows = append(rows, []string{"buffer", escape(s)})
	}
	for _, s := range r.Commands {
		rows = append(rows, []string{"recorded with", escape(s)})
	}
	p.line("")
	for i, row := range rows {
		if row[1] == "" {
			rows[i][1] = "not known"
		}
	}
	p.columns("", "", rows)
}

// snapshot prints what is known of the machine; that there is none matters as much.
func (p *printer) snapshot(s *result.Snapshot) {
	if s == nil {
		p.line("\nno snapshot of the machine: affinity, policies, control groups and settings are inferred or not known")
		return
	}
	p.line("\n%s", p.bold("the machine, by its snapshot"))
	var settings, features, tasks []string
	for _, x := range s.Settings {
		settings = append(settings, escape(x.Name)+" "+escape(x.Value))
	}
	for _, f := range s.Features {
		features = append(features, map[bool]string{true: "", false: "NO_"}[f.On]+escape(f.Name))
	}
	for _, x := range s.Policies {
		tasks = append(tasks, count(int64(x.Tasks))+" "+escape(x.Policy))
	}
	if s.Pinned > 0 {
		tasks = append(tasks, count(int64(s.Pinned))+" bound to some CPUs")
	}
	cpus := []string{count(int64(s.CPUs))}
	if s.Isolated != "" {
		cpus = append(cpus, "isolated "+escape(s.Isolated))
	}
	if s.NoHZFull != "" {
		cpus = append(cpus, "nohz_full "+escape(s.NoHZFull))
	}
	rows := [][]string{{"kernel", escape(s.Kernel)}, {"settings", strings.Join(settings, ", ")}, {"features", strings.Join(features, ", ")},
		{"CPUs", strings.Join(cpus, ", ")},
		{"tasks", count(int64(s.Tasks)) + ": " + strings.Join(tasks, ", ")},
		{"control groups", count(int64(s.CGroups)) + ", " + count(int64(s.Quotas)) + " with a quota"},
		{"interrupts", count(int64(s.IRQs)) + ", " + count(int64(s.Threaded)) + " with a thread"}}
	for i, n := range []int{len(s.Kernel), len(settings), len(features), s.CPUs, s.Tasks, s.CGroups, s.IRQs} {
		if n == 0 {
			rows[i][1] = "not known"
		}
	}
	if s.TimeNS != nil {
		rows = append(rows, []string{"taken", seconds(*s.TimeNS) + " after the first event"})
		if *s.TimeNS < 0 {
			rows[len(rows)-1][1] = seconds(-*s.TimeNS) + " before the first event"
		}
	}
	p.columns("  ", "", rows)
}

// supports prints the best verdict for each cause kind and what would allow more. It comes
// before the counts: what the trace can answer matters more than how large it is.
func (p *printer) supports(list []result.Support) {
	if len(list) == 0 {
		return
	}
	p.line("\n%s", p.bold("what it can show"))
	rows := make([][]string, len(list))
	for i, s := range list {
		needs := ""
		if len(s.Needs) > 0 {
			needs = "more with " + escape(strings.Join(s.Needs, ", "))
		}
		rows[i] = []string{KindWord(s.Kind), escape(s.Best), needs}
	}
	p.columns("  ", "", rows)
}

// perCPU prints what each CPU's part holds. Parts of a ring buffer that was overwritten
// begin at different times, which is why each has its own; they are on the trace's clock.
func (p *printer) perCPU(r *result.Info) {
	if len(r.PerCPU) == 0 {
		return
	}
	p.line("")
	rows := [][]string{{"CPU", "EVENTS", "LOST", "FROM s", "TO s"}}
	for _, c := range r.PerCPU {
		lost := count(c.Lost)
		if c.Lost < 0 { // of unknown number
			lost = "some"
		}
		rows = append(rows, []string{strconv.Itoa(int(c.CPU)), count(c.Events), lost,
			p.clock(r.Input.StartNS + c.StartNS), p.clock(r.Input.StartNS + c.EndNS)})
	}
	p.columns("", "rrrrr", rows)
}
