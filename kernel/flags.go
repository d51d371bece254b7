package kernel

// FlagFacts is what no event format says about the context of an event: which bit of
// common_flags asks for a lazy reschedule, and how common_preempt_count is divided. The
// other bits of common_flags never moved; enum trace_flag_type in trace_events.h.
type FlagFacts struct {
	// PreemptLazyCount: tasks have a preempt_lazy_count, the old PREEMPT_LAZY of the -rt
	// patch. Events then have the field common_preempt_lazy_count, and text traces show
	// need-resched-lazy and preempt-lazy-depth in columns of their own: seven in all.
	PreemptLazyCount Answer
	// LazyBitWithCount is the bit for need-resched-lazy in events that have
	// common_preempt_lazy_count.
	LazyBitWithCount uint8
	// LazyBit is that bit in all other events, 0 where the kernel has no lazy reschedule.
	LazyBit uint8
	// MigrateDisable: the upper half of common_preempt_count counts migrate_disable, and
	// text traces have a fifth column for it. Before 5.15 all of it is the preempt depth.
	MigrateDisable Answer
}

// The bits that changed their meaning, with what they mean elsewhere.
const (
	flagBit1 = 0x02 // interrupt state not supported
	flagBit5 = 0x20 // a reschedule is due in the preempt count
	flagBit7 = 0x80 // softirqs are disabled, since 5.17
)

// unknownFlags is for traces that do not name their kernel: hardly any has a lazy
// reschedule, and those with a preempt_lazy_count are mostly old.
var unknownFlags = FlagFacts{LazyBitWithCount: flagBit7}

// flagFacts was checked with recordings of 6.1-rt (PreemptLazyCount, bit 0x20, none with
// the meaning that mainline gives it), 6.12-rt (bit 0x02), 6.1 and 6.12.
func flagFacts(v Version, rt bool) FlagFacts {
	f := FlagFacts{
		PreemptLazyCount: answer(rt && v.AtLeast(4, 1) && !v.AtLeast(6, 6)),
		LazyBitWithCount: flagBit7,
		MigrateDisable:   answer(v.AtLeast(5, 15)),
	}
	if v.AtLeast(5, 17) { // mainline took 0x80 for softirqs
		f.LazyBitWithCount = flagBit5
	}
	// PREEMPT_LAZY as it is today came with 6.6-rt, half a year and more before mainline.
	if v.AtLeast(6, 13) || rt && v.AtLeast(6, 6) {
		f.LazyBit = flagBit1
	}
	return f
}
