package scenario

import (
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/workload"
)

const pageSize = 4096

// extras takes in what the file says of a task beside rt-app's part: its memory, how it
// ends, and the time that it spends in the kernel.
func (b *builder) extras(x *rtapp.TaskExtra) {
	for i := range b.plan.Load.Tasks {
		t := &b.plan.Load.Tasks[i]
		if t.Name != x.Name {
			continue
		}
		if x.MMBytes > 0 || x.MMPages > 0 || x.VMAs > 0 || x.MLockAll != nil {
			t.Memory = &workload.Memory{Pages: (x.MMBytes+pageSize-1)/pageSize + x.MMPages, VMAs: max(x.VMAs, 1), Locked: b.locked(x)}
		}
		if x.Exit != nil {
			t.Exit = b.exit(x.Exit)
		}
		for _, s := range x.KernelSections {
			t.Sections = append(t.Sections, sectionOf(&s))
		}
	}
}

// locked reports whether the memory of a task is locked: as it says itself, else as
// lock_pages, which rt-app heeds for every policy but SCHED_OTHER.
func (b *builder) locked(x *rtapp.TaskExtra) bool {
	if x.MLockAll != nil {
		return *x.MLockAll
	}
	i := slices.IndexFunc(b.file.Tasks, func(t rtapp.Task) bool { return t.Name == x.Name })
	return i >= 0 && b.file.Global.LockPages && b.file.Tasks[i].Props.Policy != rtapp.Other
}

// lock takes in what the file says of a mutex of its events.
func (b *builder) lock(l *rtapp.LockExtra) {
	mu := &b.plan.Load.Mutexes[b.mutexes.of(l.Name)]
	if l.Kind == "spinlock" {
		*mu = workload.Mutex{Spin: true}
		return
	}
	mu.Robust, mu.Ceiling = l.Robust, l.Ceiling
	if l.Protocol != "" {
		mu.PI = l.Protocol == "inherit"
	}
}

func (b *builder) exit(e *rtapp.Exit) *workload.Exit {
	w := &workload.Exit{After: e.After, Signal: signalNumber(e.Signal), Core: e.CoreBytes, Post: -1}
	if e.Post != "" {
		w.Post = b.sems.of(e.Post)
	}
	return w
}

// signals are those that a file may name, with their numbers on x86 and ARM; signal(7).
var signals = map[string]int64{"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7,
	"SIGFPE": 8, "SIGKILL": 9, "SIGUSR1": 10, "SIGSEGV": 11, "SIGUSR2": 12, "SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15,
	"SIGXCPU": 24, "SIGXFSZ": 25, "SIGSYS": 31}

func signalNumber(name string) int64 { return signals[name] }

func sectionOf(s *rtapp.KernelSection) workload.Section {
	w := workload.Section{Mode: machine.Kernel, Length: workload.Span(s.Length), Every: workload.Span(s.Every)}
	switch s.Kind {
	case "preempt_off":
		w.Mode = machine.PreemptOff
	case "irqs_off":
		w.Mode = machine.IRQsOff
	case "bh_off":
		w.Mode = machine.BHOff
	}
	return w
}

// parseMillionths reads a decimal number from 0 to 1000 with at most six decimals. There is
// no floating point in what decides a run.
func parseMillionths(text string) (int64, error) {
	whole, part, _ := strings.Cut(text, ".")
	if len(part) > 6 || whole == "" && part == "" {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseUint("0"+whole+(part + "000000")[:6], 10, 63)
	if err == nil && n > 1000*1_000_000 {
		err = strconv.ErrRange
	}
	return int64(n), err
}
