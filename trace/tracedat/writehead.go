package tracedat

import (
	"encoding/binary"
	"strings"

	"github.com/whylate/whylate/trace/eventformat"
)

// The two texts with which a kernel describes its pages; the fields are those of
// events/header_page on a 64-bit kernel with pages of 4,096 bytes.
const (
	headerPageText = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n" +
		"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n" +
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n" +
		"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"
	headerEventText = "# record head\n" +
		"\ttype_len: 5 bits\n\ttime_delta: 27 bits\n\tarray: 32 bits\n\n" +
		"\tpadding: type == 29\n\ttime_extend: type == 30\n\ttime_stamp: type == 31\n\tdata max type_len == 28\n"
)

// le is the byte order of what is written.
var le = binary.LittleEndian

// head is everything in front of the pages, padded to where they begin, in the order of
// trace-cmd.dat.v6(5).
func (w *Writer) head() []byte {
	// Only now: an event that did occur is described by its own records.
	for _, name := range w.info.Events {
		w.enc.Describe(name)
	}
	b := append([]byte(magic), "6\x00\x00\x08"...) // little endian, long of 8 bytes
	b = le.AppendUint32(b, writePage)
	b = appendSized64(append(b, "header_page\x00"...), headerPageText)
	b = appendSized64(append(b, "header_event\x00"...), headerEventText)
	b = w.appendFormats(b)
	b = appendSized32(b, w.enc.Kallsyms())
	b = appendSized32(b, w.enc.PrintkFormats())
	b = appendSized64(b, string(w.tasks.lines(w.names)))
	// In version 6 a CPU's number is its place in the table, so silent ones have a place too.
	cpus := max(len(w.cpus), min(w.info.CPUs, maxCPUs), 1)
	b = le.AppendUint32(b, uint32(cpus))
	b = w.appendOptions(append(b, "options  \x00"...), cpus)
	return w.appendTable(b, cpus)
}

// appendFormats writes the formats: first those of ftrace itself, then all other
// subsystems, each with its number of events.
func (w *Writer) appendFormats(b []byte) []byte {
	// A list beside the map: the order must be the same each time.
	var systems []string
	bySystem := map[string][]eventformat.FormatText{}
	for _, f := range w.enc.Formats() { // sorted by subsystem
		if f.System != "ftrace" && len(bySystem[f.System]) == 0 {
			systems = append(systems, f.System)
		}
		bySystem[f.System] = append(bySystem[f.System], f)
	}
	formats := func(list []eventformat.FormatText) {
		b = le.AppendUint32(b, uint32(len(list)))
		for _, f := range list {
			b = appendSized64(b, string(f.Text))
		}
	}
	formats(bySystem["ftrace"])
	b = le.AppendUint32(b, uint32(len(systems)))
	for _, system := range systems {
		b = append(append(b, system...), 0)
		formats(bySystem[system])
	}
	return b
}

// appendOptions writes what is known of the machine, and that the clock follows.
func (w *Writer) appendOptions(b []byte, cpus int) []byte {
	option := func(id uint16, data []byte) {
		b = append(le.AppendUint32(le.AppendUint16(b, id), uint32(len(data))), data...)
	}
	if release := oneWord(w.info.Kernel); release != "" {
		machine := oneWord(w.info.Machine)
		if machine == "" {
			machine = "unknown"
		}
		// As uname prints it; a trace does not tell the name of the machine's owner.
		option(optUname, []byte("Linux (none) "+release+" "+machine+"\x00"))
	}
	// The number in the table again: a smaller one would hide CPUs from trace-cmd.
	option(optCPUCount, le.AppendUint32(nil, uint32(cpus)))
	if lines := w.tasks.processLines(); len(lines) > 0 {
		option(optTGIDs, lines)
	}
	if len(w.snapshot) > 0 {
		option(optSysinfo, w.snapshot)
	}
	// Empty: it only says that the clock stands behind the table of the CPUs.
	option(optTraceClock, nil)
	return le.AppendUint16(b, optDone)
}

// appendTable writes where the pages of each CPU will be, the clock, and the padding in
// front of the pages.
func (w *Writer) appendTable(b []byte, cpus int) []byte {
	b = append(b, "flyrecord\x00"...)
	clock := oneWord(w.info.Clock)
	switch clock {
	case "raw": // "raw integers" of a text: nobody knows the unit
		clock = "counter"
	case "":
		clock = "local"
	}
	text := "[" + clock + "]\x00"
	// The manual wants the data of a CPU at a multiple of the page size: readers map it.
	at := alignUp(int64(len(b)+16*cpus+8+len(text)), writePage)
	end := at
	for i := range cpus {
		size := int64(0)
		if i < len(w.cpus) && w.cpus[i] != nil {
			size = int64(len(w.cpus[i].pages)) * writePage
		}
		b = le.AppendUint64(le.AppendUint64(b, uint64(end)), uint64(size))
		end += size
	}
	b = appendSized64(b, text)
	return append(b, make([]byte, at-int64(len(b)))...)
}

func appendSized64(b []byte, text string) []byte {
	return append(le.AppendUint64(b, uint64(len(text))), text...)
}

func appendSized32(b []byte, text []byte) []byte {
	return append(le.AppendUint32(b, uint32(len(text))), text...)
}

// oneWord is the first word of text, fit for a place between blanks.
func oneWord(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == '[' || r == ']' })
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
