package ftracetext

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
)

// legendNames are the columns as a legend calls them, longest form.
var legendNames = map[column]string{colIRQs: "irqs-off/BH-disabled", colNeedResched: "need-resched",
	colNeedReschedLazy: "need-resched-lazy", colHardSoft: "hardirq/softirq", colPreemptDepth: "preempt-depth",
	colLazyDepth: "preempt-lazy-depth", colMigrateDisable: "migrate-disable"}

// appendHeader writes the comments in front of the events: what tracefs writes, and what
// it leaves out although whoever reads the trace has to know it.
func appendHeader(dst []byte, info *event.Info, l *Layout) []byte {
	dst = append(dst, "# tracer: nop\n#\n"...)
	if info.Kernel != "" {
		dst = fmt.Appendf(dst, "# kernel: %s\n", oneLine(info.Kernel+" "+info.Machine))
	}
	if info.Clock != "" {
		dst = fmt.Appendf(dst, "# clock: %s\n", oneLine(info.Clock))
	}
	if info.CPUs > 0 {
		dst = fmt.Appendf(dst, "# CPUs: %d\n", info.CPUs)
	}
	return appendLegend(append(dst, "#\n"...), l)
}

// appendLegend draws the legend of the columns:
//
//	#                                _-----=> irqs-off/BH-disabled
//	#                               / _----=> need-resched
//	#                              | / _---=> hardirq/softirq
func appendLegend(dst []byte, l *Layout) []byte {
	const at = 31 // of the first column
	cols := l.cols[:l.n]
	for i, c := range cols {
		name := legendNames[c]
		if l.n == Layout4.n && c == colIRQs {
			name = "irqs-off" // such kernels do not know the other half
		}
		bars := ""
		switch {
		case i == 1:
			bars = " / "
		case i > 1:
			bars = strings.Repeat("|", i-1) + " / "
		default:
			bars = "  "
		}
		dst = fmt.Appendf(dst, "#%*s%s_%s=> %s\n", at-1, "", bars, strings.Repeat("-", max(l.n, 5)-i), name)
	}
	bars := strings.Repeat("|", l.n)
	dst = fmt.Appendf(dst, "#%*s%s /     delay\n", at-1, "", bars[1:])
	dst = fmt.Appendf(dst, "#           TASK-PID     CPU#  %s  TIMESTAMP  FUNCTION\n", bars)
	return fmt.Appendf(dst, "#              | |         |   %s     |         |\n", bars)
}

// oneLine makes a text fit for a comment.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
