package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
)

// parsed runs parse on each text of ok, and on each of bad, which must fail.
func parsed[T any](t *testing.T, parse func(string) (T, error), ok map[string]T, bad ...string) {
	t.Helper()
	for text, want := range ok {
		got, err := parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if diff := cmp.Diff(want, got, cmp.AllowUnexported(timeSpan{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range bad {
		if got, err := parse(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestDurations(t *testing.T) {
	parsed(t, parseDuration, map[string]event.Time{
		"100us": 100_000, "100µs": 100_000, "1ms": 1_000_000, "1.5s": 1_500_000_000, "7ns": 7, "1m": 60_000_000_000,
		"100": 100_000, "0.5": 500, "12.345": 12_345, "0": 0, ".5": 500, "3.": 3_000,
	}, "", ".", "-1ms", "-3", "1.2345", "5x", "ms", "1e3", "99999999999999999999", "9223372036854775.808", "1 ms")
	parsed(t, parsePositive, map[string]event.Time{"1": 1_000}, "0", "0ms")
}

func TestTimeSpans(t *testing.T) {
	parsed(t, parseTimeSpan, map[string]timeSpan{
		"12.218611038,12.3": {12_218_611_038, 12_300_000_000},
		"1,":                {1_000_000_000, event.NoTime},
		",2.5":              {event.NoTime, 2_500_000_000},
		",":                 {event.NoTime, event.NoTime},
		"0,1":               {0, 1_000_000_000},
	}, "", "1", "2,1", "1,1", "a,b", "1,2,3", "-1,2", "1.0000000001,2", "9999999999999,")
}

func TestCPULists(t *testing.T) {
	parsed(t, parseCPUs, map[string][]event.CPU{
		"0": {0}, "0-3,5": {0, 1, 2, 3, 5}, "7,1": {7, 1}, "65535": {65535}, "2-2": {2},
	}, "", "a", "3-1", "-1", "1-", "0-65536", "0-4294967295", "0,,1", "1 2", "+1")
}

func TestPIDLists(t *testing.T) {
	parsed(t, parsePIDs, map[string][]event.PID{
		"311": {311}, "311,412": {311, 412}, "2147483647": {2147483647},
	}, "", "x", "-1", "2147483648", "1,", "1-3")
}

func TestOtherValues(t *testing.T) {
	parsed(t, parseCount, map[string]int{"1": 1, "256": 256}, "0", "-1", "", "many", "2147483648")
	parsed(t, parseGlob, map[string]string{"irq/*": "irq/*", "worker-[0-9]": "worker-[0-9]"}, "", "[")
	parsed(t, parseWaitID, map[string]string{"311@290.333201": "311@290.333201"}, "", "311", "x@1", "@1", "311@")
	parsed(t, oneOf("a", "b"), map[string]string{"a": "a"}, "", "c", "A")
}

func TestShellWordsComeBackWhole(t *testing.T) {
	for _, words := range [][]string{{"ls"}, {"sh", "-c", "echo a; b"}, {"my file"}, {""}, {"a", "", "b c", "*"}} {
		got, err := splitWords(quoted(words...))
		if diff := cmp.Diff(words, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", words, err, diff)
		}
	}
}

func TestCPUMasks(t *testing.T) {
	for want, cpus := range map[string][]event.CPU{
		"1": {0}, "f": {0, 1, 2, 3}, "80000000": {31}, "1,00000000": {32}, "2,00000003": {0, 1, 33},
		"1,00000000,00000000": {64},
	} {
		if got := cpuMask(cpus); got != want {
			t.Errorf("%v: got %s, want %s", cpus, got, want)
		}
	}
}

func TestSuggestionsAreNear(t *testing.T) {
	flags := newExplain(&streams{}).Flags()
	for name, want := range map[string]string{"tsk": "task", "topp": "top", "ove": "over", "jsn": "json", "strikt": "strict",
		"frobnicate": "", "x": "", "": ""} {
		if got := nearestFlag(flags, name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
