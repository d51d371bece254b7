package tracedat

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/whylate/whylate/event"
)

// codec decompresses the sections and chunks of a v7 file.
type codec struct {
	name string // "none", "zlib", "zstd"
	zstd *zstd.Decoder
}

// newCodec returns the codec that the file names in its head. Other names are
// accepted until something compressed has to be read.
func newCodec(name string) (*codec, error) {
	c := &codec{name: name}
	if name != "zstd" {
		return c, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxChunk), zstd.WithDecoderLowmem(true))
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
	var err error
	switch c.name {
	case "zstd":
		dst, err = c.zstd.DecodeAll(src, dst)
	case "zlib":
		dst, err = inflate(dst, src, size)
	default:
		return dst, fmt.Errorf("compression %q: %w", c.name, event.ErrNotSupported)
	}
	if err != nil {
		return dst[:before], fmt.Errorf("%s: %w: %w", c.name, event.ErrCorrupt, err)
	}
	if len(dst)-before != size {
		return dst[:before], fmt.Errorf("%s: %d bytes instead of %d: %w", c.name, len(dst)-before, size, event.ErrCorrupt)
	}
	return dst, nil
}

// inflate appends at most size+1 bytes, so that a bomb ends there.
func inflate(dst, src []byte, size int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(src))
	if err != nil {
		return dst, err
	}
	defer r.Close()
	out := bytes.NewBuffer(dst)
	_, err = io.Copy(out, io.LimitReader(r, int64(size)+1))
	return out.Bytes(), err
}

func (c *codec) close() {
	if c.zstd != nil {
		c.zstd.Close()
	}
}
