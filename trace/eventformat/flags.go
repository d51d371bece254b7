package eventformat

import "github.com/whylate/whylate/event"

// CommonBits is what differs between kernels in the common fields and stands in no format
// file: see the package kernel, which knows it by release. The zero value is a kernel
// without lazy rescheduling that counts the preempt depth alone.
type CommonBits struct {
	// LazyWithCount is the bit of common_flags that means need-resched-lazy where records
	// have common_preempt_lazy_count, Lazy where they have not; 0: none. That field tells
	// the old PREEMPT_LAZY of the -rt patch from its successor better than a release does.
	LazyWithCount, Lazy uint8
	// MigrateDisable: the upper half of common_preempt_count counts migrate_disable.
	MigrateDisable bool
}

// flagTable translates common_flags, whose bits no format file describes; see enum
// trace_flag_type in the kernel's include/linux/trace_events.h. A lazy bit takes the place
// of what mainline gave that bit to before or since.
func flagTable(common CommonBits, lazyCount bool) (table [256]event.Flags) {
	bits := [8]event.Flags{event.IRQsOff, event.IRQsNoSupport, event.NeedResched, event.HardIRQ, event.SoftIRQ,
		event.PreemptResched, event.NMI, event.BHOff}
	lazy := common.Lazy
	if lazyCount {
		lazy = common.LazyWithCount
	}
	for i := range bits {
		if lazy&(1<<i) != 0 {
			bits[i] = event.NeedReschedLazy
		}
	}
	for v := range table {
		table[v] = event.FlagsKnown
		for i, bit := range bits {
			if v&(1<<i) != 0 {
				table[v] |= bit
			}
		}
	}
	return table
}
