package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/whylate/whylate/result"
)

// HistCyclictest prints r.Histograms in the layout of cyclictest -h (rt-tests 2.4), a
// column per histogram, for the scripts that read that: one line per bucket with its
// lower edge in µs, then lines of totals that begin with #. What a column stands for is
// told in comments at the top, where cyclictest has one about cpu_dma_latency.
//
// Lengths are whole µs, rounded down as cyclictest does. Its lists of the cycles at which
// a thread overflowed hold no cycles here, only the number of "others".
//
// It fails where buckets are not whole µs or differ between histograms.
func HistCyclictest(w io.Writer, r *result.Latency) error {
	bucketNS, n, err := shape(r.Histograms)
	if err != nil {
		return err
	}
	if bucketNS%1000 != 0 {
		return fmt.Errorf("cyclictest's histogram has buckets of whole µs, not of %d ns", bucketNS)
	}
	p := newPrinter(w, Options{})
	for i := range r.Histograms {
		p.printf("# Column %d: %s\n", i+1, escape(r.Histograms[i].Label))
	}
	p.printf("# Histogram\n")
	for i := range n {
		p.printf("%06d ", int64(i)*bucketNS/1000)
		for j := range r.Histograms {
			if j > 0 {
				p.printf("\t")
			}
			p.printf("%06d", bucket(&r.Histograms[j], i))
		}
		p.printf("\n")
	}
	// cyclictest's total is that of the buckets; overflows have a line of their own.
	p.perHistogram("# Total:", " %09d", r.Histograms, func(h *result.Histogram) int64 { return h.Waits - h.Overflows })
	p.perHistogram("# Min Latencies:", " %05d", r.Histograms, func(h *result.Histogram) int64 { return h.MinNS / 1000 })
	p.perHistogram("# Avg Latencies:", " %05d", r.Histograms, func(h *result.Histogram) int64 { return h.AvgNS / 1000 })
	p.perHistogram("# Max Latencies:", " %05d", r.Histograms, func(h *result.Histogram) int64 { return h.MaxNS / 1000 })
	p.perHistogram("# Histogram Overflows:", " %05d", r.Histograms, func(h *result.Histogram) int64 { return h.Overflows })
	p.printf("# Histogram Overflow at cycle number:\n")
	// An empty list for threads without overflows, as in the original.
	for i := range r.Histograms {
		p.printf("# Thread %d:", i)
		if over := r.Histograms[i].Overflows; over > 0 {
			p.printf(" # %05d others", over)
		}
		p.printf("\n")
	}
	p.printf("\n")
	return p.flush()
}

// perHistogram prints a line with one number per histogram; format has what stands
// between them, which differs between the two layouts.
func (p *printer) perHistogram(head, format string, list []result.Histogram, value func(*result.Histogram) int64) {
	p.printf("%s", head)
	for i := range list {
		p.printf(format, value(&list[i]))
	}
	p.printf("\n")
}

// HistRTLA prints r.Histograms in the layout of rtla timerlat hist and osnoise hist
// (6.1): buckets in which nothing fell are left out, then the lines over, count, min, avg
// and max. A histogram of one CPU has the head CPU-NNN, any other Thr-NNN with a comment
// at the top that says what it is.
//
// Lengths are whole µs rounded down, or ns where the buckets are not whole µs; the line
// "Time unit" says which. It fails where buckets differ between histograms.
func HistRTLA(w io.Writer, r *result.Latency) error {
	bucketNS, n, err := shape(r.Histograms)
	if err != nil {
		return err
	}
	unit, word := int64(1000), "microseconds (us)"
	if bucketNS%1000 != 0 {
		unit, word = 1, "nanoseconds (ns)"
	}
	p := newPrinter(w, Options{})
	p.printf("# RTLA timerlat histogram\n# Time unit is %s\n# Duration: %s\n", word, rtlaDuration(r.Input.EndNS-r.Input.StartNS))
	head := "Index"
	for i := range r.Histograms {
		if h := &r.Histograms[i]; h.CPU >= 0 {
			head += fmt.Sprintf("   CPU-%03d", h.CPU)
		} else {
			p.printf("# Thr-%03d: %s\n", i, escape(h.Label))
			head += fmt.Sprintf("   Thr-%03d", i)
		}
	}
	p.printf("%s\n", head)
	for i := range n {
		// As rtla does without --with-zeros.
		var sum int64
		for j := range r.Histograms {
			sum += bucket(&r.Histograms[j], i)
		}
		if sum > 0 {
			p.rtlaLine(fmt.Sprintf("%-6d", int64(i)*bucketNS/unit), r.Histograms, func(h *result.Histogram) int64 { return bucket(h, i) })
		}
	}
	p.rtlaLine("over: ", r.Histograms, func(h *result.Histogram) int64 { return h.Overflows })
	p.rtlaLine("count:", r.Histograms, func(h *result.Histogram) int64 { return h.Waits })
	p.rtlaLine("min:  ", r.Histograms, func(h *result.Histogram) int64 { return h.MinNS / unit })
	p.rtlaLine("avg:  ", r.Histograms, func(h *result.Histogram) int64 { return h.AvgNS / unit })
	p.rtlaLine("max:  ", r.Histograms, func(h *result.Histogram) int64 { return h.MaxNS / unit })
	return p.flush()
}

// rtlaLine prints a line as rtla does, with the blank that it leaves at the end.
func (p *printer) rtlaLine(head string, list []result.Histogram, value func(*result.Histogram) int64) {
	p.perHistogram(head, "%9d ", list, value)
}

// rtlaDuration prints days, hours, minutes and seconds: "  0 00:10:00".
func rtlaDuration(ns int64) string {
	s := max(ns, 0) / 1e9
	return fmt.Sprintf("%3d %02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
}

// shape returns what the histograms have in common: the width of a bucket and the
// largest number of them.
func shape(list []result.Histogram) (bucketNS int64, n int, err error) {
	if len(list) == 0 {
		return 0, 0, fmt.Errorf("the result has no histograms")
	}
	bucketNS = list[0].BucketNS
	for i := range list {
		if list[i].BucketNS != bucketNS {
			return 0, 0, fmt.Errorf("histogram of %s has buckets of %d ns, the first one of %d ns",
				strings.TrimSpace(escape(list[i].Label)), list[i].BucketNS, bucketNS)
		}
		n = max(n, len(list[i].Counts))
	}
	return bucketNS, n, nil
}

// bucket is a count, 0 beyond the buckets of h.
func bucket(h *result.Histogram, i int) int64 {
	if i >= len(h.Counts) {
		return 0
	}
	return h.Counts[i]
}
