package tracedat

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

// TestLettersAgreeWithReport compares what trace-cmd derives from a record instead of
// copying it: the flag letters in front of each line, the letters of prev_state, and
// the messages of trace_printk and trace_marker.
func TestLettersAgreeWithReport(t *testing.T) {
	for _, path := range recordings(t) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			if strings.Contains(path, "hackbench") {
				t.Skip("nothing in it that the other recordings lack")
			}
			f := openFile(t, path)
			s, err := f.Events(event.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			lazyIsX := strings.HasPrefix(f.Info().Kernel, "6.12")
			n, states, fails := 0, map[string]int{}, 0
			report(t, path, []string{"-l", "-N"}, func(r reportLine) bool {
				e, err := s.Next()
				if err != nil {
					t.Errorf("event %d: %v", n, err)
					return false
				}
				n++
				if int64(e.Time) != r.time {
					t.Errorf("event %d: time %d, want %d", n, e.Time, r.time)
					return false
				}
				if got := letters(e, lazyIsX); got != r.flags {
					t.Errorf("event %d (%+v): flags %q, trace-cmd has %q", n, r, got, r.flags)
					fails++
				}
				if want, ok := message(r); ok && s.Names().String(e.Text) != want {
					t.Errorf("event %d (%+v): text %q, want %q", n, r, s.Names().String(e.Text), want)
					fails++
				}
				if _, rest, ok := strings.Cut(r.body, " prev_state="); ok {
					want, _, _ := strings.Cut(rest, " ")
					states[want]++
					if e.State.String() != want {
						t.Errorf("event %d (%+v): prev_state %v, trace-cmd has %s", n, r, e.State, want)
						fails++
					}
				}
				return fails < 10
			})
			t.Log(n, "events, states", states)
		})
	}
}

// letters prints the flags as trace-cmd report -l does: irqs-off, need-resched,
// hard or soft interrupt, preempt depth, migrate-disable. trace-cmd 3.1.6 does not know
// that bit 0x02 became "reschedule lazily" and prints X; that the kernel itself calls it
// so is checked by TestLazyFlagAgreesWithKernelsText.
func letters(e *event.Event, lazyIsX bool) string {
	one := func(on bool, c string) string {
		if on {
			return c
		}
		return "."
	}
	context := one(e.Flags.Has(event.SoftIRQ), "s")
	if e.Flags.Has(event.HardIRQ) {
		context = "h"
		if e.Flags.Has(event.SoftIRQ) {
			context = "H"
		}
	}
	depth := func(n uint8) string { return one(n > 0, fmt.Sprintf("%x", n)) }
	irqs := one(e.Flags.Has(event.IRQsOff), "d")
	if irqs == "." && lazyIsX && e.Flags.Has(event.NeedReschedLazy) {
		irqs = "X"
	}
	return irqs + one(e.Flags.Has(event.NeedResched), "N") + context +
		depth(e.PreemptDepth) + depth(e.MigrateDisable)
}

// message is the text of trace_printk and trace_marker without the function in front.
func message(r reportLine) (string, bool) {
	if r.name != "print" && r.name != "bprint" {
		return "", false
	}
	_, text, ok := strings.Cut(r.body, ": ")
	return strings.TrimSuffix(text, "\n"), ok
}

// TestLazyFlagAgreesWithKernelsText: for two machines there is a text recording by the
// kernel itself beside the binary ones. Every combination of the columns "irqs-off or
// softirqs disabled" and "need-resched-lazy" in it must come out of the binary flags of
// the same machine.
func TestLazyFlagAgreesWithKernelsText(t *testing.T) {
	for _, machine := range []struct {
		text   string
		binary string
		lazy   func(flags string) string
	}{
		{"rt-throttle-v61rt-smp1/throttle950.ftrace.txt.xz", "rt-throttle-v61rt-smp1/throttle950000.dat",
			func(flags string) string { return flags[2:3] }},
		{"rt-throttle-v612rt-smp1/throttle950.ftrace.txt.xz", "rt-throttle-v612rt-smp1/throttle950000-hog.dat",
			func(flags string) string { return strings.Trim(strings.ToUpper(flags[1:2]), "N") }},
	} {
		t.Run(machine.text, func(t *testing.T) {
			have := map[string]bool{}
			f := openFile(t, shared.Path(t, "traces/"+machine.binary))
			s, err := f.Events(event.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for e, err := s.Next(); err == nil; e, err = s.Next() {
				bits := map[bool]int{true: 1}
				irqs := ".dbD"[bits[e.Flags.Has(event.IRQsOff)]+2*bits[e.Flags.Has(event.BHOff)]]
				have[string(irqs)+".L"[bits[e.Flags.Has(event.NeedReschedLazy)]:][:1]] = true
			}
			lazy := 0
			for flags, line := range kernelFlags(t, shared.Path(t, "traces/"+machine.text)) {
				column := machine.lazy(flags)
				if column == "" {
					column = "."
				}
				if column == "L" {
					lazy++
				}
				if !have[flags[:1]+column] {
					t.Errorf("the kernel prints %q, never seen in the binary flags %v\n%s", flags, have, line)
				}
			}
			if lazy == 0 {
				t.Error("no lazy flag in the text: this test shows nothing")
			}
		})
	}
}

// kernelFlags returns the different flag columns of an ftrace text, with a line for each.
func kernelFlags(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := xz.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]string{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		_, rest, ok := strings.Cut(lines.Text(), "[000] ")
		if word, _, _ := strings.Cut(rest, " "); ok && len(word) >= 5 {
			flags[word] = lines.Text()
		}
	}
	return flags
}
