package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// BenchmarkBuildDomains is a machine of 256 CPUs as it begins: two nodes of eight caches of eight cores.
func BenchmarkBuildDomains(b *testing.B) {
	cfg := DefaultConfig(256)
	cfg.Topology = UniformTopology(2, 8, 8, 2)
	s := New(cfg, nil, event.NewNames())
	for b.Loop() {
		s.buildDomains()
	}
}
