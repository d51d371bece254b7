package eventformat

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// Strings maps addresses of constant kernel text (formats of trace_printk, reasons of
// IPIs) to the text, from the printk_formats file.
type Strings map[uint64]string

// maxStrings bounds the table; a kernel has some hundred.
const maxStrings = 1 << 17

// ParseStrings reads lines of `0xffffffff82347b30 : "CPU_ON"`, skipping what looks
// different.
func ParseStrings(text []byte) Strings {
	s := make(Strings)
	for len(text) > 0 && len(s) < maxStrings {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		left, right, ok := bytes.Cut(line, []byte(" : "))
		if !ok {
			continue
		}
		left = bytes.TrimPrefix(bytes.TrimSpace(left), []byte("0x"))
		addr, digits := hex(left)
		right = bytes.TrimSpace(right)
		if digits == 0 || digits != len(left) || len(right) < 2 || right[0] != '"' {
			continue
		}
		s[addr] = unescape(bytes.TrimSuffix(right[1:], []byte{'"'}))
	}
	return s
}

// unescape undoes \n, \t, \" and \\.
func unescape(b []byte) string {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '\\' && i+1 < len(b) {
			i++
			switch c = b[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// stringAt names the constant text at addr, 0 if it is not known.
func (d *Decoder) stringAt(addr uint64) event.Name {
	if text, ok := d.ctx.Strings[addr]; ok {
		return d.ctx.Names.Intern(text)
	}
	return 0
}

// function names the function at addr. Where the trace cannot name it, the address in
// hexadecimal keeps it apart from others, as the kernel's text does.
func (d *Decoder) function(addr uint64) event.Name {
	if addr == 0 {
		return 0
	}
	return d.addrs.name(addr, d.lookup)
}

// lookup is function without the cache.
func (d *Decoder) lookup(addr uint64) event.Name {
	if d.ctx.Symbols != nil {
		if name := d.ctx.Symbols.Lookup(addr); len(name) > 0 {
			return d.ctx.Names.InternBytes(name)
		}
	}
	return d.ctx.Names.InternBytes(appendHex(make([]byte, 0, 18), addr))
}

// caller names the function at an offset from _stext, as the preemptirq events give it.
func (d *Decoder) caller(offset uint64) event.Name {
	if d.stext == 0 && d.ctx.Symbols != nil {
		d.stext = d.ctx.Symbols.Address("_stext")
	}
	if d.stext == 0 {
		return 0
	}
	return d.function(d.stext + offset)
}

// onlyCPU returns the CPU whose bit is set in mask, an array of long, if it is the only
// one; else NoCPU.
func onlyCPU(mask []byte, elem int, bigEndian bool) event.CPU {
	found := event.NoCPU
	for i, b := range mask {
		for bit := 0; b != 0; bit, b = bit+1, b>>1 {
			if b&1 == 0 {
				continue
			}
			if found != event.NoCPU {
				return event.NoCPU
			}
			at := i
			// CPU 0 is the lowest bit of the first long, which is its last byte there.
			if bigEndian && elem > 0 {
				at = i/elem*elem + elem - 1 - i%elem
			}
			found = event.CPU(at*8 + bit)
		}
	}
	return found
}
