package machine

import (
	"math/bits"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// Span is a length in ns between Min and Max, each as likely. The zero Span takes no time.
type Span struct{ Min, Max event.Time }

// draw takes a length out of the span. Where there is only one, no number is drawn.
func (s Span) draw(r *engine.Stream) event.Time {
	return event.Time(r.Between(int64(s.Min), int64(s.Max)))
}

// exponential returns a length with the mean given and the distribution of the distances of
// independent arrivals: mean · −ln(u), u evenly between 0 and 1. It is worked out in
// integers, so that no processor gets another number.
func exponential(r *engine.Stream, mean event.Time) event.Time {
	// −log2(u) of u = x/2^64, with 32 bits behind the point: the leading zeros are the whole
	// part, squaring the rest yields one bit after the other.
	x := r.Uint64() | 1
	zeros := bits.LeadingZeros64(x)
	x <<= zeros
	frac := uint64(0)
	for range 32 {
		hi, lo := bits.Mul64(x, x)
		frac <<= 1
		if hi>>63 == 1 {
			frac |= 1
			x = hi
		} else {
			x = hi<<1 | lo>>63
		}
	}
	log2 := uint64(zeros+1)<<32 - frac // of 1/u
	const ln2 = 2977044472             // ln 2 with 32 bits behind the point
	hi, lo := bits.Mul64(log2, ln2)
	log := hi<<32 | lo>>32
	hi, lo = bits.Mul64(log, uint64(max(mean, 0)))
	if hi>>31 != 0 {
		return 1 << 62 // longer than any run
	}
	return event.Time(hi<<32 | lo>>32)
}
