package eventformat

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
)

// byteOrder is what binary.LittleEndian and binary.BigEndian have in common.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// commonText are the common fields of most kernels.
const commonText = `	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
`

// formatText writes a format file. Fields are "unsigned int vec;offset;size;signed".
func formatText(name string, id int, common string, fields []string, print string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nID: %d\nformat:\n%s\n", name, id, common)
	for _, f := range fields {
		p := strings.Split(f, ";")
		fmt.Fprintf(&b, "\tfield:%s;\toffset:%s;\tsize:%s;", p[0], p[1], p[2])
		if len(p) > 3 {
			fmt.Fprintf(&b, "\tsigned:%s;", p[3])
		}
		b.WriteByte('\n')
	}
	return b.String() + "\nprint fmt: " + print + "\n"
}

// recordOf is a record of size bytes with the given type, flags and pid.
func recordOf(o byteOrder, id, flags, count, pid, size int) []byte {
	rec := make([]byte, size)
	o.PutUint16(rec, uint16(id))
	rec[2], rec[3] = byte(flags), byte(count)
	o.PutUint32(rec[4:], uint32(pid))
	return rec
}

// one makes a decoder for a single event.
func one(t testing.TB, system, text string, bigEndian bool, long int, ctx Context) (*Decoder, *event.Names) {
	t.Helper()
	s := &Set{BigEndian: bigEndian, LongSize: long}
	if err := s.Add(system, []byte(text)); err != nil {
		t.Fatal(err)
	}
	ctx.Names = event.NewNames()
	d, err := s.NewDecoder(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return d, ctx.Names
}
