package eventformat

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/whylate/whylate/event"
)

// TestMessagesOfTracePrintk: arguments as the kernel packs them: numbers aligned to their
// size, 8-byte ones to 4, text in place.
func TestMessagesOfTracePrintk(t *testing.T) {
	le := binary.LittleEndian
	u32 := func(v uint32) []byte { return le.AppendUint32(nil, v) }
	u64 := func(v uint64) []byte { return le.AppendUint64(nil, v) }
	cat := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, test := range []struct {
		format string
		args   []byte
		want   string
	}{
		{"plain\n", nil, "plain"},
		{"100%% of %d", u32(5), "100% of 5"},
		{"%d %i %u %x %X %o", cat(u32(0xffffffff), u32(2), u32(0xffffffff), u32(0xbeef), u32(0xbeef), u32(8)), "-1 2 4294967295 beef BEEF 10"},
		{"%5d|%-5d|%05d|%+d", cat(u32(42), u32(42), u32(0xffffffd6), u32(42)), "   42|42   |-0042|+42"},
		{"%#x %08x %.3d", cat(u32(255), u32(255), u32(7)), "0xff 000000ff 007"},
		{"%lu %llu %ld", cat(u64(1<<40), u64(1<<41), u64(1<<64-3)), "1099511627776 2199023255552 -3"},
		{"%d %llu", cat(u32(1), u64(1<<33)), "1 8589934592"}, // 8 bytes aligned to 4 only
		{"%c%c %hd", []byte{'a', 'b', 0xfe, 0xff}, "ab -2"},
		{"%hhd %d", cat([]byte{0xff, 0, 0, 0}, u32(9)), "-1 9"},
		{"%s=%d", cat([]byte("abc\x00"), u32(3)), "abc=3"},
		{"%s=%d", cat([]byte("ab\x00"), []byte{0}, u32(3)), "ab=3"}, // the number is aligned
		{"[%5s|%-5s|%.2s]", []byte("ab\x00cd\x00efg\x00"), "[   ab|cd   |ef]"},
		{"%*d", cat(u32(4), u32(7)), "   7"},
		{"%p", u64(0xffff888000001000), "0xffff888000001000"},
		{"%ps", u64(0xffffffff81000210), "hrtimer_wakeup"},
		{"%pI4 %d", cat([]byte("10.0.0.1\x00"), []byte{0, 0, 0}, u32(1)), "10.0.0.1 1"}, // rendered while recording
		{"%d %d", u32(1), "1 ?"},
		{"%d", nil, "?"},
		{"%s", nil, ""},
		{"%s", []byte("no end"), "no end"},
		{"%", nil, ""},
		{"%99999999d", u32(1), string(bytes.Repeat([]byte(" "), maxWidth-1)) + "1"},
		{"%l", nil, ""},
	} {
		text := formatText("bprint", 6, commonText, []string{"unsigned long ip;8;8;0", "const char * fmt;16;8;0", "u32 buf[];24;0;0"}, `""`)
		d, names := one(t, "ftrace", text, false, 8, Context{Strings: Strings{0x1000: test.format},
			Symbols: NewSymbols(func() []byte { return []byte(kallsymsText) })})
		rec := recordOf(le, 6, 0, 0, 1, 24)
		le.PutUint64(rec[16:], 0x1000)
		var e event.Event
		if err := d.Decode(&e, append(rec, test.args...)); err != nil {
			t.Errorf("%q: %v", test.format, err)
		}
		if got := names.String(e.Text); got != test.want {
			t.Errorf("%q is %q, want %q", test.format, got, test.want)
		}
	}
}

func TestSymbolsAreFoundByAddress(t *testing.T) {
	loads := 0
	s := NewSymbols(func() []byte { loads++; return []byte(kallsymsText) })
	if loads != 0 {
		t.Error("read before it was needed")
	}
	for addr, want := range map[uint64]string{
		0xffffffff80ffffff: "", 0: "", // before the first
		0xffffffff81000000: "_stext", 0xffffffff810001ff: "_stext",
		0xffffffff81000200: "hrtimer_wakeup", 0xffffffff810002ff: "hrtimer_wakeup", // the first of two names
		0xffffffff81000300: "tick_sched_timer", 1<<64 - 1: "tick_sched_timer",
	} {
		if got := string(s.Lookup(addr)); got != want {
			t.Errorf("%#x is %q, want %q", addr, got, want)
		}
	}
	if got := s.Address("_stext"); got != 0xffffffff81000000 {
		t.Errorf("_stext is at %#x", got)
	}
	if got := s.Address("no_such"); got != 0 {
		t.Errorf("no_such is at %#x", got)
	}
	if loads != 1 {
		t.Errorf("read %d times", loads)
	}
	hidden := NewSymbols(func() []byte { return []byte("0000000000000000 T _stext\n0000000000000000 t x\n") })
	if got := hidden.Lookup(0xffffffff81000000); len(got) != 0 {
		t.Errorf("hidden addresses name %q", got)
	}
}

func TestStringsOfTheKernel(t *testing.T) {
	got := ParseStrings([]byte("0xffffffff82347b30 : \"CPU_ON\"\n0x10 : \"a \\\"b\\\" \\\\ c\\n\"\nnonsense\n0xzz : \"x\"\n : \"y\"\n0x11 : no quote\n"))
	want := Strings{0xffffffff82347b30: "CPU_ON", 0x10: "a \"b\" \\ c\n"}
	if len(got) != len(want) || got[0x10] != want[0x10] || got[0xffffffff82347b30] != want[0xffffffff82347b30] {
		t.Errorf("%v", got)
	}
}

func TestAppendFieldsPrintsEveryField(t *testing.T) {
	text := formatText("any", 7, commonText, []string{
		"int a;8;4;1", "u32 b;12;4;0", "void * p;16;8;0", "char comm[8];24;8;1", "__data_loc char[] s;32;4;1", "u16 arr[3];36;6;0",
		"struct x y;42;3;0", "char c;45;1;1", "u64 late;60;8;0"}, `""`)
	d, _ := one(t, "s", text, false, 8, Context{})
	rec := recordOf(binary.LittleEndian, 7, 0, 0, 1, 52)
	for _, f := range []field{{8, 4, -5}, {12, 4, -1}, {16, 8, 0x1000}, {24, 8, "sh\x00junk"}, {32, 4, 4<<16 | 48}, {48, 4, "end"}} {
		put(binary.LittleEndian, rec, f)
	}
	copy(rec[36:], []byte{1, 0, 2, 0, 0xff, 0xff, 1, 2, 0xab, 0xff})
	const want = "a=-5 b=4294967295 p=0x1000 comm=sh s=end arr=ARRAY[01,02,ffff] y=ARRAY[01,02,ab] c=-1 late=?"
	if got := string(d.AppendFields([]byte("x "), rec)); got != "x "+want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := d.AppendFields(nil, rec[:1]); got != nil {
		t.Errorf("a record without a type prints %q", got)
	}
}

// TestDecodeAllocatesNothing: not per event, for names that were seen before.
func TestDecodeAllocatesNothing(t *testing.T) {
	for _, test := range kindTests {
		d, _ := one(t, test.system, formatText(test.event, 99, commonText, test.fields, `""`), false, 8, Context{
			Symbols: NewSymbols(func() []byte { return []byte(kallsymsText) }), Strings: Strings{0xffffffff82000010: "reason"}})
		rec := recordOf(binary.LittleEndian, 99, 0, 0, 1, test.size)
		for _, v := range test.values {
			put(binary.LittleEndian, rec, v)
		}
		var e event.Event
		if n := testing.AllocsPerRun(100, func() {
			if err := d.Decode(&e, rec); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations per event", test.name, n)
		}
	}
}

// BenchmarkDecode decodes a sched_switch, the most frequent event with most fields.
func BenchmarkDecode(b *testing.B) {
	test := kindTests[0]
	d, _ := one(b, test.system, formatText(test.event, 99, commonText, test.fields, `""`), false, 8, Context{})
	rec := recordOf(binary.LittleEndian, 99, 1, 2, 134, test.size)
	for _, v := range test.values {
		put(binary.LittleEndian, rec, v)
	}
	var e event.Event
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Decode(&e, rec); err != nil {
			b.Fatal(err)
		}
	}
}
