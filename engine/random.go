package engine

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
)

// Stream is a sequence of random numbers of its own. Each user of randomness has one, by
// name, so that a new user does not change the numbers of the others.
type Stream struct{ pcg rand.PCG }

// NewStream returns the stream of name under seed. The numbers depend on nothing else.
func NewStream(seed uint64, name string) *Stream {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash never fails to be written to
	s := &Stream{}
	s.pcg.Seed(seed, h.Sum64())
	return s
}

// Uint64 returns 64 random bits.
func (s *Stream) Uint64() uint64 { return s.pcg.Uint64() }

// Int64N returns a number in [0, n) without bias; 0 for n ≤ 1.
func (s *Stream) Int64N(n int64) int64 {
	if n <= 1 {
		return 0
	}
	// Numbers beyond the largest multiple of n are drawn again.
	limit := uint64(1)<<63 - uint64(1)<<63%uint64(n)
	for {
		if v := s.pcg.Uint64() >> 1; v < limit {
			return int64(v % uint64(n))
		}
	}
}

// Between returns a number in [low, high] without bias; low if high is not above it.
func (s *Stream) Between(low, high int64) int64 {
	if high <= low {
		return low
	}
	return low + s.Int64N(high-low+1)
}

// Exponential returns a number with the mean given and the distribution of the distances of
// independent arrivals: mean · −ln(u), u evenly between 0 and 1. It is worked out in
// integers, so that no processor gets another number.
func (s *Stream) Exponential(mean int64) int64 {
	// −log2(u) of u = x/2^64, with 32 bits behind the point: the leading zeros are the whole
	// part, squaring the rest yields one bit after the other.
	x := s.Uint64() | 1
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
	return int64(hi<<32 | lo>>32)
}
