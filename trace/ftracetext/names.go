package ftracetext

import "github.com/whylate/whylate/event"

// nameCache answers for the names of the last lines without the lock and the map of
// event.Names: a trace repeats a few dozen task names millions of times.
type nameCache struct {
	names *event.Names
	slots [512]struct {
		text string
		name event.Name
	}
	texts *textBudget
}

// maxText and maxTexts bound one free text and all of them.
const (
	maxText  = 1 << 10
	maxTexts = 16 << 20
)

// textBudget bounds what free text (markers, fields of unknown events) adds to the table
// of names, which is never emptied. The streams of a file share one.
type textBudget struct {
	left int        // bytes that may still be added
	top  event.Name // the newest name seen: a larger one is new
	cut  int64      // texts shortened or left out
}

func newNameCache(names *event.Names, texts *textBudget) nameCache {
	return nameCache{names: names, texts: texts}
}

// name interns a short name: of a task, a function, an event.
func (c *nameCache) name(b []byte) event.Name {
	if len(b) == 0 {
		return 0
	}
	if len(b) > maxText {
		b = b[:maxText]
	}
	h := uint32(len(b))
	for _, x := range b {
		h = (h ^ uint32(x)) * 16777619
	}
	// One slot per hash: a collision costs a look-up in the table, nothing else.
	s := &c.slots[(h^h>>15)%uint32(len(c.slots))]
	if s.text == string(b) {
		return s.name
	}
	name := c.names.InternBytes(b)
	s.name, s.text = name, c.names.String(name)
	return name
}

// text interns free text, cut to maxText bytes. When all texts together exceed maxTexts,
// new ones become "…".
func (c *nameCache) text(b []byte) event.Name {
	t := c.texts
	if len(b) > maxText {
		b = b[:maxText]
		t.cut++
	}
	// Texts that repeat cost nothing more, so they are still found when all is used up.
	if t.left <= 0 {
		if name, ok := c.names.Lookup(string(b)); ok {
			return name
		}
		t.cut++
		return c.names.Intern("…")
	}
	name := c.names.InternBytes(b)
	if name > t.top {
		t.top = name
		t.left -= len(b) + 64
	}
	return name
}
