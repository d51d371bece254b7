package tracedat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// testFile writes small trace.dat files, also such as no sound program would write. It
// follows the manual pages trace-cmd.dat.v6(5) and v7(5), not the reader.
type testFile struct {
	version    int // 6 or 7
	big        bool
	userLong   int // 8 unless set
	kernelLong int // 8 unless set
	pageSize   int // 4096 unless set
	codec      string
	chunk      int // pages in a compressed chunk, 2 unless set
	kallsyms   string
	printk     string
	cmdlines   string
	options    []testOption
	buffers    []testBuffer // the first is the main one
	tableCPUs  int          // version 6: entries of the CPU table
}

type testOption struct {
	id   uint16
	data []byte
}

type testBuffer struct {
	name string
	cpus []testCPU
}

type testCPU struct {
	id    int
	pages [][]byte
}

// order is what binary.LittleEndian and binary.BigEndian have in common.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func (f *testFile) order() order {
	if f.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func orElse(v, other int) int {
	if v == 0 {
		return other
	}
	return v
}

// headerPage is events/header_page of a kernel with the given long.
func headerPage(long, page int) string {
	return fmt.Sprintf("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"+
		"\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n"+
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"+
		"\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:1;\n", long, 8+long, page-8-long)
}

const commonFields = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" +
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" +
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" +
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

// The ids of the events that the test files describe.
const (
	idSwitch = 314
	idWaking = 317
	idPrint  = 5
	idTest   = 999 // an event of no known kind
)

// formats are the event formats of the test files: ftrace's, then sched's.
func (f *testFile) formats() (ftrace, sched []string) {
	long := orElse(f.kernelLong, 8)
	text := func(name string, id int, fields ...string) string {
		s := fmt.Sprintf("name: %s\nID: %d\nformat:\n%s", name, id, commonFields)
		for _, field := range fields[:len(fields)-1] {
			s += "\tfield:" + field + "\n"
		}
		return s + "\nprint fmt: " + fields[len(fields)-1] + "\n"
	}
	ftrace = []string{text("print", idPrint, fmt.Sprintf("unsigned long ip;\toffset:8;\tsize:%d;\tsigned:0;", long),
		fmt.Sprintf("char buf[];\toffset:%d;\tsize:0;\tsigned:0;", 8+long), `"%ps: %s", (void *)REC->ip, REC->buf`)}
	sched = []string{
		text("sched_switch", idSwitch, "char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;", "pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;",
			"int prev_prio;\toffset:28;\tsize:4;\tsigned:1;", fmt.Sprintf("long prev_state;\toffset:32;\tsize:%d;\tsigned:1;", long),
			fmt.Sprintf("char next_comm[16];\toffset:%d;\tsize:16;\tsigned:0;", 32+long),
			fmt.Sprintf("pid_t next_pid;\toffset:%d;\tsize:4;\tsigned:1;", 48+long),
			fmt.Sprintf("int next_prio;\toffset:%d;\tsize:4;\tsigned:1;", 52+long),
			`"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, `+
				`(REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "|", { 0x1, "S" }, { 0x2, "D" }) : "R", `+
				`REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio`),
		text("sched_waking", idWaking, "char comm[16];\toffset:8;\tsize:16;\tsigned:0;", "pid_t pid;\toffset:24;\tsize:4;\tsigned:1;",
			"int prio;\toffset:28;\tsize:4;\tsigned:1;", "int target_cpu;\toffset:32;\tsize:4;\tsigned:1;",
			`"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu`),
		text("whylate_test", idTest, "int value;\toffset:8;\tsize:4;\tsigned:1;", `"value=%d", REC->value`),
	}
	return ftrace, sched
}

// common is the head of a record.
func (f *testFile) common(id, pid int) []byte {
	o := f.order()
	return o.AppendUint32(append(o.AppendUint16(nil, uint16(id)), 1, 0), uint32(pid))
}

func comm(name string) []byte {
	b := make([]byte, 16)
	copy(b[:15], name)
	return b
}

// switchRecord is a sched_switch.
func (f *testFile) switchRecord(prev, next int, state uint64) []byte {
	o := f.order()
	b := append(f.common(idSwitch, prev), comm(fmt.Sprint("task", prev))...)
	b = o.AppendUint32(o.AppendUint32(b, uint32(prev)), 120)
	if orElse(f.kernelLong, 8) == 8 {
		b = o.AppendUint64(b, state)
	} else {
		b = o.AppendUint32(b, uint32(state))
	}
	b = append(b, comm(fmt.Sprint("task", next))...)
	return o.AppendUint32(o.AppendUint32(b, uint32(next)), 120)
}

// wakingRecord is a sched_waking; the woken pid serves as a mark in the tests.
func (f *testFile) wakingRecord(pid int) []byte {
	o := f.order()
	b := append(f.common(idWaking, 1), comm(fmt.Sprint("task", pid))...)
	return o.AppendUint32(o.AppendUint32(o.AppendUint32(b, uint32(pid)), 120), 0)
}

// testRecord is an event of no kind that the reader interprets.
func (f *testFile) testRecord(value int) []byte {
	return f.order().AppendUint32(f.common(idTest, 1), uint32(value))
}

// printRecord is a message to trace_marker.
func (f *testFile) printRecord(text string) []byte {
	b := append(f.common(idPrint, 1), make([]byte, orElse(f.kernelLong, 8))...)
	return append(append(b, text...), 0)
}

// page builds one page of the ring buffer.
type page struct {
	f      *testFile
	stamp  uint64
	data   []byte
	missed bool
	stored int64 // number of lost events, −1 for not stored
}

func (f *testFile) page(stamp uint64) *page { return &page{f: f, stamp: stamp, stored: -1} }

// word is the first word of a record.
func (p *page) word(kind, delta uint32) {
	w := delta<<5 | kind
	if p.f.big {
		w = kind<<27 | delta
	}
	p.data = p.f.order().AppendUint32(p.data, w)
}

// add appends a record, delta ns after the one before.
func (p *page) add(delta uint32, record []byte) *page {
	padded := append([]byte(nil), record...)
	for len(padded)%4 != 0 {
		padded = append(padded, 0)
	}
	if n := len(padded) / 4; n <= 28 {
		p.word(uint32(n), delta)
	} else {
		p.word(0, delta)
		p.data = p.f.order().AppendUint32(p.data, uint32(len(padded)+4))
	}
	p.data = append(p.data, padded...)
	return p
}

// extend appends a time extend.
func (p *page) extend(delta uint64) *page {
	p.word(30, uint32(delta&(1<<27-1)))
	p.data = p.f.order().AppendUint32(p.data, uint32(delta>>27))
	return p
}

// absolute appends an absolute time stamp of 59 bits.
func (p *page) absolute(stamp uint64) *page {
	p.word(31, uint32(stamp&(1<<27-1)))
	p.data = p.f.order().AppendUint32(p.data, uint32(stamp>>27))
	return p
}

// discard appends a record that was thrown away after it was reserved.
func (p *page) discard(delta uint32, bytes int) *page {
	p.word(29, delta)
	p.data = p.f.order().AppendUint32(p.data, uint32(bytes+4))
	p.data = append(p.data, make([]byte, bytes)...)
	return p
}

// lose marks that events were lost before this page; n < 0: an unknown number.
func (p *page) lose(n int64) *page {
	p.missed, p.stored = true, n
	return p
}

// bytes is the finished page.
func (p *page) bytes() []byte {
	o := p.f.order()
	long := orElse(p.f.kernelLong, 8)
	commit := uint64(len(p.data))
	if p.missed {
		commit |= 1 << 31
		if p.stored >= 0 {
			commit |= 1 << 30
		}
	}
	appendLong := func(b []byte, v uint64) []byte {
		if long == 8 {
			return o.AppendUint64(b, v)
		}
		return o.AppendUint32(b, uint32(v))
	}
	b := append(appendLong(o.AppendUint64(nil, p.stamp), commit), p.data...)
	if p.missed && p.stored >= 0 {
		b = appendLong(b, uint64(p.stored))
	}
	size := orElse(p.f.pageSize, 4096)
	if len(b) > size {
		panic("page too full")
	}
	return append(b, make([]byte, size-len(b))...)
}

// file returns the whole file.
func (f *testFile) file(t testing.TB) []byte {
	t.Helper()
	if f.version == 6 {
		return f.v6()
	}
	return f.v7(t)
}

func (f *testFile) head() []byte {
	b := []byte("\x17\x08\x44tracing")
	b = append(b, byte('0'+f.version), 0, 0)
	if f.big {
		b[len(b)-1] = 1
	}
	b = append(b, byte(orElse(f.userLong, 8)))
	return f.order().AppendUint32(b, uint32(orElse(f.pageSize, 4096)))
}

func (f *testFile) headerInfo() []byte {
	o := f.order()
	text := headerPage(orElse(f.kernelLong, 8), orElse(f.pageSize, 4096))
	b := append(o.AppendUint64([]byte("header_page\x00"), uint64(len(text))), text...)
	const events = "# compressed entry header\n"
	return append(o.AppendUint64(append(b, "header_event\x00"...), uint64(len(events))), events...)
}

func (f *testFile) texts(b []byte, texts []string) []byte {
	o := f.order()
	b = o.AppendUint32(b, uint32(len(texts)))
	for _, text := range texts {
		b = append(o.AppendUint64(b, uint64(len(text))), text...)
	}
	return b
}

func (f *testFile) v6() []byte {
	o := f.order()
	ftrace, sched := f.formats()
	b := append(f.head(), f.headerInfo()...)
	b = f.texts(b, ftrace)
	b = f.texts(append(o.AppendUint32(b, 1), "sched\x00"...), sched)
	b = append(o.AppendUint32(b, uint32(len(f.kallsyms))), f.kallsyms...)
	b = append(o.AppendUint32(b, uint32(len(f.printk))), f.printk...)
	b = append(o.AppendUint64(b, uint64(len(f.cmdlines))), f.cmdlines...)
	cpus := f.tableCPUs
	for _, buffer := range f.buffers {
		for _, cpu := range buffer.cpus {
			cpus = max(cpus, cpu.id+1)
		}
	}
	b = append(o.AppendUint32(b, uint32(cpus)), "options  \x00"...)
	for _, option := range f.options {
		b = append(o.AppendUint32(o.AppendUint16(b, option.id), uint32(len(option.data))), option.data...)
	}
	var places []int // of the offsets in the BUFFER options
	for _, buffer := range f.buffers[1:] {
		b = o.AppendUint32(o.AppendUint16(b, 3), uint32(8+len(buffer.name)+1))
		places = append(places, len(b))
		b = append(append(o.AppendUint64(b, 0), buffer.name...), 0)
	}
	b = o.AppendUint16(b, 0)
	for i, buffer := range f.buffers {
		if i > 0 {
			o.PutUint64(b[places[i-1]:], uint64(len(b)))
		}
		b = append(b, "flyrecord\x00"...)
		table := len(b)
		b = append(b, make([]byte, 16*cpus)...)
		const clock = "[local] global counter"
		b = append(o.AppendUint64(b, uint64(len(clock))), clock...)
		for _, cpu := range buffer.cpus {
			b = append(b, make([]byte, -len(b)&4095)...)
			data := bytes.Join(cpu.pages, nil)
			o.PutUint64(b[table+16*cpu.id:], uint64(len(b)))
			o.PutUint64(b[table+16*cpu.id+8:], uint64(len(data)))
			b = append(b, data...)
		}
	}
	return b
}

// section appends a version 7 section, compressed if the file is.
func (f *testFile) section(t testing.TB, b []byte, id uint16, body []byte) []byte {
	o := f.order()
	b = o.AppendUint16(b, id)
	if f.codec == "" || id == 0 {
		b = o.AppendUint64(o.AppendUint32(o.AppendUint16(b, 0), 0), uint64(len(body)))
		return append(b, body...)
	}
	packed := f.compress(t, body)
	b = o.AppendUint64(o.AppendUint32(o.AppendUint16(b, 1), 0), uint64(len(packed)+8))
	return append(o.AppendUint32(o.AppendUint32(b, uint32(len(packed))), uint32(len(body))), packed...)
}

// encoder is shared: making one is slow, and EncodeAll may be called at any time.
var encoder = func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return w
}()

func (f *testFile) compress(t testing.TB, data []byte) []byte {
	var out bytes.Buffer
	switch f.codec {
	case "zlib":
		w := zlib.NewWriter(&out)
		w.Write(data)
		w.Close()
	case "zstd":
		return encoder.EncodeAll(data, nil)
	default:
		t.Fatalf("no codec %q", f.codec)
	}
	return out.Bytes()
}

func (f *testFile) v7(t testing.TB) []byte {
	o := f.order()
	name := f.codec
	if name == "" {
		name = "none"
	}
	b := append(f.head(), name+"\x001.0\x00"...)
	first := len(b)
	b = o.AppendUint64(b, 0)
	ftrace, sched := f.formats()
	var parts []testOption
	part := func(id uint16, body []byte) {
		parts = append(parts, testOption{id, o.AppendUint64(nil, uint64(len(b)))})
		b = f.section(t, b, id, body)
	}
	part(16, f.headerInfo())
	part(17, f.texts(nil, ftrace))
	part(18, f.texts(append(o.AppendUint32(nil, 1), "sched\x00"...), sched))
	part(19, append(o.AppendUint32(nil, uint32(len(f.kallsyms))), f.kallsyms...))
	part(20, append(o.AppendUint32(nil, uint32(len(f.printk))), f.printk...))
	part(21, append(o.AppendUint64(nil, uint64(len(f.cmdlines))), f.cmdlines...))
	// Two sections of options: one before the data, one behind it.
	o.PutUint64(b[first:], uint64(len(b)))
	options := f.optionBytes(append(parts, f.options...))
	link := len(b) + 16 + len(options) + 6 // of the offset in DONE
	b = f.section(t, b, 0, append(o.AppendUint32(o.AppendUint16(options, 0), 8), make([]byte, 8)...))
	var buffers []testOption
	for _, buffer := range f.buffers {
		var option []byte
		b, option = f.bufferV7(t, b, buffer)
		buffers = append(buffers, testOption{3, option})
	}
	o.PutUint64(b[link:], uint64(len(b)))
	return f.section(t, b, 0, append(o.AppendUint32(o.AppendUint16(f.optionBytes(buffers), 0), 8), make([]byte, 8)...))
}

func (f *testFile) optionBytes(options []testOption) []byte {
	o := f.order()
	var b []byte
	for _, option := range options {
		b = append(o.AppendUint32(o.AppendUint16(b, option.id), uint32(len(option.data))), option.data...)
	}
	return b
}

// bufferV7 appends the section of a ring buffer and returns its BUFFER option.
func (f *testFile) bufferV7(t testing.TB, b []byte, buffer testBuffer) (file, option []byte) {
	o := f.order()
	pageSize := orElse(f.pageSize, 4096)
	start := len(b)
	flags := uint16(0)
	if f.codec != "" {
		flags = 1
	}
	b = o.AppendUint64(o.AppendUint32(o.AppendUint16(o.AppendUint16(b, 3), flags), 0), 0)
	option = append(o.AppendUint64(nil, uint64(start)), buffer.name+"\x00local\x00"...)
	option = o.AppendUint32(o.AppendUint32(option, uint32(pageSize)), uint32(len(buffer.cpus)))
	for _, cpu := range buffer.cpus {
		b = append(b, make([]byte, -len(b)&(pageSize-1))...)
		at := len(b)
		size := 0
		if f.codec == "" {
			b = append(b, bytes.Join(cpu.pages, nil)...)
			size = len(b) - at
		} else {
			per := orElse(f.chunk, 2)
			b = o.AppendUint32(b, uint32((len(cpu.pages)+per-1)/per))
			for pages := cpu.pages; len(pages) > 0; pages = pages[min(per, len(pages)):] {
				data := bytes.Join(pages[:min(per, len(pages))], nil)
				packed := f.compress(t, data)
				b = append(o.AppendUint32(o.AppendUint32(b, uint32(len(packed))), uint32(len(data))), packed...)
			}
			size = len(b) - at - 4 // trace-cmd does not count the number of chunks
		}
		option = o.AppendUint64(o.AppendUint64(o.AppendUint32(option, uint32(cpu.id)), uint64(at)), uint64(size))
	}
	o.PutUint64(b[start+8:], uint64(len(b)-start-16))
	return b, option
}
