package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/big"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
)

const recordLong = `Print the commands that record what the verdicts need, with trace-cmd and with perf, and
what each event is for. Without a COMMAND they record for --duration.

Recording by whylate itself comes later; until then --print is needed.`

const recordExample = `  whylate record --print
  whylate record --print=trace-cmd -C 0-3 -d 30s | sudo sh
  whylate record --print=perf -- ./my-program --its-flags`

// recorded is a group of events that the commands record.
type recorded struct {
	events string // as trace-cmd and perf name them; a * is for perf only
	filter string // of the events, "" for none
	why    string
	extra  bool // not in every kernel
}

// recordedEvents are all events from which a verdict is made. Only exits are kept of the
// system calls: they mark where a task begins to die, and all others would be most of
// the trace.
func recordedEvents(arch string) []recorded {
	return []recorded{
		{events: "sched:*", why: "who ran, was ready or was blocked, and with which priority: every verdict"},
		{events: "irq:*", why: "irq, softirq: time taken by interrupts"},
		{events: "timer:hrtimer_start", why: "late_wakeup: when a timer was due, and who armed it"},
		{events: "timer:hrtimer_expire_entry", why: "late_wakeup, rt_throttled, fair_server, dl_throttled: timers that fire late or give a budget back"},
		{events: "timer:hrtimer_expire_exit", why: "late_wakeup: how long their handlers ran"},
		{events: "timer:hrtimer_cancel", why: "late_wakeup: timers that never fire"},
		{events: "signal:*", why: "exit_teardown: who killed a task, and when it took notice"},
		{events: "task:*", why: "names of new tasks, and renames"},
		{events: "raw_syscalls:sys_enter", filter: exitFilter(arch), why: "exit_teardown: where exit began (only the two exit calls are recorded)"},
		{events: "power:cpu_idle", why: "idle_exit: how deep a CPU slept and when it woke"},
		{events: "ipi:*", extra: true, why: "idle_exit: when the waker called the CPU"},
		{events: "irq_vectors:*", extra: true, why: "irq: the local timer and other interrupts of the CPU itself"},
	}
}

// exitCalls has the numbers of exit_group and exit by Go's name of the architecture.
var exitCalls = map[string][2]int{
	"386": {252, 1}, "amd64": {231, 60}, "arm": {248, 1}, "arm64": {94, 93}, "loong64": {94, 93},
	"ppc64le": {234, 1}, "riscv64": {94, 93}, "s390x": {248, 1},
}

func exitFilter(arch string) string {
	calls, ok := exitCalls[arch]
	if !ok {
		return ""
	}
	return fmt.Sprintf("id == %d || id == %d", calls[0], calls[1])
}

// recording is what the user wants to record.
type recording struct {
	print    string // all, trace-cmd, perf; "" without --print
	cpus     []event.CPU
	cpuList  string // as the user wrote it
	duration event.Time
	file     string
	command  []string
}

func newRecord(std *streams) *cobra.Command {
	var r recording
	cmd := &cobra.Command{
		Use:     "record --print [flags] [-- COMMAND...]",
		Short:   "Print the commands that record what the verdicts need",
		Long:    recordLong,
		Example: recordExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.command = args
			return r.run(cmd, std.out)
		},
	}
	f := cmd.Flags()
	words := []string{"all", "trace-cmd", "perf"}
	f.Func("print", "print the commands; `TOOL` is trace-cmd, perf or all", into(&r.print, oneOf(words...)))
	f.Lookup("print").NoOptDefVal = "all"
	completeWords(cmd, "print", words)
	f.FuncP("cpu", "C", "record only the CPUs of `LIST`: 0-3,5", func(s string) (err error) {
		r.cpuList = s
		r.cpus, err = parseCPUs(s)
		return err
	})
	f.FuncP("duration", "d", "record for `DURATION` (default 10s)", into(&r.duration, parsePositive))
	f.StringVarP(&r.file, "output", "o", "", "record to `FILE` (default trace.dat or perf.data)")
	return cmd
}

func (r *recording) run(cmd *cobra.Command, w io.Writer) error {
	if r.print == "" {
		return errors.New("live recording comes in a later version; `whylate record --print` prints the trace-cmd and perf commands that record what is needed")
	}
	if r.duration != 0 && len(r.command) > 0 {
		return &usageError{cmd.CommandPath(), errors.New("--duration and a COMMAND are both given; recording ends with the COMMAND")}
	}
	if len(r.command) == 0 {
		r.command = []string{"sleep", seconds(r.duration)}
	}
	return flushed(w, func(w io.Writer) error {
		events := recordedEvents(runtime.GOARCH)
		fmt.Fprintln(w, "# What the verdicts need, by event:")
		for _, e := range events {
			fmt.Fprintf(w, "#   %-27s %s\n", e.events, e.why)
		}
		if r.print != "perf" {
			r.printTraceCmd(w, events)
		}
		if r.print != "trace-cmd" {
			r.printPerf(w, events)
		}
		return nil
	})
}

// printTraceCmd prints the command for trace-cmd. The clock mono is the one that timers
// use and the same on every CPU, so that lateness needs no estimate of an offset. -i
// lets events pass that a kernel does not have.
func (r *recording) printTraceCmd(w io.Writer, events []recorded) {
	fmt.Fprintf(w, "\n# With trace-cmd, as root:\ntrace-cmd record -i -C mono -b 16384 -o %s", quoted(cmp.Or(r.file, "trace.dat")))
	if len(r.cpus) > 0 {
		fmt.Fprintf(w, " -M %s", cpuMask(r.cpus))
	}
	for _, e := range events {
		fmt.Fprintf(w, " \\\n  -e %s", strings.TrimSuffix(e.events, ":*"))
		if e.filter != "" {
			fmt.Fprintf(w, " -f '%s'", e.filter)
		}
	}
	fmt.Fprintf(w, " \\\n  %s\n", quoted(r.command...))
}

// printPerf prints the command for perf, which refuses events that the kernel lacks.
func (r *recording) printPerf(w io.Writer, events []recorded) {
	fmt.Fprintf(w, "\n# With perf, as root")
	sep := "; where `perf list` has them, add "
	for _, e := range events {
		if e.extra {
			fmt.Fprintf(w, "%s-e '%s'", sep, e.events)
			sep = " "
		}
	}
	fmt.Fprintf(w, ":\nperf record -a -R -c 1 -m 4096 -k mono -o %s", quoted(cmp.Or(r.file, "perf.data")))
	if len(r.cpus) > 0 {
		fmt.Fprintf(w, " -C %s", r.cpuList)
	}
	for _, e := range events {
		if e.extra {
			continue
		}
		fmt.Fprintf(w, " \\\n  -e '%s'", e.events)
		if e.filter != "" {
			fmt.Fprintf(w, " --filter '%s'", e.filter)
		}
	}
	fmt.Fprintf(w, " \\\n  -- %s\n", quoted(r.command...))
}

// cpuMask is the kernel's form of a set of CPUs: hexadecimal, a comma before every 32
// bits from the right.
func cpuMask(cpus []event.CPU) string {
	mask := new(big.Int)
	for _, cpu := range cpus {
		mask.SetBit(mask, int(cpu), 1)
	}
	digits := mask.Text(16)
	var b strings.Builder
	for i, c := range digits {
		if left := len(digits) - i; i > 0 && left%8 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// seconds prints d for sleep(1), 10 s if it is not set.
func seconds(d event.Time) string {
	if d == 0 {
		return "10"
	}
	s := fmt.Sprintf("%d.%09d", d/1e9, d%1e9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// quoted joins words so that a shell takes them apart again.
func quoted(words ...string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		plain := strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-") == ""
		if word != "" && plain {
			b.WriteString(word)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(word, "'", `'\''`) + "'")
	}
	return b.String()
}
