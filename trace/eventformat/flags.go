package eventformat

import (
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// flagTable translates common_flags, whose bits no format file describes; see enum
// trace_flag_type in the kernel's include/linux/trace_events.h. nibbles reports whether
// the upper half of common_preempt_count counts migrate_disable.
//
// Three bits changed their meaning. Kernels with the old PREEMPT_LAZY of the -rt patch
// are known by their field common_preempt_lazy_count; there "reschedule lazily" is 0x20
// (seen in recordings of 6.1-rt: no PREEMPT_RESCHED at all) or, before mainline took
// 0x80 for softirqs, 0x80. Its successor uses 0x02 (seen in 6.12-rt; mainline 6.13).
func flagTable(release string, lazyCount bool) (table [256]event.Flags, nibbles bool) {
	bits := [8]event.Flags{event.IRQsOff, event.IRQsNoSupport, event.NeedResched, event.HardIRQ, event.SoftIRQ,
		event.PreemptResched, event.NMI, event.BHOff}
	major, minor, rt := parseRelease(release)
	at := func(wantMajor, wantMinor int) bool {
		return major > wantMajor || major == wantMajor && minor >= wantMinor
	}
	switch {
	case lazyCount && at(5, 17):
		bits[5] = event.NeedReschedLazy
	case lazyCount:
		bits[7] = event.NeedReschedLazy
	case at(6, 13) || rt && at(6, 6):
		bits[1] = event.NeedReschedLazy
	}
	for v := range table {
		table[v] = event.FlagsKnown
		for i, bit := range bits {
			if v&(1<<i) != 0 {
				table[v] |= bit
			}
		}
	}
	return table, major == 0 || at(5, 15)
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
