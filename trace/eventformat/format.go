package eventformat

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// Format is one parsed format file.
type Format struct {
	System string // "sched"
	Name   string // "sched_switch"
	ID     int    // common_type of its records
	// Fields in the order of the file, the common_ ones included.
	Fields []Field
	// PrintFmt is the text behind "print fmt:", the kernel's own way to print it.
	PrintFmt string
}

// Field is one field of a record.
type Field struct {
	Name   string
	Type   string // as declared, without name and array length: "unsigned long", "__data_loc char[]"
	Offset int    // from the start of the record
	Size   int    // bytes in the record; 0 for an array that ends with the record
	Signed bool
	Loc    Loc
	Array  bool
	Elem   int // bytes of one element of an array, else Size
}

// Loc says where the content of a field is.
type Loc uint8

// The places of a field's content.
const (
	Inline  Loc = iota // at Offset
	DataLoc            // u32 at Offset: length<<16 | offset from the start of the record
	RelLoc             // the same, offset from the end of this u32
)

// String reports whether the field holds text.
func (f *Field) String() bool { return f.Array && f.Elem == 1 && strings.Contains(f.Type, "char") }

// Pointer reports whether the field holds an address.
func (f *Field) Pointer() bool { return !f.Array && strings.Contains(f.Type, "*") }

// Field returns the field called name, nil if there is none.
func (f *Format) Field(name string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

// maxRecord bounds offsets and sizes in a format: a record never exceeds a sub-buffer,
// and the kernel allows none above 64 kB × 8.
const maxRecord = 1 << 19

// Parse reads a format file. longSize is the kernel's (4 or 8): it tells how wide the
// elements of arrays of long are. Lines it does not know are skipped, so that newer
// kernels can add some. The error is a *event.FormatError with a line number.
func Parse(system string, text []byte, longSize int) (*Format, error) {
	f := &Format{System: system, ID: -1}
	for no := int64(1); len(text) > 0; no++ {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if err := f.line(line, longSize); err != nil {
			return nil, &event.FormatError{Format: "event format", Offset: no, Line: true,
				Field: strings.TrimSpace(system + ":" + f.Name), Err: err}
		}
	}
	if f.Name == "" || f.ID < 0 {
		return nil, &event.FormatError{Format: "event format", Offset: 1, Line: true, Field: "name and ID", Err: event.ErrCorrupt}
	}
	return f, nil
}

// line reads one line of a format file.
func (f *Format) line(line []byte, longSize int) error {
	key, value, ok := bytes.Cut(bytes.TrimSpace(line), []byte{':'})
	if !ok {
		return nil
	}
	switch string(key) {
	case "name":
		f.Name = string(bytes.TrimSpace(value))
	case "ID":
		id, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 16)
		if err != nil {
			return fmt.Errorf("ID: %w", event.ErrCorrupt)
		}
		f.ID = int(id)
	case "field":
		field, err := parseField(value, longSize)
		if err != nil {
			return err
		}
		f.Fields = append(f.Fields, field)
	case "print fmt":
		f.PrintFmt = string(bytes.TrimSpace(value))
	}
	return nil
}

// parseField reads "unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;".
func parseField(text []byte, longSize int) (Field, error) {
	var f Field
	parts := strings.Split(string(text), ";") // the last is empty: each part ends with ';'
	offset, size, signed := -1, -1, -1
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n > maxRecord {
			n = -1 // as if it were not there
		}
		switch key {
		case "offset":
			offset = n
		case "size":
			size = n
		case "signed":
			signed = n
		}
	}
	if offset < 0 || size < 0 {
		return f, fmt.Errorf("offset and size of a field: %w", event.ErrCorrupt)
	}
	f.Offset, f.Size = offset, size
	if !f.declare(strings.TrimSpace(parts[0]), longSize) {
		return f, fmt.Errorf("declaration of a field: %w", event.ErrCorrupt)
	}
	f.Signed = signed == 1
	if signed < 0 { // kernels before 2.6.33 do not say
		f.Signed = !unsignedType(f.Type) && !f.Pointer()
	}
	return f, nil
}

// declare reads the C declaration of a field: type, name, array length.
func (f *Field) declare(decl string, longSize int) bool {
	for prefix, loc := range map[string]Loc{"__data_loc ": DataLoc, "__rel_loc ": RelLoc} {
		if rest, ok := strings.CutPrefix(decl, prefix); ok {
			f.Loc, decl = loc, strings.TrimSpace(rest)
		}
	}
	if open := strings.IndexByte(decl, '['); open >= 0 {
		f.Array = true
		end := strings.LastIndexByte(decl, ']')
		if end < open {
			return false
		}
		// The array length stands behind the name, but before it in "__data_loc char[] x".
		if tail := strings.TrimSpace(decl[end+1:]); tail != "" {
			decl = decl[:open] + " " + tail
		} else {
			decl = decl[:open]
		}
	}
	decl = strings.TrimSpace(decl)
	cut := strings.LastIndexAny(decl, " *") // "const char * fmt", "void *work"
	if cut < 0 {
		return false
	}
	f.Type, f.Name = strings.TrimSpace(decl[:cut+1]), decl[cut+1:]
	if f.Name == "" || f.Type == "" {
		return false
	}
	f.Elem = f.Size
	if f.Array || f.Loc != Inline || f.Size == 0 { // old kernels write "char buf" for buf[]
		f.Array = true
		f.Elem = elemSize(f.Type, longSize)
	}
	return true
}

// elemSize is the width of an array's element by the name of its C type.
func elemSize(typ string, longSize int) int {
	// By parts of the name: kernels write u8, __u8, uint8_t, unsigned char, s16, __le32 …
	switch t := strings.TrimPrefix(typ, "const "); {
	case strings.HasSuffix(t, "*"):
		return longSize
	case strings.Contains(t, "char"), strings.Contains(t, "8"), t == "bool":
		return 1
	case strings.Contains(t, "short"), strings.Contains(t, "16"):
		return 2
	case strings.Contains(t, "long long"), strings.Contains(t, "64"):
		return 8
	case strings.Contains(t, "long"), t == "size_t", t == "cpumask_t":
		return longSize
	}
	return 4 // int, enum, pid_t, u32
}

// unsignedType tells the sign of a C type where the format does not.
func unsignedType(typ string) bool {
	return strings.HasPrefix(typ, "unsigned") || strings.HasPrefix(typ, "u") ||
		strings.HasPrefix(typ, "__u") || typ == "bool"
}

// header finds name and ID of a format file without parsing the rest.
func header(text []byte) (name []byte, id int, ok bool) {
	id = -1
	for len(text) > 0 && (name == nil || id < 0) {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if v, found := bytes.CutPrefix(line, []byte("name:")); found {
			name = bytes.TrimSpace(v)
		} else if v, found := bytes.CutPrefix(line, []byte("ID:")); found {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(v)), 10, 16)
			if err != nil {
				return nil, 0, false
			}
			id = int(n)
		}
	}
	return name, id, len(name) > 0 && id >= 0
}
