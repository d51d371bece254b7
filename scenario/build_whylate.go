package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/sched"
)

// Variant is a named list of changes of a scenario.
type Variant struct {
	Name    string
	Changes []string
}

// extend takes in the object "whylate". Its names were checked when the file was read, its
// values are when the plan is set up.
func (b *builder) extend(w *rtapp.Whylate) error {
	if w == nil {
		return nil
	}
	if err := b.cgroups(w); err != nil {
		return err
	}
	p := b.plan
	p.Load.Seed = w.Seed
	if p.Kernel = w.Kernel; p.Kernel != "" {
		if name := kernel.ProfileOf(w.Kernel); name != "" {
			p.Kernel = name // a release stands for its profile
		}
		if _, err := KernelNamed(p.Kernel); err != nil {
			return fmt.Errorf("kernel: %w", err)
		}
	}
	if err := b.topology(w); err != nil {
		return err
	}
	if err := b.programs(w); err != nil {
		return err
	}
	if err := b.hardware(w); err != nil {
		return err
	}
	for _, list := range [][]rtapp.Setting{w.Settings, w.Features} {
		for _, s := range list {
			p.Values = append(p.Values, Value{s.Name, s.Value})
		}
	}
	if w.CostTable != "" {
		if err := p.UseCosts(w.CostTable); err != nil {
			return fmt.Errorf("cost_table: %w", err)
		}
	}
	for _, c := range w.Costs {
		if err := p.setCost(c.Name, c.Span); err != nil {
			return fmt.Errorf("%s: cost %s: %w", c.Pos, c.Name, err)
		}
	}
	for i := range w.Tasks {
		b.extras(&w.Tasks[i])
	}
	for _, v := range w.Variants {
		p.Variants = append(p.Variants, Variant{v.Name, v.Changes})
	}
	return nil
}

// topology takes the number of CPUs and which of them share a cache. Threads of one core are
// CPUs like others here: what they take from each other is not modelled.
func (b *builder) topology(w *rtapp.Whylate) error {
	b.plan.CPUs = w.CPUs
	t := w.Topology
	if t == nil {
		return nil
	}
	for _, c := range t.Capacity {
		if c != 1024 {
			return fmt.Errorf("%s: CPUs of unequal capacity are %w", t.Pos, ErrNotModelled)
		}
	}
	if t.ThreadsPerCore > 1 {
		b.note("threads of one core take nothing from each other here")
	}
	b.plan.Topology = sched.UniformTopology(t.ThreadsPerCore, t.CoresPerLLC, t.LLCsPerNode, t.Nodes)
	b.plan.Topology.Distance = t.Distances
	if b.plan.CPUs == 0 {
		b.plan.CPUs = len(b.plan.Topology.Core)
	}
	return nil
}

// set changes one cost by its name.
func (c *Costs) set(name string, span rtapp.Span) error {
	if span.Min != span.Max {
		return fmt.Errorf("costs that vary are %w", ErrNotModelled)
	}
	if span.Min < 0 {
		return errors.New("a negative time")
	}
	known := c.named()
	names := make([]string, 0, len(known))
	for _, k := range known {
		if k.name == name {
			*k.to = span.Min
			return nil
		}
		names = append(names, k.name)
	}
	return fmt.Errorf("is not known; there are %s", strings.Join(names, ", "))
}

type namedCost struct {
	name string
	to   *event.Time
}

// named lists the costs by the names that files use.
func (c *Costs) named() []namedCost {
	m, k := &c.Machine, &c.Kernel
	return []namedCost{
		{"switch", &m.Switch}, {"ipi", &m.IPI}, {"wake", &m.Wake}, {"irq", &m.IRQ}, {"idle_exit", &m.IdleExit},
		{"tick", &m.Tick}, {"pick", &m.Pick}, {"enqueue", &m.Enqueue}, {"dequeue", &m.Dequeue}, {"migrate", &m.Migrate}, {"search", &m.Search}, {"instruction", &m.Instruction}, {"co_switch", &m.CoSwitch},
		{"op", &c.Op}, {"timer_slack", &c.Slack},
		{"exit", &k.Exit}, {"exit_mm", &k.ExitMM}, {"exit_vma", &k.ExitVMA}, {"exit_page", &k.ExitPage}, {"exit_free", &k.ExitFree}, {"exit_drain", &k.ExitDrain},
		{"core_mb", &k.CoreMB}, {"page_fault", &k.Fault}, {"touch", &k.Touch}, {"fork", &k.Fork}, {"exec", &k.Exec}, {"futex", &k.Futex},
	}
}
