package replay

import (
	"testing"

	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
)

// BenchmarkForce follows 2.5 million events on four CPUs.
func BenchmarkForce(b *testing.B) {
	src, err := trace.Open(shared.Path(b, "traces/big-v61-smp4/hackbench.dat"))
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	for b.Loop() {
		if _, err := Force(src, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
