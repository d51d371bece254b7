package tracedat

import (
	"fmt"

	"github.com/whylate/whylate/event"
)

// A version 7 file says in its last section where the data of the CPUs lies. Where that
// is missing, because the file was cut, the data is still there: trace-cmd writes the
// section of the main buffer directly behind the options, the CPUs in it one after the
// other, each at a page boundary, those without data left out.

// sectionBuffer is the id of a section with the pages of a ring buffer.
const sectionBuffer = 3

// salvage looks for the main buffer at off and takes what is found as its CPUs. Their
// numbers are those of the CPUs that the kernel counted events of, in the same order.
func (f *File) salvage(c *cursor, off int64, pageSize uint32) {
	c = c.sub(off, f.size)
	s := readSection(c)
	if c.err != nil || s.id != sectionBuffer || pageSize == 0 || pageSize > maxPageSize {
		return
	}
	b := buffer{pageSize: pageSize, compressed: s.compressed(), clock: f.info.Clock, table: off}
	var parts []cpuData
	if b.compressed {
		parts = f.findChunks(c, int64(pageSize))
	} else {
		parts = f.findPages(c, int64(pageSize))
	}
	for i := range parts {
		parts[i].id = event.CPU(i)
		if i < len(f.active) {
			parts[i].id = f.active[i]
		}
	}
	if len(parts) == 0 {
		return
	}
	parts[len(parts)-1].cut = true
	b.cpus = parts
	f.buffers = append(f.buffers, b)
	f.diagnose("truncated", 1, fmt.Sprintf("the table of the CPUs is missing; data of %d CPUs was found without it, their numbers are inferred", len(parts)))
}

// alignUp is the first multiple of n at or behind off.
func alignUp(off, n int64) int64 { return (off + n - 1) / n * n }

// findChunks follows the chunks of one CPU after the other.
func (f *File) findChunks(c *cursor, pageSize int64) (parts []cpuData) {
	for len(parts) < maxCPUs {
		start := alignUp(c.off, pageSize)
		c.off = start
		n := c.u32("number of chunks")
		for i := uint32(0); i < n && c.err == nil; i++ {
			packed, size := int64(c.u32("compressed size")), int64(c.u32("uncompressed size"))
			if c.err == nil && (packed == 0 || size == 0 || size%pageSize != 0 || size > maxChunk) {
				return parts
			}
			c.skip(uint64(packed), "chunk")
		}
		if n == 0 || start >= f.size {
			return parts
		}
		end := c.off
		if c.err != nil {
			end = f.size
		}
		parts = append(parts, cpuData{off: start, size: max(end-start-4, 0)})
		if c.err != nil {
			return parts
		}
	}
	return parts
}

// findPages follows pages that are not compressed; where the stamp of a page lies before
// that of the page in front of it, the next CPU begins. An incomplete page at the end is
// left: it cannot be told from the sections that follow the data.
func (f *File) findPages(c *cursor, pageSize int64) (parts []cpuData) {
	last := uint64(0)
	for off := alignUp(c.off, pageSize); pageSize <= f.size-off; off += pageSize {
		c.off = off
		stamp := c.u64("page time stamp")
		if c.err != nil {
			return parts
		}
		if len(parts) == 0 || stamp < last {
			if len(parts) == maxCPUs || len(parts) > 0 && len(parts) == len(f.active) {
				return parts
			}
			parts = append(parts, cpuData{off: off})
		}
		last = stamp
		parts[len(parts)-1].size += pageSize
	}
	return parts
}
