package eventformat

import (
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// flagTable translates common_flags, whose bits no format file describes; see enum
// trace_flag_type in the kernel's include/linux/trace_events.h. Two bits changed their
// meaning, so the release string of the recording kernel decides. nibbles reports
// whether the upper half of common_preempt_count counts migrate_disable.
func flagTable(release string) (table [256]event.Flags, nibbles bool) {
	bits := [8]event.Flags{event.IRQsOff, 0, event.NeedResched, event.HardIRQ, event.SoftIRQ,
		event.PreemptResched, event.NMI, event.BHOff}
	major, minor, rt := parseRelease(release)
	at := func(wantMajor, wantMinor int) bool {
		return major > wantMajor || major == wantMajor && minor >= wantMinor
	}
	known := major > 0
	if at(6, 13) {
		bits[1] = event.NeedReschedLazy // before: interrupts-off is not recorded here
	}
	switch {
	case known && rt && !at(6, 13): // -rt patch set: TRACE_FLAG_NEED_RESCHED_LAZY
		bits[7] = event.NeedReschedLazy
	case known && !at(5, 18): // not used by mainline
		bits[7] = 0
	}
	for v := range table {
		table[v] = event.FlagsKnown
		for i, bit := range bits {
			if v&(1<<i) != 0 {
				table[v] |= bit
			}
		}
	}
	return table, !known || at(5, 15)
}

// parseRelease reads "6.1.0-50-rt-amd64"; 0, 0 if it is none.
func parseRelease(release string) (major, minor int, rt bool) {
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 2 {
		return 0, 0, false
	}
	major, err := strconv.Atoi(parts[0])
	digits := strings.IndexFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(parts[1])
	}
	minor, err2 := strconv.Atoi(parts[1][:digits])
	if err != nil || err2 != nil || major < 2 || minor < 0 {
		return 0, 0, false
	}
	return major, minor, strings.Contains(release, "-rt") || strings.Contains(release, "PREEMPT_RT")
}
