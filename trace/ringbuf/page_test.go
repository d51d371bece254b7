package ringbuf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The layouts of 64-bit and 32-bit kernels, and of 64-bit ones with the other byte order.
var (
	le64 = Layout{CommitOffset: 8, CommitSize: 8, DataOffset: 16}
	le32 = Layout{CommitOffset: 8, CommitSize: 4, DataOffset: 12}
	be64 = Layout{BigEndian: true, CommitOffset: 8, CommitSize: 8, DataOffset: 16}
)

// pageOf builds a page: stamp, commit as given, then words.
func pageOf(l Layout, stamp, commit uint64, size int, words ...uint32) []byte {
	var o interface {
		binary.ByteOrder
		binary.AppendByteOrder
	} = binary.LittleEndian
	if l.BigEndian {
		o = binary.BigEndian
	}
	b := o.AppendUint64(nil, stamp)
	if l.CommitSize == 8 {
		b = o.AppendUint64(b, commit)
	} else {
		b = o.AppendUint32(b, uint32(commit))
	}
	for _, w := range words {
		b = o.AppendUint32(b, w)
	}
	return append(b, make([]byte, max(size-len(b), 0))...)
}

// word is the first word of a record on a little-endian kernel.
func word(kind, delta uint32) uint32 { return delta<<5 | kind }

// walk lists "time:payload length" of all records.
func walk(l Layout, page []byte) (records []string, lost int64, err error) {
	var p Page
	err = p.Reset(l, page)
	lost = p.Lost()
	for rec, ok := p.Next(); ok; rec, ok = p.Next() {
		records = append(records, fmt.Sprintf("%d:%d", p.Time(), len(rec)))
	}
	if err == nil {
		err = p.Err()
	}
	return records, lost, err
}

func TestPage(t *testing.T) {
	for _, test := range []struct {
		name   string
		layout Layout
		page   []byte
		want   []string
		lost   int64
		err    error
	}{
		{"two records", le64, pageOf(le64, 100, 20, 64, word(1, 5), 0xaa, word(2, 7), 0xbb, 0xcc), []string{"105:4", "112:8"}, 0, nil},
		{"32-bit kernel", le32, pageOf(le32, 100, 8, 64, word(1, 5), 0xaa), []string{"105:4"}, 0, nil},
		{"big-endian", be64, pageOf(be64, 100, 8, 64, 1<<27|5, 0xaa), []string{"105:4"}, 0, nil},
		{"the largest short record", le64, pageOf(le64, 0, 116, 256, append([]uint32{word(28, 1)}, make([]uint32, 28)...)...), []string{"1:112"}, 0, nil},
		{"a long record", le64, pageOf(le64, 0, 4+120, 256, append([]uint32{word(0, 1), 120}, make([]uint32, 29)...)...), []string{"1:116"}, 0, nil},
		{"an odd length is padded", le64, pageOf(le64, 0, 4+12+8, 256, word(0, 1), 9, 1, 2, word(1, 1), 0), []string{"1:8", "2:4"}, 0, nil},
		{"time extend", le64, pageOf(le64, 7, 16, 64, word(30, 3), 2, word(1, 1), 0), []string{"268435467:4"}, 0, nil},
		{"absolute stamp", le64, pageOf(le64, 7, 16, 64, word(31, 3), 2, word(1, 1), 0), []string{"268435460:4"}, 0, nil},
		{"an absolute stamp keeps the upper bits", le64, pageOf(le64, 3<<59|7, 16, 64, word(31, 3), 2, word(1, 0), 0), []string{fmt.Sprint(uint64(3<<59|2<<27|3), ":4")}, 0, nil},
		{"a discarded record", le64, pageOf(le64, 0, 12+8, 64, word(29, 4), 8, 0, word(1, 1), 0), []string{"5:4"}, 0, nil},
		{"padding ends the page", le64, pageOf(le64, 0, 40, 64, word(1, 1), 0, word(29, 0), 0), []string{"1:4"}, 0, nil},
		{"padding in the last word", le64, pageOf(le64, 0, 12, 64, word(1, 1), 0, word(29, 0)), []string{"1:4"}, 0, nil},
		{"zeroes end the page", le64, pageOf(le64, 0, 40, 64, word(1, 1), 0), []string{"1:4"}, 0, nil},
		{"one zero word ends the page", le64, pageOf(le64, 0, 12, 64, word(1, 1), 0), []string{"1:4"}, 0, nil},
		{"a page full of zeroes", le64, make([]byte, 64), nil, 0, nil},

		{"lost, counted", le64, pageOf(le64, 0, 8|1<<31|1<<30, 64, word(1, 1), 0, 42), []string{"1:4"}, 42, nil},
		{"lost, counted, 32 bits", le32, pageOf(le32, 0, 8|1<<31|1<<30, 64, word(1, 1), 0, 42), []string{"1:4"}, 42, nil},
		{"lost, not counted", le64, pageOf(le64, 0, 8|1<<31, 64, word(1, 1), 0, 42), []string{"1:4"}, UnknownLoss, nil},
		{"lost, no room for the count", le64, pageOf(le64, 0, 8|1<<31|1<<30, 24, word(1, 1), 0), []string{"1:4"}, UnknownLoss, nil},
		{"lost, a negative count", le64, pageOf(le64, 0, 8|1<<31|1<<30, 64, word(1, 1), 0, 0xffffffff, 0xffffffff), []string{"1:4"}, UnknownLoss, nil},

		{"more data than page", le64, pageOf(le64, 0, 4000, 24, word(1, 1), 0), []string{"1:4"}, 0, ErrHead},
		{"no room for the head", le64, make([]byte, 15), nil, 0, ErrHead},
		{"a record past the end", le64, pageOf(le64, 0, 16, 64, word(1, 1), 0, word(2, 1), 0), []string{"1:4"}, 0, ErrRecord},
		{"a long record past the end", le64, pageOf(le64, 0, 16, 64, word(1, 1), 0, word(0, 1), 0xffffffff), []string{"1:4"}, 0, ErrRecord},
		{"a long record shorter than its length", le64, pageOf(le64, 0, 16, 64, word(1, 1), 0, word(0, 1), 3), []string{"1:4"}, 0, ErrRecord},
		{"a discarded record past the end", le64, pageOf(le64, 0, 8, 64, word(29, 1), 100), nil, 0, ErrRecord},
		{"half a time extend", le64, pageOf(le64, 0, 4, 64, word(30, 1)), nil, 0, ErrRecord},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, lost, err := walk(test.layout, test.page)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if lost != test.lost || !errors.Is(err, test.err) {
				t.Errorf("lost %d, %v, want %d, %v", lost, err, test.lost, test.err)
			}
		})
	}
}

func TestImpossibleLayoutsAreRefused(t *testing.T) {
	for _, l := range []Layout{{}, {CommitOffset: 8, CommitSize: 3, DataOffset: 16}, {CommitOffset: -8, CommitSize: 8, DataOffset: 16},
		{CommitOffset: 8, CommitSize: 8, DataOffset: 12}, {CommitOffset: 8, CommitSize: 8, DataOffset: 4096}} {
		if l.Valid(4096) {
			t.Errorf("%+v is valid", l)
		}
		var p Page
		if err := p.Reset(l, make([]byte, 4096)); err == nil && l.DataOffset < 4096 {
			t.Errorf("%+v was walked", l)
		}
	}
}

// FuzzPage walks any bytes: it must end, stay inside the page, and say why it stopped.
func FuzzPage(f *testing.F) {
	f.Add(pageOf(le64, 100, 20, 64, word(1, 5), 0xaa, word(2, 7), 0xbb, 0xcc), 0)
	f.Add(pageOf(le32, 100, 28|1<<31|1<<30, 64, word(30, 5), 1, word(31, 5), 1, word(29, 1), 4, word(1, 1), 1, 7), 1)
	f.Add(pageOf(be64, 100, 8, 64, 1<<27|5, 0xaa), 2)
	f.Add(pageOf(le64, 0, 124, 256, append([]uint32{word(0, 1), 120}, make([]uint32, 29)...)...), 0)
	f.Fuzz(func(t *testing.T, page []byte, which int) {
		l := []Layout{le64, le32, be64}[uint(which)%3]
		var p Page
		head := p.Reset(l, page)
		total := 0
		for rec, ok := p.Next(); ok; rec, ok = p.Next() {
			total += 4 + len(rec)
			if len(rec) == 0 && total > len(page) {
				t.Fatal("no progress")
			}
		}
		if total > len(page) {
			t.Errorf("%d bytes of records in a page of %d", total, len(page))
		}
		if head != nil && p.Err() == nil {
			t.Error("an error of the head was forgotten")
		}
		if _, ok := p.Next(); ok {
			t.Error("a record behind the last one")
		}
	})
}

func BenchmarkPage(b *testing.B) {
	var words []uint32
	for range 100 {
		words = append(words, append([]uint32{word(9, 10)}, make([]uint32, 9)...)...)
	}
	page := pageOf(le64, 0, uint64(4*len(words)), 4096, words...)
	b.ReportAllocs()
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		var p Page
		p.Reset(le64, page)
		n := 0
		for _, ok := p.Next(); ok; _, ok = p.Next() {
			n++
		}
		if n != 100 {
			b.Fatal(n)
		}
	}
}
