package scenario

import (
	"fmt"

	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/scenario/rtapp"
)

// CostTable is a set of costs with a name. What a kernel's paths cost depends on how it was
// built, so a table that was measured has other figures for other profiles.
type CostTable struct {
	Name    string
	Meaning string
	of      func(profile string) (Costs, error)
}

// CostTables lists the tables that a scenario and --costs may name.
func CostTables() []CostTable { return costTables }

// typicalTable is what counts where nothing else is said.
const typicalTable = "typical"

var costTables = []CostTable{
	{typicalTable, "a server processor of about 3 GHz with warm caches, in round figures; no measurement",
		func(string) (Costs, error) { return DefaultCosts(), nil }},
	{"qemu", "QEMU at one instruction per ns, with trace-cmd recording: fitted on recordings, for 6.1 and 6.12, each without and with -rt", qemuCosts},
	{"zero", "whatever the machine itself does takes no time, and timers have no slack",
		func(string) (Costs, error) { return Costs{}, nil }},
}

// costTable returns the table called name.
func costTable(name string) (*CostTable, error) {
	known := make([]string, 0, len(costTables))
	for i := range costTables {
		if costTables[i].Name == name {
			return &costTables[i], nil
		}
		known = append(known, costTables[i].Name)
	}
	return nil, nearest.Unknown("table of costs", name, known)
}

// UseCosts lets the machine's own work cost what the table called name says, and takes back
// what was said of single costs before.
func (p *Plan) UseCosts(name string) error {
	if _, err := costTable(name); err != nil {
		return err
	}
	p.costTable, p.costChanges = name, nil
	return nil
}

// setCost changes one cost, whichever table it comes from.
func (p *Plan) setCost(name string, span rtapp.Span) error {
	if err := new(Costs).set(name, span); err != nil {
		return err
	}
	p.costChanges = append(p.costChanges, rtapp.Cost{Name: name, Span: span})
	return nil
}

// costs are those of the plan on a kernel.
func (p *Plan) costs(profile string) (Costs, error) {
	c := p.Costs
	if p.costTable != "" {
		t, err := costTable(p.costTable)
		if err != nil {
			return c, err
		}
		if c, err = t.of(profile); err != nil {
			return c, fmt.Errorf("costs %s: %w", t.Name, err)
		}
	}
	for _, x := range p.costChanges {
		if err := c.set(x.Name, x.Span); err != nil {
			return c, fmt.Errorf("cost %s: %w", x.Name, err)
		}
	}
	return c, nil
}
