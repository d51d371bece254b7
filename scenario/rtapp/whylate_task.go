package rtapp

import (
	"math"
	"slices"

	"github.com/whylate/whylate/event"
)

// softirqWords are the kernel's names of the softirq vectors, as in /proc/softirqs.
var softirqWords = []string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"}

// SoftirqVector is the number of a softirq by its name; −1 for a name that is none.
func SoftirqVector(name string) int64 { return int64(slices.Index(softirqWords, name)) }

// sectionWords are the kinds of kernel sections.
var sectionWords = []string{"kernel", "preempt_off", "irqs_off", "bh_off"}

// coreSignals are those that write a core dump, killSignals others that end a process;
// man 7 signal.
var (
	coreSignals = []string{"SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGQUIT", "SIGSEGV", "SIGSYS", "SIGTRAP", "SIGXCPU", "SIGXFSZ"}
	killSignals = []string{"SIGALRM", "SIGHUP", "SIGINT", "SIGKILL", "SIGPIPE", "SIGTERM", "SIGUSR1", "SIGUSR2"}
)

// readIRQ reads an interrupt. Its policy and priority are those of the thread of its
// handler; without them the kernel makes it SCHED_FIFO 50.
func readIRQ(name string, pos Pos, s strict) IRQ {
	q := IRQ{Name: name, Pos: pos, CPUs: s.cpus("cpus"), Threaded: s.flag("threaded")}
	q.Policy = policyOf(s.members, "policy", Keep)
	// A priority alone would be ambiguous: its meaning depends on the policy.
	switch {
	case q.Policy.RealTime():
		q.Priority = int(s.number("priority", 1, 99, 50))
	case q.Policy.Nice():
		q.Priority = int(s.number("priority", -20, 19, 0))
	case s.take("priority") != nil:
		s.errorf("priority", "needs a policy that has one")
	}
	if q.Policy == Deadline {
		s.errorf("policy", "the thread of an interrupt cannot be SCHED_DEADLINE")
	}
	q.Hard, q.Work = s.span("hard"), s.span("work")
	q.Softirq = s.oneOf("softirq", softirqWords)
	if q.SoftirqWork = s.span("softirq_work"); q.Softirq == "" && s.has("softirq_work") {
		s.errorf("softirq_work", `needs a "softirq"`)
	}
	q.Every = s.duration("every", 0)
	q.Offset, q.Jitter = s.duration("offset", 0), s.duration("jitter", 0)
	q.Random = s.boolOr("random", false)
	q.Count = s.number("count", 1, math.MaxInt64, 0)
	// Without arrivals of its own, the interrupt is raised by devices alone; then these would
	// silently do nothing.
	for _, key := range []string{"offset", "jitter", "random", "count"} {
		if q.Every == 0 && s.has(key) {
			s.errorf(key, `needs an "every" of more than 0`)
		}
	}
	if q.Every == 0 && s.has("every") {
		s.errorf("every", "must be more than 0")
	}
	if q.Random && q.Jitter > 0 {
		s.errorf("jitter", "random distances have none")
	}
	q.Post = s.name("post")
	return q
}

// readDevice reads a device. checkExtras looks for its interrupt later.
func readDevice(name string, pos Pos, s strict) Device {
	d := Device{Name: name, Pos: pos, IRQ: s.name("irq"), Path: s.name("path"), Gap: s.span("gap")}
	if !s.has("irq") {
		s.n.errorf(s.off, s.at, `needs an "irq"`)
	}
	if d.BytesPerIRQ = s.bytes("bytes_per_irq"); d.BytesPerIRQ == 0 {
		s.errorf("bytes_per_irq", "must be there and more than 0: else no request would end")
	}
	d.Bytes = s.bytes("bytes")
	d.Start, d.Every = s.duration("start", 0), s.duration("every", 0)
	d.Count = s.number("count", 1, math.MaxInt64, 0)
	d.Post = s.name("post")
	for _, key := range []string{"start", "every", "count"} {
		if d.Bytes == 0 && s.has(key) {
			s.errorf(key, `needs "bytes", the size of the requests`)
		}
	}
	if d.Every == 0 && s.has("count") {
		s.errorf("count", `needs an "every" of more than 0`)
	}
	return d
}

// readSteal reads when a hypervisor takes CPUs away.
func readSteal(name string, pos Pos, s strict) Steal {
	t := Steal{Name: name, Pos: pos, CPUs: s.cpus("cpus"), Every: s.span("every"), Length: s.span("length")}
	if t.Every.Min <= 0 {
		s.n.errorf(s.off, s.at, `needs an "every" of more than 0`)
	}
	if t.Length.Max <= 0 {
		s.n.errorf(s.off, s.at, `needs a "length" of more than 0`)
	}
	return t
}

// readExtra reads what is said of a task that rt-app's part describes.
func readExtra(name string, pos Pos, s strict) TaskExtra {
	t := TaskExtra{Name: name, Pos: pos, CGroup: s.name("cgroup"), Autogroup: s.name("autogroup")}
	if t.CGroup != "" && t.Autogroup != "" {
		s.errorf("autogroup", "a task in a control group has none: only one of them")
	}
	t.MMBytes = s.bytes("mm_bytes")
	t.MMPages = s.number("mm_pages", 0, mostMemory>>12, 0)
	if s.has("mm_bytes") && s.has("mm_pages") {
		s.errorf("mm_pages", "only one of mm_bytes and mm_pages")
	}
	t.VMAs = s.number("vmas", 1, 1<<31, 0)
	t.MLockAll = s.flag("mlockall")
	s.elements("kernel_sections", func(v *value, at *place) {
		k := s.n.open(v, at)
		sec := KernelSection{Pos: s.n.pos(v.off), Kind: k.oneOf("kind", sectionWords), Length: k.span("length"), Every: k.span("every")}
		for _, key := range []string{"kind", "length", "every"} {
			if !k.has(key) {
				s.n.errorf(v.off, at, "needs a %q", key)
			}
		}
		if sec.Every.Min == 0 && k.has("every") {
			k.errorf("every", "must be more than 0")
		}
		k.close()
		t.KernelSections = append(t.KernelSections, sec)
	})
	if v := s.take("exit"); v != nil {
		t.Exit = readExit(v, s)
	}
	return t
}

// readExit reads how a task ends. A core dump belongs to the handling of a signal, which
// comes before the exit, and only some signals write one.
func readExit(v *value, task strict) *Exit {
	n := task.n
	s := n.open(v, task.at.member("exit"))
	defer s.close()
	e := &Exit{Pos: n.pos(v.off), After: s.duration("after", event.NoTime), Post: s.name("post")}
	e.Signal = s.oneOf("signal", append(slices.Clip(coreSignals), killSignals...))
	if e.CoreBytes = s.bytes("core_bytes"); e.CoreBytes > 0 && !slices.Contains(coreSignals, e.Signal) {
		s.errorf("core_bytes", "needs a signal that dumps core, like SIGSEGV")
	}
	if e.Signal != "" && e.After == event.NoTime {
		s.errorf("signal", `needs an "after": when it comes`)
	}
	return e
}

// checkExtras compares the names that "whylate" uses with those that there are.
func (n *notes) checkExtras(f *File) {
	w := f.Whylate
	n.checkLocks(f)
	tasks, groups, irqs := names{}, names{}, names{}
	for i := range f.Tasks {
		tasks.add(f.Tasks[i].Name)
	}
	for i := range w.CGroups {
		groups.add(w.CGroups[i].Path)
	}
	for i := range w.IRQs {
		irqs.add(w.IRQs[i].Name)
	}
	root := (&place{}).member("whylate")
	for i := range w.Tasks {
		t := &w.Tasks[i]
		at := root.member("tasks").member(t.Name)
		if !tasks.set[t.Name] {
			n.errorAt(t.Pos, at, "no such task%s", n.suggestion(t.Name, tasks.list))
		}
		if t.CGroup != "" && !groups.set[t.CGroup] {
			n.errorAt(t.Pos, at.member("cgroup"), `no group %s in "cgroups"%s`, quoted(t.CGroup), n.suggestion(t.CGroup, groups.list))
		}
	}
	for i := range w.Programs {
		p := &w.Programs[i]
		if p.CGroup != "" && !groups.set[p.CGroup] {
			n.errorAt(p.Pos, root.member("programs").member(p.Name).member("cgroup"), `no group %s in "cgroups"%s`, quoted(p.CGroup), n.suggestion(p.CGroup, groups.list))
		}
	}
	for i := range w.Devices {
		d := &w.Devices[i]
		if d.IRQ != "" && !irqs.set[d.IRQ] {
			n.errorAt(d.Pos, root.member("devices").member(d.Name).member("irq"),
				`no %s in "irqs"%s`, quoted(d.IRQ), n.suggestion(d.IRQ, irqs.list))
		}
	}
}
