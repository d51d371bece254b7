package scenario_test

import (
	"testing"

	"github.com/whylate/whylate/scenario"
)

// FuzzChange: whatever is asked for, the answer is a plan that can be set up or an error.
func FuzzChange(f *testing.F) {
	for _, s := range []string{"task=cyclictest-* policy=fifo prio=80 cpus=0-3,5", "set sched_rt_runtime_us=-1", "kernel=6.1-rt",
		"cpus=4096", "task=[ nice=1", "task=a policy=deadline runtime=1 deadline=2 period=3", "irq=14-ahci policy=other"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := scenario.FromTemplate("cyclictest", nil)
		if err != nil {
			t.Fatal(err)
		}
		if p.Change(text) != nil {
			return
		}
		if s, err := p.Setup(); err == nil && s.Machine.Sched.CPUs <= 64 {
			if _, err := scenario.NewSource(s); err != nil {
				t.Fatalf("a setup without an error cannot start: %v", err)
			}
		}
	})
}
