package kernel

import "testing"

// TestEveryProfileHasTraits: a profile without them would be modelled as a kernel that
// nobody builds; -rt in its name and PREEMPT_RT say the same.
func TestEveryProfileHasTraits(t *testing.T) {
	for i := range Profiles {
		p := &Profiles[i]
		tr := p.Traits()
		if tr == (Traits{}) {
			t.Errorf("%s has no traits", p.Name)
		}
		if (tr.Preempt == PreemptRT) != p.RT {
			t.Errorf("%s: RT %v, preemption model %d", p.Name, p.RT, tr.Preempt)
		}
	}
	if len(traits) != len(Profiles) {
		t.Errorf("%d traits for %d profiles", len(traits), len(Profiles))
	}
}
