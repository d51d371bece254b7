package cases

import (
	"context"
	"embed"
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// Case is a discussion that can be run.
type Case struct {
	Name, Title string
	Question    string
	// Symptom is what was measured then, retold.
	Symptom string

	// conclude answers the question in a paragraph, from parts that a quick run has, too.
	conclude   func(*numbers) string
	parts      []part // the first is the main one
	summary    []summary
	objections []objection
	limits     []string
}

// summary is a measure of another part that the main part shows too, in the variants that
// both have.
type summary struct{ part, measure, as, title string }

// part is a scenario with variants that answers one question.
type part struct {
	id, question string
	file         string
	changes      []string // of all variants
	variants     []string // of the file; asIs is the file as it is
	quick        []string // those of a quick run; nil: all
	seeds        int      // of a full run
	quickSeeds   int      // 0: the part is no part of a quick run
	duration     event.Time
	tasks        []string // patterns of those that are told
	together     bool     // those of one name are one row
	kinds        event.KindSet
	measures     []experiment.Measure
	watch        func(*experiment.Context) experiment.Watcher
	answer       func(*result.Comparison) string
	// tell, where set, tells something of a run that its events do not show; numbers.told has it.
	tell func(context.Context, *experiment.Outcome) (string, error)
	// noWorst: no variant's longest wait is explained, which takes as long as several runs.
	noWorst bool
	length  event.Time // of a full run; 0: that of the file
	// search, where set, is what is done instead of runs with several seeds.
	search *search
	// name renames asIs for people.
	name string
}

// objection is something that was asked, with what answers it.
type objection struct {
	text   string
	parts  []string
	answer func(*numbers) string
}

// asIs is the variant that changes nothing.
const asIs = "as-is"

//go:embed exit/*.json throttle/*.json defer/*.json cgroup/*.json
var files embed.FS

// All lists the cases.
func All() []*Case { return []*Case{exitCase, throttleCase, deferCase, cgroupCase} }

// Named returns the case called name. The error names what there is.
func Named(name string) (*Case, error) {
	var known []string
	for _, c := range All() {
		if c.Name == name {
			return c, nil
		}
		known = append(known, c.Name)
	}
	return nil, nearest.Unknown("case", name, known)
}

// Options of a run.
type Options struct {
	// Quick leaves out parts, variants and seeds: for a first look.
	Quick bool
	// Kernel, where set, is the profile in place of that of the scenarios; a variant that names
	// one keeps it.
	Kernel string
	// Read, where set, returns the scenario of the given name instead of the one that comes
	// with the case: one that was handed out and changed.
	Read func(name string) ([]byte, error)
	// Progress, where set, is told how many of all runs are done.
	Progress func(done, total int64)
}

// Answer is what a run of a case gave.
type Answer struct {
	*result.Case
	// Worst has the runs with the longest waits, for who wants their events.
	Worst []WorstRun
}

// WorstRun is the run of a variant with its longest wait. In points into the answer.
type WorstRun struct {
	Part, Variant string
	Setup         *scenario.Setup
	In            *result.Worst // nil: no task waited
}

// Run runs the case.
func (c *Case) Run(ctx context.Context, o Options) (*Answer, error) {
	var list []*experiment.Experiment
	var used []*part
	var searches []*experiment.Experiment
	for i := range c.parts {
		p := &c.parts[i]
		if o.Quick && p.quickSeeds == 0 {
			continue
		}
		x, err := p.experiment(c.Name, &o)
		if err != nil {
			return nil, err
		}
		if used = append(used, p); p.search == nil {
			list = append(list, x)
		} else {
			searches = append(searches, x)
		}
	}
	ran, err := experiment.Run(ctx, list, experiment.Options{Progress: o.Progress})
	if err != nil {
		return nil, fmt.Errorf("case %s: %w", c.Name, err)
	}
	var got []*experiment.Outcome
	for _, p := range used {
		var out *experiment.Outcome
		if p.search == nil {
			out, ran = ran[0], ran[1:]
		} else {
			if out, err = p.search.run(ctx, searches[0], o.Quick); err != nil {
				return nil, fmt.Errorf("case %s: %w", c.Name, err)
			}
			searches = searches[1:]
		}
		got = append(got, out)
	}
	told := make(map[string]string)
	for i, p := range used {
		if p.tell == nil {
			continue
		}
		if told[p.id], err = p.tell(ctx, got[i]); err != nil {
			return nil, fmt.Errorf("case %s: %w", c.Name, err)
		}
	}
	return c.answer(used, got, told, o.Quick), nil
}

// answer fills in what the outcomes of the used parts say.
func (c *Case) answer(used []*part, got []*experiment.Outcome, told map[string]string, quick bool) *Answer {
	r := &result.Case{Schema: "whylate.case/1", Case: c.Name, Title: c.Title, Symptom: c.Symptom, Quick: quick, Parts: []result.Comparison{}, Limits: append(slices.Clone(c.limits), limitOfTests)}
	n := &numbers{parts: make(map[string]*result.Comparison), told: told}
	for i, out := range got {
		if used[i].answer != nil {
			out.Answer = used[i].answer(&out.Comparison)
		}
		n.parts[out.ID] = &out.Comparison
		r.Diagnostics = merge(r.Diagnostics, out.Diagnostics)
	}
	for _, ob := range c.objections {
		answer := result.Objection{Text: ob.text, Parts: ob.parts}
		if n.has(ob.parts) {
			answer.Answer = ob.answer(n)
		}
		r.Objections = append(r.Objections, answer)
	}
	c.sumUp(n, &got[0].Comparison)
	r.Conclusion = c.conclude(n)
	a := &Answer{Case: r}
	for i, out := range got {
		if i == 0 {
			r.Comparison = out.Comparison
			r.Question = c.Question
		} else {
			r.Parts = append(r.Parts, out.Comparison)
		}
		for j := range out.Variants {
			v := &out.Variants[j]
			a.Worst = append(a.Worst, WorstRun{out.ID, v.Name, out.Setups[j], v.Worst})
		}
	}
	return a
}

// sumUp copies measures of other parts into the main one.
func (c *Case) sumUp(n *numbers, main *result.Comparison) {
	for _, s := range c.summary {
		from := n.parts[s.part]
		if from == nil {
			continue
		}
		main.Measures = append(main.Measures, result.Measure{Name: s.as, Title: s.title})
		for i := range main.Variants {
			to := &main.Variants[i]
			v := variantOf(from, to.Name)
			if v == nil {
				continue
			}
			if ns, ok := v.Measures[s.measure]; ok {
				to.Measures[s.as] = ns
			}
			if e, ok := v.Spread[s.measure]; ok {
				to.Spread = with(to.Spread, s.as, e)
			}
			if d, ok := v.Against[s.measure]; ok {
				to.Against = with(to.Against, s.as, d)
			}
		}
	}
}

// limitOfTests is true of every case.
const limitOfTests = "Each test is done at 5 %: of a hundred comparisons in which nothing differs at most about five show a difference. All variants have the same seeds, which the tests do not use: they are rather too careful. Where the table has ~ no difference was shown."

// with returns m with a value more; m may be nil.
func with[T any](m map[string]T, name string, value T) map[string]T {
	if m == nil {
		m = make(map[string]T)
	}
	m[name] = value
	return m
}

// merge adds the diagnostics that are not there yet.
func merge(list, more []result.Diagnostic) []result.Diagnostic {
	if list == nil {
		list = []result.Diagnostic{}
	}
	for _, d := range more {
		known := false
		for i := range list {
			known = known || list[i].Kind == d.Kind && list[i].Text == d.Text
		}
		if !known {
			list = append(list, d)
		}
	}
	return list
}

// experiment makes the experiment of a part.
func (p *part) experiment(name string, o *Options) (*experiment.Experiment, error) {
	read := o.Read
	if read == nil {
		read = func(file string) ([]byte, error) { return files.ReadFile(name + "/" + file) }
	}
	text, err := read(p.file)
	if err != nil {
		return nil, fmt.Errorf("reading a scenario of case %s: %w", name, err)
	}
	plan := func() (*scenario.Plan, error) {
		pl, err := scenario.Read(p.file, text, scenario.Options{})
		if err == nil && o.Quick && p.duration > 0 {
			pl.Load.Duration = p.duration
		} else if err == nil && !o.Quick && p.length > 0 {
			pl.Load.Duration = p.length
		}
		if err == nil && o.Kernel != "" {
			pl.Kernel = o.Kernel
		}
		for i := 0; i < len(p.changes) && err == nil; i++ {
			err = pl.Change(p.changes[i])
		}
		return pl, err
	}
	first, err := plan()
	if err != nil {
		return nil, err
	}
	x := &experiment.Experiment{ID: p.id, Question: p.question, Scenario: p.file, Plan: plan, Seeds: p.seeds,
		Tasks: p.tasks, Together: p.together, Kinds: p.kinds, NoWorst: p.noWorst, Brief: p.together, Measures: p.measures, Watch: p.watch}
	names := p.variants
	if o.Quick {
		x.Seeds = p.quickSeeds
		if p.quick != nil {
			names = p.quick
		}
	}
	for _, n := range names {
		v := experiment.Variant{Name: n}
		if n != asIs {
			if v.Changes, err = changesOf(first, n); err != nil {
				return nil, fmt.Errorf("%s: %w", p.file, err)
			}
		} else if p.name != "" {
			v.Name = p.name
		}
		x.Variants = append(x.Variants, v)
	}
	return x, nil
}

func changesOf(p *scenario.Plan, name string) ([]string, error) {
	for _, v := range p.Variants {
		if v.Name == name {
			return v.Changes, nil
		}
	}
	return nil, fmt.Errorf("no variant is called %q", name)
}

// Files returns the scenario files of the case by name, in order.
func (c *Case) Files() ([]File, error) {
	entries, err := files.ReadDir(c.Name)
	if err != nil {
		return nil, err
	}
	var list []File
	for _, e := range entries {
		text, err := files.ReadFile(c.Name + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		list = append(list, File{e.Name(), text})
	}
	return list, nil
}

// File is a scenario.
type File struct {
	Name string
	Text []byte
}
