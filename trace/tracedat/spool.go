package tracedat

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// spool keeps the pages of all CPUs in the order in which they became full. A trace.dat
// has the data of one CPU behind that of another, and its sizes in front of all, so pages
// wait here until the last event is known. What does not fit the memory goes to a
// temporary file.
type spool struct {
	mem  []byte   // pages that are not in the file
	file *os.File // nil until it is needed
	path string   // where the file has to be removed by name
	done int64    // bytes in the file
	buf  []byte
}

// spoolMemory is how many bytes wait in memory: small traces never reach the disk.
const spoolMemory = 4 << 20

// add stores a page and returns its number.
func (s *spool) add(page []byte) (uint32, error) {
	if len(s.mem)+len(page) > spoolMemory {
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	// Numbers of 32 bits keep the lists of a large trace small: one of 100 GiB has 25
	// million pages.
	n := uint64(s.done+int64(len(s.mem))) / writePage
	if n > 1<<32-1 {
		return 0, errors.New("the trace grows beyond 16 TiB")
	}
	s.mem = append(s.mem, page...)
	return uint32(n), nil
}

// flush moves the pages in memory to the file.
func (s *spool) flush() error {
	if s.file == nil {
		file, err := os.CreateTemp("", "whylate-*")
		if err != nil {
			return fmt.Errorf("making a temporary file: %w (set TMPDIR to a folder with room)", err)
		}
		s.file, s.path = file, file.Name()
		if os.Remove(s.path) == nil { // not on every system while it is open
			s.path = ""
		}
	}
	if _, err := s.file.WriteAt(s.mem, s.done); err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("%w (set TMPDIR to a folder with room; now %s)", err, os.TempDir())
		}
		return fmt.Errorf("writing to a temporary file: %w", err)
	}
	s.done += int64(len(s.mem))
	s.mem = s.mem[:0]
	return nil
}

// maxRun is how many pages that lie one behind the other are copied at once.
const maxRun = 64

// copy writes the pages with the given numbers to w.
func (s *spool) copy(w io.Writer, pages []uint32) error {
	for len(pages) > 0 {
		n := 1
		for n < len(pages) && n < maxRun && pages[n] == pages[0]+uint32(n) {
			n++
		}
		if err := s.copyRun(w, int64(pages[0])*writePage, n*writePage); err != nil {
			return err
		}
		pages = pages[n:]
	}
	return nil
}

// copyRun writes size bytes from off, of which the first may lie in the file.
func (s *spool) copyRun(w io.Writer, off int64, size int) error {
	// A run may begin on the disk and end in memory.
	if inFile := min(int64(size), s.done-off); inFile > 0 {
		if s.buf == nil {
			s.buf = make([]byte, maxRun*writePage)
		}
		if _, err := s.file.ReadAt(s.buf[:inFile], off); err != nil {
			return fmt.Errorf("reading back from the temporary file: %w", err)
		}
		if _, err := w.Write(s.buf[:inFile]); err != nil {
			return err
		}
		off, size = off+inFile, size-int(inFile)
	}
	if size == 0 {
		return nil
	}
	at := off - s.done
	_, err := w.Write(s.mem[at : at+int64(size)])
	return err
}

// close gives everything up.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.path != "" {
		err = errors.Join(err, os.Remove(s.path))
	}
	s.file, s.path, s.mem = nil, "", nil
	return err
}
