package eventformat

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// AppendFields appends all fields of a record but the common ones to dst, as
// "name=value" with one blank between, for any event that the set describes:
// numbers in decimal, addresses and masks of bits in hexadecimal with 0x, text as it
// is, other arrays as ARRAY[01,02]. A field that the record does not reach is "?".
func (d *Decoder) AppendFields(dst, rec []byte) []byte {
	f, err := d.set.Format(d.Type(rec))
	if f == nil || err != nil {
		return dst
	}
	return d.appendFields(dst, f, rec)
}

// otherText is the text of an event that is not interpreted. One that an Encoder wrote has
// it ready.
func (d *Decoder) otherText(dst []byte, f *Format, rec []byte) []byte {
	if field := f.Field("text"); field != nil && f.System == ownSystem && field.String() {
		return append(dst, cstring(field.content(rec, d.set.BigEndian))...)
	}
	return d.appendFields(dst, f, rec)
}

// appendFields is AppendFields for a record whose format is known.
func (d *Decoder) appendFields(dst []byte, f *Format, rec []byte) []byte {
	first := true
	for i := range f.Fields {
		field := &f.Fields[i]
		if strings.HasPrefix(field.Name, "common_") {
			continue
		}
		if !first {
			dst = append(dst, ' ')
		}
		first = false
		dst = append(append(dst, field.Name...), '=')
		dst = d.appendValue(dst, field, rec)
	}
	return dst
}

// appendValue prints one field.
func (d *Decoder) appendValue(dst []byte, f *Field, rec []byte) []byte {
	if f.Array {
		b := f.content(rec, d.set.BigEndian)
		switch {
		case b == nil:
			return append(dst, '?')
		case f.String():
			return append(dst, cstring(b)...)
		}
		return d.appendArray(dst, f, b)
	}
	v, ok := newAccess(f, d.set.BigEndian).get(rec)
	switch {
	case !ok && f.Size > 0 && f.Size != 1 && f.Size != 2 && f.Size != 4 && f.Size != 8:
		// A structure that is no array: its bytes.
		if b := f.content(rec, d.set.BigEndian); b != nil {
			return d.appendArray(dst, &Field{Elem: 1}, b)
		}
		return append(dst, '?')
	case !ok:
		return append(dst, '?')
	case f.Pointer():
		// "const char *" points to a constant text of the kernel, more telling than where
		// it is.
		if text, ok := d.ctx.Strings[uint64(v)]; ok && strings.Contains(f.Type, "char") {
			return append(dst, text...)
		}
		return appendHex(dst, uint64(v))
	case f.Signed:
		return strconv.AppendInt(dst, v, 10)
	}
	return strconv.AppendUint(dst, uint64(v), 10)
}

// appendArray prints the elements of an array of numbers in hexadecimal.
func (d *Decoder) appendArray(dst []byte, f *Field, b []byte) []byte {
	dst = append(dst, "ARRAY["...)
	order := binary.ByteOrder(binary.LittleEndian)
	if d.set.BigEndian {
		order = binary.BigEndian
	}
	for i := 0; i+f.Elem <= len(b) && f.Elem > 0; i += f.Elem {
		if i > 0 {
			dst = append(dst, ',')
		}
		var v uint64
		switch f.Elem {
		case 1:
			v = uint64(b[i])
		case 2:
			v = uint64(order.Uint16(b[i:]))
		case 4:
			v = uint64(order.Uint32(b[i:]))
		default:
			v = order.Uint64(b[i:])
		}
		if v < 16 { // two digits at least, as trace-cmd prints them
			dst = append(dst, '0')
		}
		dst = strconv.AppendUint(dst, v, 16)
	}
	return append(dst, ']')
}

// appendHex prints an address.
func appendHex(dst []byte, v uint64) []byte {
	return strconv.AppendUint(append(dst, "0x"...), v, 16)
}
