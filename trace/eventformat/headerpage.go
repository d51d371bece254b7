package eventformat

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// HeaderPage is what events/header_page says about the pages of the ring buffer: offsets
// and sizes in bytes. It is the only place of a trace that tells how wide a long of the
// kernel is; the head of the file has that of the recording program.
type HeaderPage struct {
	CommitOffset int
	CommitSize   int // the kernel's long: 4 or 8
	DataOffset   int
	DataSize     int // of a usual page; sub-buffers may be larger
}

// ParseHeaderPage reads a header_page file, whose lines are those of an event format. The
// error is a *event.FormatError.
func ParseHeaderPage(text []byte) (HeaderPage, error) {
	var h HeaderPage
	for no := int64(1); len(text) > 0; no++ {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		decl, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("field:"))
		if !ok {
			continue
		}
		f, err := parseField(decl, 8) // the width of a long only matters for arrays
		if err != nil {
			return h, &event.FormatError{Format: "header_page", Offset: no, Line: true, Field: "field", Err: err}
		}
		// "timestamp" is always first, and "overwrite" shares its place with "commit".
		switch f.Name {
		case "commit":
			h.CommitOffset, h.CommitSize = f.Offset, f.Size
		case "data":
			h.DataOffset, h.DataSize = f.Offset, f.Size
		}
	}
	// Everything behind this reads pages with these numbers: they have to make sense.
	if (h.CommitSize != 4 && h.CommitSize != 8) || h.DataOffset < h.CommitOffset+h.CommitSize {
		return h, &event.FormatError{Format: "header_page", Offset: 1, Line: true, Field: "commit and data", Err: event.ErrCorrupt}
	}
	return h, nil
}
