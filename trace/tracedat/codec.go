package tracedat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/whylate/whylate/event"
)

// codec decompresses the sections and chunks of a v7 file.
type codec struct {
	name string        // "none", "zlib", "zstd"
	zstd *zstd.Decoder // nil for the others
}

// newCodec returns the codec that the file names in its head. Other names are
// accepted until something compressed has to be read.
func newCodec(name string) (*codec, error) {
	c := &codec{name: name}
	if name != "zstd" {
		return c, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxChunk), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true)) // never more than the file announces
	if err != nil {
		return nil, fmt.Errorf("preparing zstd: %w", err)
	}
	c.zstd = d
	return c, nil
}

// maxChunk bounds what one chunk or section may decompress to. trace-cmd writes chunks
// of ten sub-buffers; the largest section is kallsyms.
const maxChunk = 64 << 20

// decompress appends exactly size bytes to dst. It is safe for concurrent use.
func (c *codec) decompress(dst, src []byte, size int) ([]byte, error) {
	if size > maxChunk {
		return dst, fmt.Errorf("chunk of %d bytes: %w", size, event.ErrNotSupported)
	}
	before := len(dst)
	room := slices.Grow(dst, size)
	out := room[: before : before+size] // nothing is written behind the announced size
	var err error
	// Both write into the room that is there; a stream that holds more is an error.
	switch c.name {
	case "zstd":
		out, err = c.zstd.DecodeAll(src, out)
	case "zlib":
		out, err = inflate(out, src, size)
	default:
		return dst, fmt.Errorf("compression %q: %w", c.name, event.ErrNotSupported)
	}
	if err != nil {
		return dst, fmt.Errorf("%s: %w: %w", c.name, event.ErrCorrupt, err)
	}
	if len(out)-before != size || size > 0 && &out[0] != &room[:1][0] {
		return dst, fmt.Errorf("%s: %d bytes instead of %d: %w", c.name, len(out)-before, size, event.ErrCorrupt)
	}
	return room[:len(out)], nil // out shares room's memory: it had no cause to move
}

// inflate appends size bytes, for which dst has room, and fails if there are more.
func inflate(dst, src []byte, size int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(src))
	if err != nil {
		return dst, err
	}
	defer r.Close()
	n, err := io.ReadFull(r, dst[len(dst):len(dst)+size])
	if err != nil {
		return dst, err
	}
	// The checksum is only verified at the end of the stream.
	var more [1]byte
	if _, err := io.ReadFull(r, more[:]); err != io.EOF {
		return dst, errors.New("more data than announced")
	}
	return dst[:len(dst)+n], nil
}

// close frees the decoder; no decompress may run or follow.
func (c *codec) close() {
	if c.zstd != nil {
		c.zstd.Close()
	}
}
