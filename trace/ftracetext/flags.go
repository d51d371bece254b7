package ftracetext

import "github.com/whylate/whylate/event"

// parseFlags reads the flag columns b of layout l into ev. It returns false, with the
// flags of ev left unknown, if b does not fit the layout.
//
// The letters are those of trace_print_lat_fmt() in kernel/trace/trace_output.c, v6.13.
func parseFlags(ev *event.Event, l *Layout, b []byte) bool {
	if len(b) != l.n || l.n == 0 {
		return parseWideDepth(ev, l, b)
	}
	// ev is only touched when all letters are known: half read flags would be wrong ones.
	f := event.FlagsKnown
	var depth, lazy, migrate uint8
	for i, c := range b {
		ok := true
		switch l.cols[i] {
		case colIRQs:
			f, ok = f|irqLetter(c), c == '.' || irqLetter(c) != 0
		case colNeedResched:
			f, ok = f|reschedLetter(c), c == '.' || reschedLetter(c) != 0
		case colNeedReschedLazy:
			// -rt patches print L, some N: any mark means the same.
			if c != '.' {
				f |= event.NeedReschedLazy
			}
		case colHardSoft:
			f, ok = f|contextLetter(c), c == '.' || contextLetter(c) != 0
		case colPreemptDepth:
			depth, ok = depthDigit(c)
		case colLazyDepth:
			lazy, ok = depthDigit(c)
		case colMigrateDisable:
			migrate, ok = depthDigit(c)
		}
		if !ok {
			return false
		}
	}
	ev.Flags, ev.PreemptDepth, ev.LazyDepth, ev.MigrateDisable = f, depth, lazy, migrate
	return true
}

// parseWideDepth reads the flags of kernels before 5.15, whose last column, the preempt
// depth, takes two digits beyond 15.
func parseWideDepth(ev *event.Event, l *Layout, b []byte) bool {
	if l.n == 0 || len(b) != l.n+1 || l.cols[l.n-1] != colPreemptDepth {
		return false
	}
	high, ok1 := depthDigit(b[l.n-1])
	low, ok2 := depthDigit(b[l.n])
	if !ok1 || !ok2 || b[l.n-1] == '.' || b[l.n] == '.' || !parseFlags(ev, l, b[:l.n]) {
		return false
	}
	ev.PreemptDepth = high<<4 | low
	return true
}

// irqLetter reads the column irqs-off/BH-disabled. Up to 5.17 there was only d: whether
// softirqs were disabled showed in the preempt count alone.
func irqLetter(c byte) event.Flags {
	switch c {
	case 'd':
		return event.IRQsOff
	case 'D':
		return event.IRQsOff | event.BHOff
	case 'b':
		return event.BHOff
	case 'X':
		return event.IRQsNoSupport
	}
	return 0
}

// reschedLetter reads the column need-resched. Kernels before 3.13 knew only N, for
// TIF_NEED_RESCHED; the letters with a lazy request came with 6.13.
func reschedLetter(c byte) event.Flags {
	switch c {
	case 'N':
		return event.NeedResched | event.PreemptResched
	case 'n':
		return event.NeedResched
	case 'p':
		return event.PreemptResched
	case 'B':
		return event.NeedResched | event.PreemptResched | event.NeedReschedLazy
	case 'b':
		return event.NeedResched | event.NeedReschedLazy
	case 'L':
		return event.PreemptResched | event.NeedReschedLazy
	case 'l':
		return event.NeedReschedLazy
	}
	return 0
}

// contextLetter reads the column hardirq/softirq. H is a hard interrupt that came while
// softirqs ran; the letter does not tell an NMI that did from one that did not.
func contextLetter(c byte) event.Flags {
	switch c {
	case 'Z':
		return event.NMI | event.HardIRQ
	case 'z':
		return event.NMI
	case 'H':
		return event.HardIRQ | event.SoftIRQ
	case 'h':
		return event.HardIRQ
	case 's':
		return event.SoftIRQ
	}
	return 0
}

// depthDigit reads a depth: a hex digit, or a dot for 0.
func depthDigit(c byte) (uint8, bool) {
	switch {
	case c == '.':
		return 0, true
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

// AppendFlags appends the flags of ev as the columns of layout l, exactly as the kernel
// prints them, so that the columns of a line read come back letter by letter. It appends nothing where the flags are not known. What the layout has no
// column for is lost: a lazy reschedule shows in Layout5 within need-resched, in Layout7
// in its own column.
func AppendFlags(dst []byte, l Layout, ev *event.Event) []byte {
	if ev.Flags&event.FlagsKnown == 0 {
		return dst
	}
	lazyColumn := false
	for _, c := range l.cols[:l.n] {
		lazyColumn = lazyColumn || c == colNeedReschedLazy
	}
	for i, c := range l.cols[:l.n] {
		switch c {
		case colIRQs:
			dst = append(dst, irqChar(ev.Flags))
		case colNeedResched:
			dst = append(dst, reschedChar(ev.Flags, lazyColumn))
		case colNeedReschedLazy:
			dst = append(dst, pick(ev.Flags, event.NeedReschedLazy, 'L'))
		case colHardSoft:
			dst = append(dst, contextChar(ev.Flags))
		case colPreemptDepth:
			// Only the kernels with this as their last column keep more than four bits.
			if ev.PreemptDepth > 15 && i == l.n-1 {
				dst = append(dst, depthChar(ev.PreemptDepth>>4))
				dst = append(dst, "0123456789abcdef"[ev.PreemptDepth&15])
				break
			}
			dst = append(dst, depthChar(ev.PreemptDepth))
		case colLazyDepth:
			dst = append(dst, depthChar(ev.LazyDepth))
		case colMigrateDisable:
			dst = append(dst, depthChar(ev.MigrateDisable))
		default:
			dst = append(dst, '.')
		}
	}
	return dst
}

// pick is c where bit is set, else the dot of an empty column.
func pick(f, bit event.Flags, c byte) byte {
	if f&bit != 0 {
		return c
	}
	return '.'
}

// irqChar writes the first column; a known state of the interrupts goes before X, which
// an architecture without that knowledge always has.
func irqChar(f event.Flags) byte {
	switch {
	case f&event.IRQsOff != 0 && f&event.BHOff != 0:
		return 'D'
	case f&event.IRQsOff != 0:
		return 'd'
	case f&event.BHOff != 0:
		return 'b'
	}
	return pick(f, event.IRQsNoSupport, 'X')
}

// reschedChar writes the need-resched column; a lazy request has letters of its own
// only where it has no column of its own.
func reschedChar(f event.Flags, lazyColumn bool) byte {
	i := 0
	if f&event.NeedResched != 0 {
		i |= 1
	}
	if f&event.PreemptResched != 0 {
		i |= 2
	}
	if f&event.NeedReschedLazy != 0 && !lazyColumn {
		i |= 4
	}
	return ".npNlbLB"[i]
}

// contextChar writes the innermost context: NMI, hard interrupt, softirq.
func contextChar(f event.Flags) byte {
	switch {
	case f&event.NMI != 0 && f&event.HardIRQ != 0:
		return 'Z'
	case f&event.NMI != 0:
		return 'z'
	case f&event.HardIRQ != 0 && f&event.SoftIRQ != 0:
		return 'H'
	case f&event.HardIRQ != 0:
		return 'h'
	}
	return pick(f, event.SoftIRQ, 's')
}

// depthChar is one hex digit, 'f' for what does not fit: the kernel keeps four bits.
func depthChar(d uint8) byte {
	switch {
	case d == 0:
		return '.'
	case d > 15:
		return 'f'
	}
	return "0123456789abcdef"[d]
}

// rawFlags reads "0x35" ("3-0x35" with the CPU): the common_flags of an event in hexadecimal, which
// `trace-cmd report -l -R` prints. Bit 2 is left out: it means an architecture without
// the information, or since 6.13 a lazy reschedule; only the kernel version tells.
func rawFlags(ev *event.Event, b []byte) {
	v, ok := hexNumber(b)
	if !ok {
		return
	}
	ev.Flags = event.FlagsKnown
	for _, bit := range [...]struct {
		raw  int64
		flag event.Flags
	}{{1, event.IRQsOff}, {4, event.NeedResched}, {8, event.HardIRQ}, {0x10, event.SoftIRQ},
		{0x20, event.PreemptResched}, {0x40, event.NMI}, {0x80, event.BHOff}} {
		if v&bit.raw != 0 {
			ev.Flags |= bit.flag
		}
	}
}
