package explain_test

import "testing"

// TestWokenWhileStillRunning: in the mixed recording a task is woken at 4.7310 while it
// still runs, and leaves at 4.731131 to sleep. A count from that wake would make 6,029.3 µs
// out of the sleep; what it waited after its next wake are 1,492.7 µs.
func TestWokenWhileStillRunning(t *testing.T) {
	found := false
	for _, l := range explained(t, "mixed-v61-smp4/mixed.dat").Late {
		switch {
		case near(l.WaitNS, us(6029.3)):
			t.Errorf("wait %s of %s lasts 6,029.3 µs, most of which it slept", l.ID, l.Comm)
		case near(l.WaitNS, us(1492.7)):
			found = true
		}
	}
	if !found {
		t.Error("the wait of 1,492.7 µs is not there")
	}
}
