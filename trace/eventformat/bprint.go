package eventformat

import (
	"encoding/binary"
	"strconv"

	"github.com/whylate/whylate/event"
)

// trace_printk stores the address of its format and the arguments in binary: numbers
// aligned to their size (8-byte ones to 4), text inline with its NUL.

// bprinter formats one binary message.
type bprinter struct {
	d    *Decoder
	args []byte
	pos  int // of the next argument
	out  []byte
}

// bprint appends format with the arguments in args. Verbs that need more than args has
// print "?".
func (d *Decoder) bprint(dst []byte, format string, args []byte) []byte {
	p := bprinter{d: d, args: args, out: dst}
	// Everything but verbs is copied; a verb is at least one byte, so this ends.
	for i := 0; i < len(format); {
		if format[i] != '%' {
			p.out = append(p.out, format[i])
			i++
			continue
		}
		v, n := parseVerb(format[i:])
		p.verb(v)
		i += n
	}
	return p.out
}

// verb is one conversion of a printf format.
type verb struct {
	left, zero, alt, plus    bool
	width, prec              int // −1 for a precision that is not given
	starWidth, starPrecision bool
	size                     int // bytes of an integer argument; 0 means long
	conv                     byte
	ext                      byte // the letter behind %p
}

// parseVerb reads the verb at the start of s and tells how long it is.
func parseVerb(s string) (verb, int) {
	v := verb{prec: -1, size: 4}
	i := 1
	for ; i < len(s); i++ { // flags
		switch s[i] {
		case '-':
			v.left = true
			continue
		case '0':
			v.zero = true
			continue
		case '#':
			v.alt = true
			continue
		case '+', ' ':
			v.plus = s[i] == '+'
			continue
		}
		break
	}
	if i < len(s) && s[i] == '*' {
		v.starWidth = true
		i++
	} else {
		v.width, i = digitsAt(s, i)
	}
	if i < len(s) && s[i] == '.' {
		if i++; i < len(s) && s[i] == '*' {
			v.starPrecision = true
			i++
		} else {
			v.prec, i = digitsAt(s, i)
		}
	}
	// The length decides how many bytes the argument has: wrong here is wrong for all that
	// follows.
	for ; i < len(s); i++ {
		switch s[i] {
		case 'h':
			v.size /= 2
			continue
		case 'l', 'z', 't':
			if v.size == 0 {
				v.size = 8 // ll
			} else {
				v.size = 0
			}
			continue
		case 'L', 'q', 'j':
			v.size = 8
			continue
		}
		break
	}
	if i == len(s) {
		return v, i
	}
	v.conv = s[i]
	i++
	// The kernel's %p takes letters behind it (%ps, %pI4, %pUb): all belong to the verb.
	if v.conv == 'p' && i < len(s) && isLetter(s[i]) {
		v.ext = s[i]
		for i < len(s) && (isLetter(s[i]) || s[i] >= '0' && s[i] <= '9') {
			i++
		}
	}
	return v, i
}

// maxWidth bounds padding, so that a format cannot ask for gigabytes of blanks.
const maxWidth = 1024

// digitsAt reads a number at s[i:] and returns it and the place behind it.
func digitsAt(s string, i int) (int, int) {
	n := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = min(n*10+int(s[i]-'0'), maxWidth)
	}
	return n, i
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// verb prints one argument.
func (p *bprinter) verb(v verb) {
	// Widths given as arguments come first, as for printf.
	if v.starWidth {
		n, _ := p.integer(4)
		v.width = min(int(uint32(n)), maxWidth)
	}
	if v.starPrecision {
		n, _ := p.integer(4)
		v.prec = min(int(uint32(n)), maxWidth)
	}
	if v.size == 0 { // a long is as wide as on the kernel that recorded, not as here
		v.size = p.d.set.LongSize
	}
	var buf [32]byte
	switch v.conv {
	case '%':
		p.out = append(p.out, '%')
	case 's':
		b := p.text()
		if v.prec >= 0 && v.prec < len(b) {
			b = b[:v.prec]
		}
		p.pad(b, v, ' ')
	case 'c':
		n, ok := p.integer(1) // stored as one byte, although C passes an int
		p.pad(orUnknown(append(buf[:0], byte(n)), ok), v, ' ')
	case 'p':
		p.pointer(v)
	case 'd', 'i', 'u', 'x', 'X', 'o':
		n, ok := p.integer(max(v.size, 1))
		p.number(v, n, ok)
	}
}

// number prints an integer, which integer read without a sign.
func (p *bprinter) number(v verb, n uint64, ok bool) {
	var buf [72]byte
	b := buf[:0]
	shift := uint(64 - 8*v.size)
	switch v.conv {
	case 'd', 'i':
		signed := int64(n<<shift) >> shift // the sign of an argument that is shorter than 64 bits
		if v.plus && signed >= 0 {
			b = append(b, '+')
		}
		b = strconv.AppendInt(b, signed, 10)
	case 'u':
		b = strconv.AppendUint(b, n, 10)
	case 'o':
		b = strconv.AppendUint(b, n, 8)
	default:
		if v.alt {
			b = append(b, "0x"...)
		}
		b = strconv.AppendUint(b, n, 16)
		if v.conv == 'X' {
			for i, c := range b {
				if c >= 'a' && c <= 'f' {
					b[i] = c - 'a' + 'A'
				}
			}
		}
	}
	fill := byte(' ')
	if v.zero && !v.left {
		fill = '0'
	}
	// A precision fills with zeroes; both together do not occur in the kernel.
	if v.prec > v.width {
		v.width, fill = v.prec, '0'
	}
	p.pad(orUnknown(b, ok), v, fill)
}

// pointer prints %p and its extensions. Those that the kernel prints itself while
// recording are stored as text.
func (p *bprinter) pointer(v verb) {
	switch v.ext {
	case 0, 'x', 'K', 'e':
		n, ok := p.integer(p.d.set.LongSize)
		p.pad(orUnknown(appendHex(nil, n), ok), v, ' ')
	case 's', 'S', 'f', 'F', 'B': // the offset that %pS prints too is left out
		n, ok := p.integer(p.d.set.LongSize)
		p.pad(orUnknown([]byte(p.d.ctx.Names.String(p.d.function(n))), ok), v, ' ')
	default:
		p.pad(p.text(), v, ' ')
	}
}

// pad appends b, filled up to the width of v.
func (p *bprinter) pad(b []byte, v verb, fill byte) {
	n := v.width - len(b)
	if v.left {
		p.out = append(p.out, b...)
	} else if fill == '0' && // zeroes go between the sign and the digits
		n > 0 && len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		p.out = append(p.out, b[0])
		b = b[1:]
	}
	for range n {
		p.out = append(p.out, fill)
	}
	if !v.left {
		p.out = append(p.out, b...)
	}
}

// integer takes the next argument of size bytes; false if there is none left. 8-byte
// arguments are aligned to 4, as the buffer is an array of u32.
func (p *bprinter) integer(size int) (uint64, bool) {
	align := min(size, 4)
	start := (p.pos + align - 1) / align * align
	// Behind the end there is nothing for the verbs that follow, either.
	if start+size > len(p.args) {
		p.pos = len(p.args)
		return 0, false
	}
	p.pos = start + size
	b := p.args[start:]
	order := binary.ByteOrder(binary.LittleEndian)
	if p.d.set.BigEndian {
		order = binary.BigEndian
	}
	switch size {
	case 1:
		return uint64(b[0]), true
	case 2:
		return uint64(order.Uint16(b)), true
	case 4:
		return uint64(order.Uint32(b)), true
	}
	return order.Uint64(b), true
}

// text takes the next argument that is stored as text.
func (p *bprinter) text() []byte {
	b := cstring(p.args[p.pos:])
	p.pos = min(p.pos+len(b)+1, len(p.args))
	return b
}

// orUnknown makes the text of an argument that is not there "?".
func orUnknown(b []byte, ok bool) []byte {
	if !ok {
		return append(b[:0], '?')
	}
	return b
}

// message formats a record of bprint; 0 if the trace does not have its format.
func (d *Decoder) message(o *op, rec []byte, buf *Field) event.Name {
	addr, ok := o.acc.get(rec)
	if !ok {
		return 0
	}
	format, ok := d.ctx.Strings[uint64(addr)]
	if !ok {
		return 0
	}
	var args []byte
	if buf != nil {
		args = buf.content(rec, d.set.BigEndian)
	}
	d.text = d.bprint(d.text[:0], format, args)
	return d.ctx.Names.InternBytes(trimLine(d.text))
}

// trimLine drops one newline at the end.
func trimLine(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		return b[:n-1]
	}
	return b
}
