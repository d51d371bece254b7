package eventformat

import (
	"bytes"
	"math"
	"slices"
	"sync"
)

// Symbols is a table of kernel symbols from the text of /proc/kallsyms. The text is read
// and sorted at the first question only: it has some 100,000 lines, and most traces
// never ask.
type Symbols struct {
	load func() []byte
	once sync.Once
	text []byte
	syms []symbol
}

// symbol points into the text to keep the table compact.
type symbol struct {
	addr uint64
	at   uint32 // offset of the name in the text
}

// NewSymbols makes a table of the text that load returns when it is needed.
func NewSymbols(load func() []byte) *Symbols { return &Symbols{load: load} }

// Lookup returns the name of the symbol that contains addr; empty if addr lies before
// the first one or the addresses are hidden (kptr_restrict).
func (s *Symbols) Lookup(addr uint64) []byte {
	s.once.Do(s.parse)
	i, found := slices.BinarySearchFunc(s.syms, addr, func(sym symbol, addr uint64) int {
		switch {
		case sym.addr < addr:
			return -1
		case sym.addr > addr:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	return s.name(s.syms[i])
}

// Address returns the address of the symbol called name, 0 if there is none. It is a
// linear search.
func (s *Symbols) Address(name string) uint64 {
	s.once.Do(s.parse)
	for _, sym := range s.syms {
		if string(s.name(sym)) == name {
			return sym.addr
		}
	}
	return 0
}

// name cuts the name at the blank before "[module]" or the end of the line.
func (s *Symbols) name(sym symbol) []byte {
	rest := s.text[sym.at:]
	if end := bytes.IndexAny(rest, "\t\n "); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// parse reads lines of "ffffffff81157720 t hrtimer_wakeup\t[module]". Addresses of 0
// (hidden, or per-CPU offsets) name nothing.
func (s *Symbols) parse() {
	s.text = s.load()
	s.load = nil
	if len(s.text) > math.MaxInt32 { // offsets are 32 bits wide
		s.text = s.text[:math.MaxInt32]
	}
	// One allocation of about the right size; growing would copy megabytes.
	s.syms = make([]symbol, 0, bytes.Count(s.text, []byte{'\n'})+1)
	sorted, last := true, uint64(0)
	for pos := 0; pos < len(s.text); {
		line := s.text[pos:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		addr, digits := hex(line)
		if name := digits + 3; addr != 0 && digits > 0 && name < len(line) && line[digits] == ' ' && line[digits+2] == ' ' {
			s.syms = append(s.syms, symbol{addr, uint32(pos + name)})
			sorted = sorted && addr >= last
			last = addr
		}
		pos += len(line) + 1
	}
	if !sorted { // modules, BPF programs and per-CPU data stand apart from the kernel's own
		slices.SortStableFunc(s.syms, func(a, b symbol) int {
			switch {
			case a.addr < b.addr:
				return -1
			case a.addr > b.addr:
				return 1
			}
			return 0
		})
	}
	// The first of several names of an address is the one that BinarySearch finds and
	// that the kernel's own %ps prints for the exact address.
	s.syms = slices.CompactFunc(s.syms, func(a, b symbol) bool { return a.addr == b.addr })
}

// hex reads the hexadecimal number at the start of b and tells how long it is; 0 digits
// if it is longer than 64 bits.
func hex(b []byte) (n uint64, digits int) {
	for ; digits < len(b); digits++ {
		c := b[digits]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return n, digits
		}
		if digits == 16 { // the number would not fit
			return 0, 0
		}
		n = n<<4 | uint64(c)
	}
	return n, digits
}
