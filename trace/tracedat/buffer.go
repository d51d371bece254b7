package tracedat

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// Bounds for what a file may claim. NR_CPUS of the kernel is at most 8192.
const (
	maxBuffers  = 256
	maxCPUs     = 1 << 13
	maxPageSize = 16 << 20
)

// buffer is one ring buffer of the file.
type buffer struct {
	name       string // "" is the main one
	clock      string
	pageSize   uint32 // of a sub-buffer
	compressed bool
	table      int64 // where version 6 has its CPU table, version 7 its section
	cpus       []cpuData
	size       int64 // bytes of all CPUs together
}

// cpuData is where the data of one CPU lies in the file.
type cpuData struct {
	id        event.CPU
	off, size int64
	cut       bool // the file ends before off+size
}

// addCPU takes an entry of a CPU table. Empty entries stand for CPUs that were offline
// or not recorded.
func (f *File) addCPU(b *buffer, cpu cpuData) {
	switch {
	case cpu.size == 0:
		return
	case cpu.id < 0 || cpu.id >= maxCPUs || len(b.cpus) >= maxCPUs:
		f.diagnose("corrupt_section", 1, fmt.Sprintf("buffer %q: CPU %d is left out", b.name, cpu.id))
		return
	}
	if cpu.off > f.size || cpu.size > f.size-cpu.off {
		f.diagnose("truncated", 1, fmt.Sprintf("the file ends %d bytes before the end of CPU %d's data", lack(cpu, f.size), cpu.id))
		cpu.cut = true
		cpu.size = max(f.size-cpu.off, 0)
	}
	// Entries that share data would cost memory for each, however small the file.
	if b.size += cpu.size; b.size > f.size {
		f.diagnose("corrupt_section", 1, fmt.Sprintf("buffer %q: CPU %d overlaps others and is left out", b.name, cpu.id))
		b.size -= cpu.size
		return
	}
	b.cpus = append(b.cpus, cpu)
}

// lack is how many bytes of a CPU's data are behind the end of the file.
func lack(cpu cpuData, size int64) uint64 {
	return uint64(cpu.size) - uint64(max(size-cpu.off, 0))
}

// clock converts stamps of the trace to nanoseconds.
type clock struct {
	mult   uint64 // 0: stamps are nanoseconds
	rshift uint32
	offset int64 // ns
}

// shift takes the options DATE, which is in µs, and OFFSET, which is in ns; both add.
func (c *clock) shift(id uint16, text string) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 0, 64)
	if err != nil { // no number: as if it were 0
		return
	}
	if id == optDate {
		n *= 1000
	}
	c.offset += n
}

// time converts a stamp.
func (c *clock) time(stamp uint64) event.Time {
	if c.mult != 0 {
		// The product has up to 96 bits.
		hi, lo := bits.Mul64(stamp, c.mult)
		stamp = hi<<(64-c.rshift) | lo>>c.rshift
	}
	return event.Time(stamp + uint64(c.offset))
}
