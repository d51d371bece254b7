package kernel

import "testing"

// TestFlagFacts: what the bits of an event's context mean, by release. The rows marked
// recorded are those of which the project has traces that show it.
func TestFlagFacts(t *testing.T) {
	for _, test := range []struct {
		name, release  string
		lazyCount      Answer
		withCount, bit uint8
		migrate        Answer
	}{
		{"no kernel named", "", Maybe, 0x80, 0, Maybe},
		{"not a release", "linux", Maybe, 0x80, 0, Maybe},
		{"3.4-rt prints five columns", "3.4.113-rt145", No, 0x80, 0, No},
		{"first -rt with seven columns", "4.1.13-rt15", Yes, 0x80, 0, No},
		{"mainline without any", "4.4.0-210-generic", No, 0x80, 0, No},
		{"0x80 before mainline took it", "5.10.1-rt20", Yes, 0x80, 0, No},
		{"migrate-disable is counted", "5.15.0-rt17", Yes, 0x80, 0, Yes},
		{"the last before softirqs", "5.16.20", No, 0x80, 0, Yes},
		{"softirqs have 0x80", "5.17.1-rt17", Yes, 0x20, 0, Yes},
		{"6.1, recorded", "6.1.0-50-amd64", No, 0x20, 0, Yes},
		{"6.1-rt, recorded", "6.1.0-50-rt-amd64", Yes, 0x20, 0, Yes},
		{"the new lazy in -rt", "6.6.15-rt22", No, 0x20, 0x02, Yes},
		{"6.6 without -rt", "6.6.15", No, 0x20, 0, Yes},
		{"6.12, recorded", "6.12.107+deb12-amd64", No, 0x20, 0, Yes},
		{"6.12-rt, recorded", "6.12.107+deb12-rt-amd64", No, 0x20, 0x02, Yes},
		{"the new lazy in mainline", "6.13.0", No, 0x20, 0x02, Yes},
		{"a release candidate", "7.0.0-rc1", No, 0x20, 0x02, Yes},
	} {
		want := FlagFacts{test.lazyCount, test.withCount, test.bit, test.migrate}
		if got := Of(test.release).Flags; got != want {
			t.Errorf("%s (%q): %+v, want %+v", test.name, test.release, got, want)
		}
	}
}

// TestReportedStates: what prev_state holds, seen in recordings of 3.x to 4.11 and of 6.x.
func TestReportedStates(t *testing.T) {
	for release, want := range map[string]Answer{"": Maybe, "3.10.40": No, "4.11.0-rc4+": No, "4.13.16": No, "4.14.0": Yes,
		"6.1.0-50-rt-amd64": Yes} {
		if got := Of(release).ReportedStates; got != want {
			t.Errorf("%q: %v, want %v", release, got, want)
		}
	}
}
