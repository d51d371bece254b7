package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace/ftracetext"
	"github.com/whylate/whylate/trace/tracedat"
)

// format is an entry of the registry: how a file is recognised by its first bytes, up to
// headSize of them, and who reads it.
type format struct {
	name  string
	sniff func(head []byte) bool
	open  func(r io.ReaderAt, size int64, names *event.Names) (event.Source, error)
}

// formats are asked in this order: those with a magic first, text last, since many files
// look a little like text. A reader for a format replaces its notRead here.
var formats = []format{
	{"trace.dat", tracedat.Sniff, openDat},
	notRead("perf.data", magic("PERFILE2", "2ELIFREP"),
		"run `perf script --ns -i FILE | whylate explain -`"),
	notRead("Perfetto", isPerfetto,
		"run `traceconv systrace FILE trace.txt` and read trace.txt"),
	notRead("Chrome JSON", isChromeJSON,
		"give the trace from which it was made: trace.dat, or the text of tracefs"),
	notRead("LTTng (CTF)", magic("\xc1\x1f\xfc\xc1", "\xc1\xfc\x1f\xc1", "/* CTF "),
		"record with `trace-cmd record -e sched` instead"),
	notRead("zip", magic("PK\x03\x04"), "unpack it first: `unzip FILE`"),
	notRead("bzip2", magic("BZh"), "decompress it first: `bunzip2 FILE`"),
	notRead("lz4", magic("\x04\x22\x4d\x18"), "decompress it first: `lz4 -d FILE`"),
	notRead("tar", isTar, "unpack it first: `tar xf FILE`"),
	{"trace text", ftracetext.Sniff, openText},
}

func openDat(r io.ReaderAt, size int64, names *event.Names) (event.Source, error) {
	return tracedat.Open(r, size, names)
}

func openText(r io.ReaderAt, size int64, names *event.Names) (event.Source, error) {
	return ftracetext.Open(r, size, names)
}

// notRead is a format that is recognised only to say what to do with it. FILE in todo
// stands for the path.
func notRead(name string, sniff func([]byte) bool, todo string) format {
	return format{name: name, sniff: sniff, open: func(io.ReaderAt, int64, *event.Names) (event.Source, error) {
		return nil, &notReadError{name, todo}
	}}
}

// notReadError is an event.ErrNotSupported with the way out.
type notReadError struct{ name, todo string }

// Error says the name and the way out.
func (e *notReadError) Error() string { return e.name + " is not read yet; " + e.todo }

// Is makes errors.Is find event.ErrNotSupported without its words in the message.
func (e *notReadError) Is(target error) bool { return target == event.ErrNotSupported }

// magic recognises files that begin with one of the values.
func magic(values ...string) func([]byte) bool {
	return func(head []byte) bool {
		for _, v := range values {
			if bytes.HasPrefix(head, []byte(v)) {
				return true
			}
		}
		return false
	}
}

// isPerfetto reports whether head begins with a TracePacket of a Perfetto trace: field 1
// of the trace, length-delimited, and in it a field of a known number. The format has no
// magic.
func isPerfetto(head []byte) bool {
	if len(head) < 16 || head[0] != 0x0a {
		return false
	}
	// Packets of more than 64 MB do not occur.
	size, n := uvarint(head[1:])
	if n == 0 || size == 0 || size > 64<<20 {
		return false
	}
	tag, m := uvarint(head[1+n:])
	field, wire := tag>>3, tag&7 // 3 and 4 are groups, which the format does not use
	if m == 0 || field == 0 || field > 2000 || wire > 5 || wire == 3 || wire == 4 {
		return false
	}
	// Text that begins with an empty line would pass: it has no other control bytes.
	for _, c := range head[:min(len(head), 256)] {
		if c < '\t' || c > '\r' && c < ' ' && c != 0x1b {
			return true
		}
	}
	return false
}

// uvarint reads a number in the encoding of protocol buffers; n is 0 if there is none.
func uvarint(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i == 9 {
			return 0, 0
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// isChromeJSON reports whether head begins one of the two forms of Chrome's trace events.
func isChromeJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"traceEvents"`)) ||
		bytes.HasPrefix(head, []byte("[")) && bytes.Contains(head, []byte(`"ph"`))
}

// isTar reports whether head begins a tar archive, whose magic is not at its start.
func isTar(head []byte) bool {
	return len(head) > 262 && bytes.Equal(head[257:262], []byte("ustar"))
}

// unknownFormat says what a file begins with that no format recognises.
func unknownFormat(head []byte) error {
	const read = "whylate reads trace.dat (trace-cmd), the text of tracefs, `trace-cmd report` and `perf script`"
	if !isText(head) {
		return fmt.Errorf("%w: the first bytes % x are of no known trace format; %s",
			event.ErrNotSupported, head[:min(len(head), 8)], read)
	}
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	if len(line) > 120 {
		line = line[:120]
	}
	// Tables that users take for traces: they have results, not events.
	if bytes.Contains(head, []byte("sch delay")) || bytes.Contains(head, []byte("Runtime ms")) {
		return errors.New("this is a table that perf sched made, not a trace: run `perf script --ns` on its perf.data")
	}
	if bytes.Contains(head, []byte("min/avg/max")) || bytes.Contains(head, []byte("policy: fifo: loadavg")) {
		return errors.New("this is the output of a latency test, not a trace: run `trace-cmd record -e sched` beside the test")
	}
	return fmt.Errorf("%w: text of no known layout, the first line is %q; %s",
		event.ErrNotSupported, strings.TrimRight(string(line), "\r"), read)
}

// isText reports whether head has no byte that text does not have.
func isText(head []byte) bool {
	for _, c := range head[:min(len(head), 1024)] {
		if c < '\t' || c > '\r' && c < ' ' && c != 0x1b {
			return false
		}
	}
	return true
}
