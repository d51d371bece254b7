package tracedat

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/whylate/whylate/event"
)

// maxBlock is how much page data a block has at least on machines with few CPUs: enough
// that handing it from one goroutine to the other costs nothing per event. inFlight is
// how many blocks a CPU has; all CPUs together read readAhead bytes ahead.
const (
	maxBlock  = 128 << 10
	inFlight  = 3
	readAhead = 16 << 20
)

// blockSize is the size of a block where so many CPUs are read at once.
func blockSize(cpus int) int {
	return min(maxBlock, max(readAhead/inFlight/max(cpus, 1), 16<<10))
}

// block is a piece of one CPU's data: whole pages, except for the last one of a file
// that was cut.
type block struct {
	data []byte
	read int64 // bytes of the file that went into it, as the table of CPUs counts them
	err  error // why nothing follows; io.EOF at the regular end
}

// blockReader produces the blocks of one CPU one after the other.
type blockReader interface {
	// next fills a block, reusing buf.
	next(buf []byte) block
}

// rawBlocks reads data that is not compressed.
type rawBlocks struct {
	r        io.ReaderAt
	off, end int64
	size     int // of a block
}

func newRawBlocks(r io.ReaderAt, cpu cpuData, size, pageSize int) *rawBlocks {
	return &rawBlocks{r: r, off: cpu.off, end: cpu.off + cpu.size, size: int(alignUp(int64(size), int64(pageSize)))}
}

func (b *rawBlocks) next(buf []byte) block {
	// Never more than the file has: buf is only as large as what can be read.
	n := int(min(int64(b.size), b.end-b.off))
	if n == 0 {
		return block{err: io.EOF}
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	got, err := b.r.ReadAt(buf, b.off)
	b.off += int64(got)
	if got == n { // ReadAt may return io.EOF together with the last bytes
		err = nil
	}
	return block{data: buf[:got], read: int64(got), err: err}
}

// packedBlocks reads and decompresses chunks.
type packedBlocks struct {
	r      *bufio.Reader
	order  binary.ByteOrder
	codec  *codec
	size   int    // of a block
	limit  int    // what one chunk may decompress to
	chunks uint32 // still to come
	packed []byte // a chunk that r cannot hold
	begun  bool
}

func newPackedBlocks(f *File, cpu cpuData, size, limit int) *packedBlocks {
	// The size in the table does not count the number of chunks in front of them.
	return &packedBlocks{r: bufio.NewReaderSize(io.NewSectionReader(f.r, cpu.off, cpu.size+4), size/2),
		order: f.order, codec: f.codec, size: size, limit: limit}
}

func (b *packedBlocks) next(buf []byte) block {
	out := block{data: buf[:0]}
	var head [8]byte
	if !b.begun {
		b.begun = true
		if _, err := io.ReadFull(b.r, head[:4]); err != nil {
			return block{err: event.ErrTruncated}
		}
		b.chunks = b.order.Uint32(head[:])
	}
	for len(out.data) < b.size && out.err == nil {
		if b.chunks == 0 {
			out.err = io.EOF
			break
		}
		b.chunks--
		out.err = b.chunk(&out, head[:])
	}
	return out
}

// chunk appends the next chunk to out.
func (b *packedBlocks) chunk(out *block, head []byte) error {
	if _, err := io.ReadFull(b.r, head); err != nil {
		return ended(err)
	}
	packed, size := int(b.order.Uint32(head)), int(b.order.Uint32(head[4:]))
	// Neither codec makes data much longer; a larger number is a damaged one, and would
	// be allocated below.
	if size > b.limit || packed > size+size/8+1024 {
		return fmt.Errorf("chunk of %d bytes, packed %d: %w", size, packed, event.ErrCorrupt)
	}
	// Peek saves the copy for all chunks that fit into the reader's buffer: nearly all.
	src, err := b.r.Peek(min(packed, b.r.Size()))
	if err != nil {
		return ended(err)
	}
	if packed > len(src) {
		if cap(b.packed) < packed {
			b.packed = make([]byte, packed)
		}
		b.packed = b.packed[:packed]
		if _, err := io.ReadFull(b.r, b.packed); err != nil {
			return ended(err)
		}
		src = b.packed
	} else {
		defer b.r.Discard(packed)
	}
	out.data, err = b.codec.decompress(out.data, src, size)
	if err == nil {
		out.read += int64(len(head) + packed)
	}
	return err
}

// ended makes the end of the data within a chunk a truncation.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return event.ErrTruncated
	}
	return err
}

// ahead runs a blockReader in a goroutine, at most two blocks ahead of its user.
type ahead struct {
	full  chan block // read and decompressed
	empty chan block // used, its memory free again
	done  chan struct{}
}

func newAhead(r blockReader) *ahead {
	a := &ahead{full: make(chan block, inFlight), empty: make(chan block, inFlight), done: make(chan struct{})}
	for range inFlight {
		a.empty <- block{}
	}
	go a.run(r)
	return a
}

// run fills blocks until the data ends or stop is called.
func (a *ahead) run(r blockReader) {
	defer close(a.full)
	for {
		var free block
		select {
		case free = <-a.empty:
		case <-a.done:
			return
		}
		b := r.next(free.data)
		a.full <- b // never blocks: as many places as blocks
		if b.err != nil {
			return
		}
	}
}

// next gives back a block and takes the next one; err is set on the last.
func (a *ahead) next(used block) block {
	if used.data != nil { // not the zero block with which a CPU starts
		a.empty <- used
	}
	b, ok := <-a.full
	if !ok {
		return block{err: io.EOF}
	}
	return b
}

// stop tells the goroutine to end, wait waits until it has: then it neither reads the
// file nor decompresses.
func (a *ahead) stop() { close(a.done) }

func (a *ahead) wait() {
	for range a.full {
	}
}
