package truth

import (
	"encoding/binary"

	"github.com/whylate/whylate/event"
)

// coder packs passes: numbers as varints, words and lists of CPUs, of which a run has few
// different ones, by their number in a table.
type coder struct {
	words   []string
	wordNo  map[string]int
	lists   [][]event.CPU
	listNo  map[string]int
	scratch []byte
}

func (c *coder) word(s string) int64 {
	n, ok := c.wordNo[s]
	if !ok {
		if c.wordNo == nil {
			c.wordNo = make(map[string]int)
		}
		n = len(c.words)
		c.words, c.wordNo[s] = append(c.words, s), n
	}
	return int64(n)
}

func (c *coder) list(cpus []event.CPU) int64 {
	c.scratch = c.scratch[:0]
	for _, x := range cpus {
		c.scratch = binary.AppendVarint(c.scratch, int64(x))
	}
	n, ok := c.listNo[string(c.scratch)]
	if !ok {
		if c.listNo == nil {
			c.listNo = make(map[string]int)
		}
		n = len(c.lists)
		c.lists = append(c.lists, append([]event.CPU(nil), cpus...))
		c.listNo[string(c.scratch)] = n
	}
	return int64(n)
}

// append packs p behind b.
func (c *coder) append(b []byte, p *Pass) []byte {
	put := func(list ...int64) {
		for _, v := range list {
			b = binary.AppendVarint(b, v)
		}
	}
	put(int64(p.At), int64(p.By), int64(p.CPU), int64(p.Kind), c.word(p.Domain), c.list(p.Span), int64(p.Busiest), int64(p.Source),
		p.Imbalance, c.word(p.Metric), c.word(p.Why), int64(len(p.Groups)), int64(len(p.Queues)), int64(len(p.Moved)))
	for i := range p.Groups {
		g := &p.Groups[i]
		local := int64(0)
		if g.Local {
			local = 1
		}
		put(c.list(g.CPUs), local, c.word(g.Type), g.Load, g.Capacity, g.Util, int64(g.Running), int64(g.Idle))
	}
	for i := range p.Queues {
		q := &p.Queues[i]
		put(int64(q.CPU), q.Load, q.Capacity, int64(q.Running), q.Runnable)
	}
	for _, pid := range p.Moved {
		put(int64(pid))
	}
	return b
}

// read unpacks the pass at the beginning of b, which append made.
func (c *coder) read(b []byte) Pass {
	get := func() int64 {
		v, n := binary.Varint(b)
		b = b[n:]
		return v
	}
	p := Pass{At: event.Time(get()), By: event.CPU(get()), CPU: event.CPU(get()), Kind: PassKind(get()), Domain: c.words[get()], Span: c.lists[get()],
		Busiest: int(get()), Source: event.CPU(get()), Imbalance: get(), Metric: c.words[get()], Why: c.words[get()]}
	groups, queues, moved := get(), get(), get()
	for range groups {
		p.Groups = append(p.Groups, PassGroup{CPUs: c.lists[get()], Local: get() == 1, Type: c.words[get()], Load: get(), Capacity: get(), Util: get(),
			Running: int(get()), Idle: int(get())})
	}
	for range queues {
		p.Queues = append(p.Queues, PassQueue{CPU: event.CPU(get()), Load: get(), Capacity: get(), Running: int(get()), Runnable: get()})
	}
	for range moved {
		p.Moved = append(p.Moved, event.PID(get()))
	}
	return p
}
