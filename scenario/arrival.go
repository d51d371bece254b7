package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/workload"
)

// Arrival says when a task or an interrupt of a load comes.
type Arrival struct {
	// IRQ: Index is that of an interrupt, else of a task.
	IRQ   bool
	Index int
	// Delay is from the common start to that of the task, whose timers count from there; of
	// an interrupt, to its first arrival. NoTime: as the load says.
	Delay event.Time
	// Later is by how much longer the sleeps of the task are, each timer and each sleep for a
	// time counted from its start; nil: as the load says. An interrupt has none.
	Later []event.Time
}

// Arrive returns s with other arrivals. It shares with s what they do not change.
func (s *Setup) Arrive(list []Arrival) *Setup {
	once, load := *s, *s.Load
	load.Tasks, load.IRQs = slices.Clone(load.Tasks), slices.Clone(load.IRQs)
	arrive(&load, list)
	once.Load = &load
	return &once
}

func arrive(load *workload.Spec, list []Arrival) {
	for i := range list {
		a := &list[i]
		switch {
		case a.IRQ && a.Delay >= 0:
			load.IRQs[a.Index].Offset = a.Delay
		case a.IRQ:
		default:
			t := &load.Tasks[a.Index]
			if a.Delay >= 0 {
				t.Delay = a.Delay
			}
			if a.Later != nil {
				t.Later = a.Later
			}
		}
	}
}

// ArrivalChanges says the same as list, in the grammar of changes.
func (p *Plan) ArrivalChanges(list []Arrival) []string {
	var changes []string
	for i := range list {
		a := &list[i]
		c := Change{Kind: ChangeArrivals}
		if a.IRQ {
			c.Pattern = "irq/" + PatternOf(p.Load.IRQs[a.Index].Name)
		} else {
			c.Pattern = PatternOf(p.Load.Tasks[a.Index].Name)
		}
		if a.Delay >= 0 {
			c.Values = append(c.Values, Value{"delay", spanText(a.Delay)})
		}
		if a.Later != nil {
			c.Values = append(c.Values, Value{"later", cmp.Or(laterText(a.Later), "1:0us")})
		}
		if len(c.Values) > 0 {
			changes = append(changes, c.String())
		}
	}
	return changes
}

// changeArrivals changes when all tasks come that match, or all interrupts where the pattern
// begins with irq/.
func (p *Plan) changeArrivals(c *Change) error {
	a := Arrival{Delay: event.NoTime}
	if text, ok := c.value("delay"); ok {
		a.Delay, _ = parseSpan(text)
	}
	if text, ok := c.value("later"); ok {
		a.Later, _ = parseLater(text)
	}
	pattern, irq := strings.CutPrefix(c.Pattern, "irq/")
	if !irq {
		found, err := p.matching(c)
		for _, a.Index = range found {
			arrive(&p.Load, []Arrival{a})
		}
		return err
	}
	if a.Later != nil {
		return errors.New("an interrupt has no sleeps that could be longer")
	}
	var known []string
	bare := Change{Pattern: pattern}
	for i := range p.Load.IRQs {
		q := &p.Load.IRQs[i]
		known = append(known, q.Name)
		if bare.Matches(q.Name, strconv.FormatInt(q.Number, 10)+"-"+q.Name) {
			a.IRQ, a.Index = true, i
			arrive(&p.Load, []Arrival{a})
		}
	}
	if !a.IRQ {
		return nearest.Unknown("interrupt of the scenario", pattern, known)
	}
	return nil
}

// mostSpan bounds delays: a day.
const mostSpan event.Time = 86_400_000_000_000

var errSpan = errors.New("is no time such as 20us, 1.5ms or 2s of a day at most")

var spanUnits = []struct {
	name   string
	ns     event.Time
	digits int // after the point, down to 1 ns
}{{"ns", 1, 0}, {"us", 1000, 3}, {"µs", 1000, 3}, {"ms", 1_000_000, 6}, {"s", 1_000_000_000, 9}, {"", 1000, 3}}

// parseSpan reads a time to the ns; a number without a unit is in µs.
func parseSpan(text string) (event.Time, error) {
	number := strings.TrimRight(text, "nuµms")
	for _, u := range spanUnits {
		if text[len(number):] != u.name {
			continue
		}
		whole, part, _ := strings.Cut(number, ".")
		if len(part) > u.digits || whole == "" {
			break
		}
		n, err := strconv.ParseUint(whole+part+strings.Repeat("0", u.digits-len(part)), 10, 62)
		if err != nil || event.Time(n) > mostSpan {
			break
		}
		return event.Time(n), nil
	}
	return 0, fmt.Errorf("%q %w", text, errSpan)
}

// spanText is what parseSpan reads.
func spanText(ns event.Time) string {
	if ns%1000 == 0 {
		return fmt.Sprintf("%dus", ns/1000)
	}
	return fmt.Sprintf("%d.%03dus", ns/1000, ns%1000)
}

// mostLater bounds the sleeps that a change can name.
const mostLater = 100_000

// parseLater reads which sleeps are longer, counted from 1, and by how much: 3:20us,7:1ms.
func parseLater(text string) ([]event.Time, error) {
	list := []event.Time{}
	for part := range strings.SplitSeq(text, ",") {
		number, span, ok := strings.Cut(part, ":")
		n, err := strconv.ParseUint(number, 10, 31)
		if !ok || err != nil || n == 0 || n > mostLater {
			return nil, fmt.Errorf("later wants NUMBER:TIME,…, like 3:20us for the third sleep, not %q", part)
		}
		by, err := parseSpan(span)
		if err != nil {
			return nil, err
		}
		if grow := int(n) - len(list); grow > 0 {
			list = append(list, make([]event.Time, grow)...)
		}
		list[n-1] = by
	}
	return list, nil
}

// laterText is what parseLater reads, "" where no sleep is longer.
func laterText(list []event.Time) string {
	var parts []string
	for i, by := range list {
		if by != 0 {
			parts = append(parts, fmt.Sprintf("%d:%s", i+1, spanText(by)))
		}
	}
	return strings.Join(parts, ",")
}
