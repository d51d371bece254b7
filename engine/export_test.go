package engine

// Hurry makes q believe that it has been used for ages: after n more pushes its sequence
// is full.
func (q *Queue) Hurry(n uint64) {
	if q.slotBits == 0 {
		q.rekey()
	}
	q.seq = 1<<(64-rankBits-q.slotBits) - n
}

// Keys returns how many keys the heap holds, cancelled ones too.
func (q *Queue) Keys() int { return q.n }
