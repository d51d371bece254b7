package eventformat

import (
	"bytes"
	"encoding/binary"
)

// access reads one integer field: where, how wide, which sign and byte order.
type access struct {
	off  uint32
	code accessCode
}

// accessCode joins width, sign and byte order, so that reading is a single switch.
type accessCode uint8

// The order matters: newAccess counts on the signed code behind the unsigned one, and on
// the big-endian ones in the order of the little-endian ones. 8-byte values have one code:
// their bits are the same whatever the sign.
const (
	absent accessCode = iota // the format has no such field
	u8
	s8
	u16le
	s16le
	u32le
	s32le
	i64le
	u16be
	s16be
	u32be
	s32be
	i64be
)

// newAccess binds a field; a width that no integer has leaves it absent.
func newAccess(f *Field, bigEndian bool) access {
	if f == nil || f.Array {
		return access{}
	}
	var code accessCode
	switch f.Size {
	case 1:
		code = u8
	case 2:
		code = u16le
	case 4:
		code = u32le
	case 8:
		code = i64le
	default:
		return access{}
	}
	if f.Signed && f.Size < 8 {
		code++
	}
	if bigEndian && f.Size > 1 {
		code += u16be - u16le
	}
	return access{off: uint32(f.Offset), code: code}
}

// end is the first byte behind the field.
func (a access) end() int { return int(a.off) + a.code.size() }

// size is the width in bytes, 0 for an absent field.
func (c accessCode) size() int {
	switch c {
	case absent:
		return 0
	case u8, s8:
		return 1
	case u16le, s16le, u16be, s16be:
		return 2
	case u32le, s32le, u32be, s32be:
		return 4
	}
	return 8
}

// get reads the field; false if the record is too short or the format lacks the field.
// Unsigned 64-bit values keep their bits.
func (a access) get(rec []byte) (int64, bool) {
	if uint64(a.off) >= uint64(len(rec)) {
		return 0, false
	}
	b := rec[a.off:]
	switch a.code { // the frequent ones first: pids, priorities, states and addresses
	case s32le:
		if len(b) >= 4 {
			return int64(int32(binary.LittleEndian.Uint32(b))), true
		}
	case i64le:
		if len(b) >= 8 {
			return int64(binary.LittleEndian.Uint64(b)), true
		}
	case u8:
		return int64(b[0]), true
	case s8:
		return int64(int8(b[0])), true
	case u32le:
		if len(b) >= 4 {
			return int64(binary.LittleEndian.Uint32(b)), true
		}
	case u16le:
		if len(b) >= 2 {
			return int64(binary.LittleEndian.Uint16(b)), true
		}
	case s16le:
		if len(b) >= 2 {
			return int64(int16(binary.LittleEndian.Uint16(b))), true
		}
	default:
		return a.getBig(b)
	}
	return 0, false
}

// getBig is get for big-endian kernels, kept apart so that the usual case stays short.
func (a access) getBig(b []byte) (int64, bool) {
	if a.code < u16be || len(b) < a.code.size() {
		return 0, false
	}
	switch a.code {
	case u16be:
		return int64(binary.BigEndian.Uint16(b)), true
	case s16be:
		return int64(int16(binary.BigEndian.Uint16(b))), true
	case u32be:
		return int64(binary.BigEndian.Uint32(b)), true
	case s32be:
		return int64(int32(binary.BigEndian.Uint32(b))), true
	}
	return int64(binary.BigEndian.Uint64(b)), true
}

// content is the bytes of a field that is not a plain integer: a fixed array, one that
// ends with the record, or what a __data_loc or __rel_loc points to. Nil if the record
// does not hold it.
func (f *Field) content(rec []byte, bigEndian bool) []byte {
	start, size := f.Offset, f.Size
	switch {
	case f.Loc != Inline:
		// The word has the length in its upper and the place in its lower half, in the
		// byte order of the machine.
		loc := newAccess(&Field{Offset: f.Offset, Size: f.Size}, bigEndian)
		word, ok := loc.get(rec)
		if !ok {
			return nil
		}
		start, size = int(word&0xffff), int(word>>16&0xffff)
		if f.Loc == RelLoc {
			start += loc.end()
		}
	case size == 0 && start <= len(rec): // print's buf[] and its like
		size = len(rec) - start
	}
	// Both numbers may come from the record itself: neither is believed.
	if start > len(rec) || size > len(rec)-start {
		return nil
	}
	return rec[start : start+size]
}

// cstring cuts b at its first NUL.
func cstring(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}
