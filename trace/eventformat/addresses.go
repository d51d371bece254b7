package eventformat

import (
	"bytes"
	"strconv"

	"github.com/whylate/whylate/event"
)

// Where the functions and the constant texts of written records lie: where x86 kernels
// have theirs, since some programs take smaller numbers for user space. Nothing is there.
const (
	textStart   = 0xffffffff81000000
	rodataStart = 0xffffffff82000000
)

// addresses hands out one address for each name, in the order of their first use, so that
// the same events give the same addresses. The first one is not start itself: an offset of
// 0 from it has to mean something else.
type addresses struct {
	start, step uint64   // a step as wide as a small function
	index       []uint32 // by event.Name: place in used + 1; a map would cost more than the record
	used        []event.Name
}

func newAddresses(start, step uint64) addresses { return addresses{start: start, step: step} }

// of returns the address of name, a new one where it has none yet; 0 for the empty name.
func (a *addresses) of(name event.Name) uint64 {
	if name == 0 {
		return 0
	}
	for int(name) >= len(a.index) { // names are numbered as they come, at most 2^20 of them
		a.index = append(a.index, 0)
	}
	if a.index[name] == 0 {
		a.used = append(a.used, name)
		a.index[name] = uint32(len(a.used))
	}
	return a.start + a.step*uint64(a.index[name])
}

// Kallsyms is the table of all functions that records name, as /proc/kallsyms writes it.
func (e *Encoder) Kallsyms() []byte {
	out := strconv.AppendUint(nil, textStart, 16)
	out = append(out, " T _stext\n"...)
	for i, name := range e.functions.used {
		out = strconv.AppendUint(out, textStart+e.functions.step*uint64(i+1), 16)
		out = append(out, " t "...)
		from := len(out)
		out = append(out, e.names.String(name)...)
		// A text trace may have anything as a function; a name ends at a blank, a line at
		// its end, and behind a tab follows a module.
		for j, c := range out[from:] {
			if c <= ' ' {
				out[from+j] = '_'
			}
		}
		out = append(out, '\n')
	}
	return out
}

// PrintkFormats is the table of all constant texts that records point to, as the file
// printk_formats of tracefs writes it; ParseStrings reads it.
func (e *Encoder) PrintkFormats() []byte {
	var out []byte
	for i, name := range e.texts.used {
		out = append(out, "0x"...)
		out = strconv.AppendUint(out, rodataStart+e.texts.step*uint64(i+1), 16)
		out = append(out, " : \""...)
		text := e.names.String(name)
		if len(text) > MaxText {
			text = text[:MaxText]
		}
		out = append(appendEscaped(out, text), "\"\n"...)
	}
	return out
}

// appendEscaped writes a text on one line; unescape undoes it.
func appendEscaped(out []byte, text string) []byte {
	// A text of the kernel ends at its NUL, and so would every reader.
	if i := bytes.IndexByte([]byte(text), 0); i >= 0 {
		text = text[:i]
	}
	for _, c := range []byte(text) {
		switch c {
		case '\n':
			out = append(out, `\n`...)
		case '\t':
			out = append(out, `\t`...)
		case '"', '\\':
			out = append(out, '\\', c)
		default:
			out = append(out, c)
		}
	}
	return out
}
