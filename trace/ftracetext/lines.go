package ftracetext

import (
	"bytes"
	"io"
)

// maxLine is the longest line that is looked at. The kernel's own limit is a page; only
// damaged files and hostile ones have longer ones, and those are skipped.
const maxLine = 1 << 20

// readSize is how much is read at once: enough for the disk, little for the memory.
const readSize = 256 << 10

// lineReader cuts a file into lines. Its buffer holds one line at a time plus what was
// read ahead, so memory does not depend on the size of the file.
type lineReader struct {
	r      io.ReaderAt
	size   int64
	off    int64 // of the first byte not yet in buf
	buf    []byte
	pos    int // of the first byte not yet handed out
	num    int64
	long   int64 // lines skipped for their length
	refill func(done int64)
}

// next returns the next line without its line end, valid until the following call, and
// io.EOF after the last one. A last line without line end counts.
func (l *lineReader) next() ([]byte, error) {
	from := l.pos // bytes before it are known to hold no line end
	for {
		if i := bytes.IndexByte(l.buf[from:], '\n'); i >= 0 {
			line := l.buf[l.pos : from+i]
			l.pos = from + i + 1
			l.num++
			return trimCR(line), nil
		}
		if len(l.buf)-l.pos > maxLine {
			if err := l.skipLong(); err != nil {
				return nil, err
			}
			from = l.pos
			continue
		}
		scanned := len(l.buf) - l.pos
		n, err := l.fill()
		from = l.pos + scanned
		if err != nil {
			return nil, err
		}
		if n == 0 { // the end of the file; a recorder that was killed leaves half a line
			if l.pos == len(l.buf) {
				return nil, io.EOF
			}
			line := l.buf[l.pos:]
			l.pos = len(l.buf)
			l.num++
			return trimCR(line), nil
		}
	}
}

// fill moves the unread bytes to the front and reads more behind them. It returns 0 at
// the end of the file.
func (l *lineReader) fill() (int, error) {
	// The line handed out last is gone with this: its user is done with it.
	rest := copy(l.buf[:cap(l.buf)], l.buf[l.pos:])
	l.pos = 0
	want := int(min(readSize, l.size-l.off))
	if want <= 0 {
		l.buf = l.buf[:rest]
		return 0, nil
	}
	if cap(l.buf) < rest+want {
		// A small file gets what it needs, any other one room to grow once.
		room := rest + want
		if l.size-l.off > readSize {
			room = 2*rest + 2*readSize
		}
		grown := make([]byte, rest, room)
		copy(grown, l.buf[:rest])
		l.buf = grown
	}
	n, err := l.r.ReadAt(l.buf[rest:rest+want], l.off)
	l.buf = l.buf[:rest+n]
	l.off += int64(n)
	if n > 0 || err == io.EOF {
		err = nil // a file that shrank ends here
	}
	if l.refill != nil {
		l.refill(l.off)
	}
	return n, err
}

// skipLong throws an overlong line away, as it is read, up to its end or that of the file.
func (l *lineReader) skipLong() error {
	l.long++
	l.num++
	for {
		if i := bytes.IndexByte(l.buf[l.pos:], '\n'); i >= 0 {
			l.pos += i + 1
			return nil
		}
		l.pos = len(l.buf)
		if n, err := l.fill(); err != nil || n == 0 {
			return err
		}
	}
}

// trimCR cuts the carriage return of a text that went through another system.
func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}
