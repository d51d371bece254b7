package replay

import "testing"

// BenchmarkWhatIf is what a what-if does on a trace of 34,436 events and 1.2 s: it reads it, and
// runs its load unchanged and changed.
func BenchmarkWhatIf(b *testing.B) {
	path := tracesOf(b, "traces/mixed-v61-smp4/*.dat")[0]
	b.ReportAllocs()
	for b.Loop() {
		l := recorded(b, path)
		if _, err := l.Run(RunOptions{}); err != nil {
			b.Fatal(err)
		}
		c := l.Clone()
		if err := c.Change("task=cyclictest prio=95"); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Run(RunOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
