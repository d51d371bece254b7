package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/whylate/whylate/event"
)

// Limits of what is spooled. A file of a few megabytes can claim to decompress to more
// than any disk holds.
const (
	// maxSpooled is the most that is written to a temporary file.
	maxSpooled = 64 << 30
	// maxRatio is the most that one compressed byte may become beyond freeSpooled: traces
	// reach about 50, gzip's own limit is near 1,030.
	maxRatio    = 1000
	freeSpooled = 256 << 20
	// maxLayers is how often a file may be compressed (trace.txt.xz.gz: twice).
	maxLayers = 2
	// maxWindow is the memory that a compressed file may ask for.
	maxWindow = 64 << 20
)

// decoder makes a decompressing reader of a compressed one.
type decoder func(io.Reader) (io.ReadCloser, error)

// compression is one way in which a file may be compressed, known by its first bytes: names
// of files are often wrong, and a pipe has none.
type compression struct {
	name    string
	magic   string
	decoder decoder
}

var compressions = []compression{
	{"gzip", "\x1f\x8b\x08", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"xz", "\xfd7zXZ\x00", func(r io.Reader) (io.ReadCloser, error) {
		// A larger dictionary than that of `xz -9` is not believed.
		x, err := xz.ReaderConfig{DictCap: maxWindow}.NewReader(r)
		return io.NopCloser(x), err
	}},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.ReadCloser, error) {
		// One goroutine and little memory: the disk is the slow part here.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}},
}

// nopDecoder is for a pipe whose bytes are copied as they are.
func nopDecoder(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(r), nil }

// compression returns how the input is compressed, nil if it is not.
func (in *input) compression() (*compression, error) {
	var head [8]byte
	n, err := in.file.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading the first bytes: %w", err)
	}
	for i := range compressions {
		if bytes.HasPrefix(head[:n], []byte(compressions[i].magic)) {
			return &compressions[i], nil
		}
	}
	return nil, nil
}

// errBomb is the reason for which decompression was given up.
var errBomb = errors.New("it grows beyond what a trace does")

// countingReader counts what was read, for the ratio: of a pipe the size is not known.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// copyLimited writes what decode makes of src to dst, within the limits. Of a compressed
// file that ends too early it writes what can be read, and says cut: a trace without its
// end is still a trace.
func copyLimited(dst io.Writer, src io.Reader, decode decoder) (total int64, cut bool, err error) {
	in := &countingReader{r: src}
	r, err := decode(bufio.NewReaderSize(in, 64<<10))
	if err != nil {
		return 0, false, corrupt(err)
	}
	defer r.Close()
	buf := make([]byte, 256<<10)
	// The limits are checked before the bytes are written, not after.
	for {
		n, readErr := r.Read(buf)
		total += int64(n)
		if total > maxSpooled || total > freeSpooled && total/maxRatio > in.n {
			return total, false, fmt.Errorf("%w: %w after %d bytes out of %d (decompress it by hand if it is one)",
				event.ErrCorrupt, errBomb, total, in.n)
		}
		if _, err := dst.Write(buf[:n]); err != nil {
			// /tmp is often small, or even in memory.
			if errors.Is(err, syscall.ENOSPC) {
				return total, false, fmt.Errorf("%w (set TMPDIR to a folder with room; now %s)", err, os.TempDir())
			}
			return total, false, err
		}
		switch {
		case readErr == nil:
		case readErr == io.EOF:
			return total, false, nil
		// A recording machine that died, a copy that broke off: what is there is good.
		case errors.Is(readErr, io.ErrUnexpectedEOF) && total > 0:
			return total, true, nil
		default:
			return total, false, fmt.Errorf("after %d bytes: %w", total, corrupt(readErr))
		}
	}
}

// corrupt marks an error of a decompressor with the reason that errors.Is finds: each
// library has errors of its own.
func corrupt(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", event.ErrTruncated, err)
	}
	return fmt.Errorf("%w: %w", event.ErrCorrupt, err)
}
