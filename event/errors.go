package event

import (
	"errors"
	"fmt"
)

// The reasons for which a trace cannot be read; match with errors.Is.
var (
	ErrTruncated    = errors.New("file ends too early")
	ErrNotSupported = errors.New("not supported")
	ErrCorrupt      = errors.New("damaged")
)

// FormatError says where in a file reading failed.
type FormatError struct {
	Format string // "trace.dat v7"
	Offset int64  // bytes from the start of the (decompressed) file; line number for text
	Line   bool   // Offset is a line number, counted from 1
	Field  string // what was being read there
	Err    error
}

// Error prints "trace.dat v7: offset 0x1c, page size: file ends too early".
func (e *FormatError) Error() string {
	if e.Line {
		return fmt.Sprintf("%s: line %d, %s: %v", e.Format, e.Offset, e.Field, e.Err)
	}
	return fmt.Sprintf("%s: offset %#x, %s: %v", e.Format, e.Offset, e.Field, e.Err)
}

// Unwrap returns the reason.
func (e *FormatError) Unwrap() error { return e.Err }
