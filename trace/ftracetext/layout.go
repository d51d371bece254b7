package ftracetext

import "bytes"

// column is one character of the flags between CPU and time.
type column uint8

const (
	colNone column = iota
	colIRQs
	colNeedResched
	colNeedReschedLazy
	colHardSoft
	colPreemptDepth
	colLazyDepth
	colMigrateDisable
	colUnknown // a column of a kernel that whylate does not know
)

// maxColumns is more than any kernel has.
const maxColumns = 10

// Layout is the sequence of flag columns of a text trace. The zero Layout has none
// (options/irq-info off).
type Layout struct {
	cols [maxColumns]column
	n    int
}

// The layouts of kernels in use. A file's own legend may tell others: 3.4-rt has the
// five columns of Layout5 with an older meaning of the last.
var (
	// Layout4 is that of mainline up to 5.14: irqs-off, need-resched, hardirq/softirq,
	// preempt-depth.
	Layout4 = makeLayout(colIRQs, colNeedResched, colHardSoft, colPreemptDepth)
	// Layout5 adds migrate-disable; mainline since 5.15.
	Layout5 = makeLayout(colIRQs, colNeedResched, colHardSoft, colPreemptDepth, colMigrateDisable)
	// Layout7 has need-resched-lazy and preempt-lazy-depth too; -rt patches, 4.1 to 6.6.
	Layout7 = makeLayout(colIRQs, colNeedResched, colNeedReschedLazy, colHardSoft, colPreemptDepth,
		colLazyDepth, colMigrateDisable)
)

func makeLayout(cols ...column) Layout {
	var l Layout
	for _, c := range cols {
		l.add(c)
	}
	return l
}

func (l *Layout) add(c column) {
	if l.n < maxColumns {
		l.cols[l.n] = c
		l.n++
	}
}

// Columns is the number of flag columns.
func (l Layout) Columns() int { return l.n }

// layoutOfWidth guesses the columns from the width of the flags, where no legend tells
// them: 4, 5 and 7 are the only widths of kernels in use.
func layoutOfWidth(n int) (Layout, bool) {
	switch n {
	case 4:
		return Layout4, true
	case 5:
		return Layout5, true
	case 7:
		return Layout7, true
	}
	return Layout{}, false
}

// legendColumn reads one line of the legend over the flag columns, such as
// "#                              | / _---=> hardirq/softirq".
func legendColumn(line []byte) (column, bool) {
	i := bytes.Index(line, []byte("=> "))
	if i < 0 || i == 0 || (line[i-1] != '-' && line[i-1] != '=') {
		return colNone, false
	}
	name, _, _ := bytes.Cut(bytes.TrimSpace(line[i+3:]), []byte(" "))
	// The names of print_lat_help_header() in kernel/trace/trace.c and of the -rt patches.
	switch string(name) {
	case "irqs-off", "irqs-off/BH-disabled":
		return colIRQs, true
	case "need-resched":
		return colNeedResched, true
	case "need-resched-lazy", "need-resched_lazy":
		return colNeedReschedLazy, true
	case "hardirq/softirq":
		return colHardSoft, true
	case "preempt-depth":
		return colPreemptDepth, true
	case "preempt-lazy-depth":
		return colLazyDepth, true
	case "migrate-disable":
		return colMigrateDisable, true
	case "CPU#":
		return colNone, true
	}
	return colUnknown, true
}
