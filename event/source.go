package event

// Source is an opened trace: its facts, and its events as often as they are asked for.
type Source interface {
	Info() *Info
	// Events starts at the first event. Streams of one Source share its Names and may
	// not be used at the same time from several goroutines.
	Events(Options) (Stream, error)
	Close() error
}

// Options chooses what a Stream delivers.
type Options struct {
	// Want has the kinds to deliver; the zero value means all. Gaps always come.
	Want KindSet
	// OtherText asks for the fields of events of kind Other as text in Event.Text.
	OtherText bool
	// Progress, where set, is told from time to time how many of the total bytes of
	// the input are done.
	Progress func(done, total int64)
}

// KindSet is a set of kinds.
type KindSet uint64

// Kinds returns the set of the given kinds.
func Kinds(kinds ...Kind) KindSet {
	var s KindSet
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether k is in s, or s is the zero set, which stands for all kinds.
func (s KindSet) Has(k Kind) bool { return s == 0 || s&(1<<k) != 0 || k == Gap }
