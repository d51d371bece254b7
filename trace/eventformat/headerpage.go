package eventformat

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// HeaderPage is what events/header_page says about the pages of the ring buffer.
type HeaderPage struct {
	CommitOffset int
	CommitSize   int // the kernel's long: 4 or 8
	DataOffset   int
	DataSize     int
}

// ParseHeaderPage reads a header_page file. The error is a *event.FormatError.
func ParseHeaderPage(text []byte) (HeaderPage, error) {
	var h HeaderPage
	for no := int64(1); len(text) > 0; no++ {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		decl, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("field:"))
		if !ok {
			continue
		}
		f, err := parseField(decl, 8)
		if err != nil {
			return h, &event.FormatError{Format: "header_page", Offset: no, Line: true, Field: "field", Err: err}
		}
		switch f.Name {
		case "commit":
			h.CommitOffset, h.CommitSize = f.Offset, f.Size
		case "data":
			h.DataOffset, h.DataSize = f.Offset, f.Size
		}
	}
	if (h.CommitSize != 4 && h.CommitSize != 8) || h.DataOffset < h.CommitOffset+h.CommitSize {
		return h, &event.FormatError{Format: "header_page", Offset: 1, Line: true, Field: "commit and data", Err: event.ErrCorrupt}
	}
	return h, nil
}
