package sysinfo

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
)

// machine is a snapshot with something in every field; its text is machineText.
func machine() *Snapshot {
	at, slack := int64(290_333_201_000), int64(50_000)
	virtual := func(ns int64) *int64 { return &ns }
	return &Snapshot{
		TimeNS: &at, Kernel: Kernel{"6.12.107+deb13-rt-amd64", "#1 SMP PREEMPT_RT Debian", "x86_64"},
		Settings: []Setting{{"sched_rt_runtime_us", "950000"}, {"HZ", "250"}},
		Features: []Feature{{"RT_PUSH_IPI", true}, {"HRTICK", false}},
		CPUs: []CPU{{CPU: 1, Online: true, Core: 0, LLC: 0, Node: -1, Capacity: 1024, Siblings: CPUList{0, 1}, Isolated: true, NoHZFull: true,
			FairServer: &FairServer{50_000_000, 1_000_000_000}}},
		Tasks: []Task{
			{PID: 311, TGID: 300, Comm: "ctl<loop>", Policy: FIFO, Priority: 80, CPUs: CPUList{0, 1, 2, 5}, CGroup: "/rt", ResetOnFork: true, TimerSlackNS: &slack},
			{PID: 2, TGID: 2, Comm: "kthreadd", Policy: Other, Nice: -5, Kernel: true, VRuntimeNS: virtual(2_546_025_066),
				VirtualDeadlineNS: virtual(2_546_725_066), SliceNS: 3_000_000, Autogroup: 12, AutogroupNice: -3},
			{PID: 400, TGID: 400, Comm: "dl", Policy: Deadline, RuntimeNS: 1, DeadlineNS: 2, PeriodNS: 3}},
		CGroups: []CGroup{{Path: "/web", Weight: 100, Idle: true, QuotaNS: 20_000_000, PeriodNS: 100_000_000, BurstNS: 1,
			RealTime: &RTBandwidth{-1, 1_000_000_000}, CPUs: CPUList{3}, Partition: "isolated"}},
		CFSRQs: []CFSRQ{{CPU: 1, Group: "/web", MinVRuntimeNS: virtual(-1_048_576), Entity: &GroupEntity{50_823, 734_208}},
			{CPU: 1, Group: "/", ZeroVRuntimeNS: virtual(0), AvgVRuntimeNS: virtual(7)}},
		IRQs: []IRQ{{Number: 14, Name: "ahci", CPUs: CPUList{0, 1}, Effective: CPUList{1}, Thread: 214}},
	}
}

const machineText = `{
  "schema": "whylate.sysinfo/1",
  "time_ns": 290333201000,
  "kernel": {"release":"6.12.107+deb13-rt-amd64","version":"#1 SMP PREEMPT_RT Debian","machine":"x86_64"},
  "settings": [
    {"name":"HZ","value":"250"},
    {"name":"sched_rt_runtime_us","value":"950000"}
  ],
  "features": [
    {"name":"HRTICK","on":false},
    {"name":"RT_PUSH_IPI","on":true}
  ],
  "cpus": [
    {"cpu":1,"online":true,"core":0,"llc":0,"node":-1,"capacity":1024,"siblings":"0-1","isolated":true,"nohz_full":true,"fair_server":{"runtime_ns":50000000,"period_ns":1000000000}}
  ],
  "tasks": [
    {"pid":2,"tgid":2,"comm":"kthreadd","policy":"SCHED_OTHER","nice":-5,"kernel":true,"vruntime_ns":2546025066,"virtual_deadline_ns":2546725066,"slice_ns":3000000,"autogroup":12,"autogroup_nice":-3},
    {"pid":311,"tgid":300,"comm":"ctl<loop>","policy":"SCHED_FIFO","priority":80,"reset_on_fork":true,"cpus":"0-2,5","cgroup":"/rt","timer_slack_ns":50000},
    {"pid":400,"tgid":400,"comm":"dl","policy":"SCHED_DEADLINE","runtime_ns":1,"deadline_ns":2,"period_ns":3}
  ],
  "cgroups": [
    {"path":"/web","weight":100,"idle":true,"quota_ns":20000000,"period_ns":100000000,"burst_ns":1,"real_time":{"runtime_ns":-1,"period_ns":1000000000},"cpus":"3","partition":"isolated"}
  ],
  "cfs_rqs": [
    {"cpu":1,"group":"/","zero_vruntime_ns":0,"avg_vruntime_ns":7},
    {"cpu":1,"group":"/web","min_vruntime_ns":-1048576,"entity":{"vruntime_ns":50823,"weight":734208}}
  ],
  "irqs": [
    {"number":14,"name":"ahci","cpus":"0-1","effective":"1","thread":214}
  ]
}
`

func TestWhatIsWrittenIsTheDocumentedForm(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, machine()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(machineText, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestReadingGivesWhatWasWritten(t *testing.T) {
	s, err := Read(strings.NewReader(machineText))
	if err != nil {
		t.Fatal(err)
	}
	want := machine()
	want.Sort()
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestLookingUp(t *testing.T) {
	s, err := Read(strings.NewReader(machineText))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := s.Setting("HZ"); v != "250" || !ok {
		t.Errorf("HZ is %q, %v", v, ok)
	}
	if n, ok := s.Number("sched_rt_runtime_us"); n != 950_000 || !ok {
		t.Errorf("sched_rt_runtime_us is %d, %v", n, ok)
	}
	if _, ok := s.Setting("nohz"); ok {
		t.Error("nohz is known")
	}
	if on, known := s.Feature("RT_PUSH_IPI"); !on || !known {
		t.Error("RT_PUSH_IPI is not on")
	}
	if task := s.Task(311); task == nil || task.Comm != "ctl<loop>" || !task.Allows(5) || task.Allows(3) {
		t.Errorf("task 311 is %+v", task)
	}
	if task := s.Task(2); task == nil || !task.Allows(77) {
		t.Errorf("task 2 is %+v", task)
	}
	if q := s.CFSRQ(1, "/web"); q == nil || q.Entity.Weight != 734_208 || s.CFSRQ(0, "/web") != nil {
		t.Errorf("the queue of /web is %+v", q)
	}
	if s.Task(3) != nil || s.CGroup("/") != nil || s.CGroup("/web") == nil {
		t.Error("what is there is not found, or what is not there is")
	}
}

func TestNamesOfATraceAreShorter(t *testing.T) {
	for _, c := range []struct {
		proc, trace string
		same        bool
	}{
		{"ctl-loop", "ctl-loop", true}, {"ctl-loop", "ctl", false}, {"ctl", "ctl-loop", false},
		{"kworker/0:0-mm_percpu_wq", "kworker/0:0", true}, {"kworker/u9:1+flush", "kworker/u9:1", true}, {"kworker/0:12-events", "kworker/0:1", false},
		{"kworker/R-acpi_thermal_pm", "kworker/R-acpi_", true}, {"a-name-of-more-than-15", "a-name-of-more-", true}, {"", "", true},
	} {
		if task := (Task{Comm: c.proc}); task.Named(c.trace) != c.same {
			t.Errorf("%q in /proc is %q in a trace: %v", c.proc, c.trace, !c.same)
		}
	}
}

func TestUnknownFieldsArePassedOver(t *testing.T) {
	s, err := Read(strings.NewReader(`{"later": {"a": [1, {}]}, "tasks": [{"pid": 7, "policy": "SCHED_EXT", "colour": 3}], "schema": "whylate.sysinfo/1", "irqs": null}`))
	if err != nil || len(s.Tasks) != 1 || s.Tasks[0].Policy != "SCHED_EXT" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	const head = `{"schema": "whylate.sysinfo/1", `
	for _, c := range []struct {
		text, says string
		is         error
	}{
		{``, "ends too early", event.ErrTruncated},
		{`[]`, "snapshot", event.ErrCorrupt},
		{`{}`, "schema", event.ErrCorrupt},
		{`{"schema": "whylate.sysinfo/2"}`, `"whylate.sysinfo/2" instead of whylate.sysinfo/1`, event.ErrNotSupported},
		{`{"schema": 1}`, "schema", event.ErrCorrupt},
		{head + `"tasks": [{"pid": 1, "policy": "SCHED_FIFO", "priority": 100}]}`, "task 1: priority 100", event.ErrCorrupt},
		{head + `"tasks": [{"pid": 1}]}`, "task 1: a policy is missing", event.ErrCorrupt},
		{head + `"tasks": [{"pid": 1, "policy": "x"}, {"pid": 1, "policy": "x"}]}`, "task 1: is there twice", event.ErrCorrupt},
		{head + `"tasks": [{"pid": 1, "policy": "x", "cpus": "3-1"}]}`, "tasks[0]", event.ErrCorrupt},
		{head + `"tasks": [{"pid": 1, "policy": "x", "cpus": "0-9999"}]}`, "tasks[0]", event.ErrCorrupt},
		{head + `"tasks": [{"pid": 5000000000, "policy": "x"}]}`, "tasks[0]", event.ErrCorrupt},
		{head + `"tasks": {}}`, "is no list", event.ErrCorrupt},
		{head + `"tasks": [], "tasks": []}`, "twice", event.ErrCorrupt},
		{head + `"cpus": [{"cpu": 8192}]}`, "CPU 8192", event.ErrCorrupt},
		{head + `"cgroups": [{"path": "/a", "quota_ns": 5}]}`, "a quota without a period", event.ErrCorrupt},
		{head + `"settings": [{"name": "a", "value": "` + strings.Repeat("x", 4097) + `"}]}`, "4096 bytes", event.ErrCorrupt},
		{head + `"cfs_rqs": [{"cpu": 1, "group": "/a"}, {"cpu": 0, "group": "/a"}, {"cpu": 1, "group": "/a"}]}`, "queue of /a on CPU 1: is there twice", event.ErrCorrupt},
		{head + `"cfs_rqs": [{"cpu": 1, "group": "/a", "min_vruntime_ns": 9e18}]}`, "cfs_rqs[0]", event.ErrCorrupt},
		{head + `"cfs_rqs": [{"cpu": 1, "group": "/a", "min_vruntime_ns": -9000000000000000000}]}`, "too far from 0", event.ErrCorrupt},
		{head + `"cfs_rqs": [{"cpu": 0, "group": "/a", "entity": {"weight": -1}}]}`, "queue of /a on CPU 0", event.ErrCorrupt},
		{head + `"tasks": [{"pid": 1, "policy": "x", "slice_ns": -1}]}`, "task 1", event.ErrCorrupt},
		{head + `"tasks": [{"pid": 1, "policy": "x", "autogroup": 3, "autogroup_nice": 20}]}`, "nice 20 of its autogroup", event.ErrCorrupt},
		{head + `"irqs": [{"number": -1}]}`, "IRQ -1", event.ErrCorrupt},
		{head + `"irqs": [`, "irqs", event.ErrTruncated},
		{head + `"time_ns": 1} {`, "something follows", event.ErrCorrupt},
	} {
		_, err := Read(strings.NewReader(c.text))
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.80s: %v; want %q, %v", c.text, err, c.says, c.is)
		}
	}
}

func TestASmallFileNeedsNoLargeMemory(t *testing.T) {
	// Each task names 8192 CPUs in six bytes: 16 MB of lists, if each had its own.
	var b strings.Builder
	b.WriteString(`{"schema": "whylate.sysinfo/1", "tasks": [`)
	for i := range 1000 {
		b.WriteString(strings.Repeat(",", min(i, 1)))
		b.WriteString(`{"pid":` + string(rune('1'+i%9)) + strings.Repeat("0", i/9%4) + `,"policy":"x","cpus":"0-8191"}`)
	}
	b.WriteString(`]}`)
	text := b.String()
	got := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			_, _ = Read(strings.NewReader(text)) // pids are there twice: refused at the end
		}
	})
	if most := int64(8 << 20); got.AllocedBytesPerOp() > most {
		t.Errorf("%d bytes for a text of %d", got.AllocedBytesPerOp(), len(text))
	}
}

func TestPackedAndUnpackedIsTheSame(t *testing.T) {
	for _, s := range []*Snapshot{{Kernel: Kernel{Release: "6.1"}}, machine()} {
		data, err := Pack(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Unpack(data)
		if err != nil {
			t.Fatal(err)
		}
		s.Sort()
		if diff := cmp.Diff(s, again); diff != "" {
			t.Error(diff)
		}
		if len(data) > plain {
			continue
		}
		if data[0] != '{' && data[0] != 0x78 {
			t.Errorf("packed as % x…", data[:4])
		}
	}
	for _, data := range [][]byte{nil, {0}, {0x78, 0x9c}, []byte("\x78\x9cno zlib at all")} {
		if _, err := Unpack(data); err == nil {
			t.Errorf("% x is a snapshot", data)
		}
	}
}

func TestEverySnapshotSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySnapshot(t)
		var first, second bytes.Buffer
		if err := Write(&first, s); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		again, err := Read(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", first.Bytes(), err)
		}
		s.Sort()
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatal(diff)
		}
		if err := Write(&second, again); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("%s, then %s, %v", first.Bytes(), second.Bytes(), err)
		}
	})
}

func anySnapshot(t *rapid.T) *Snapshot {
	text, name := rapid.String(), rapid.StringN(1, 20, 60)
	ns, yes := rapid.Int64Range(0, mostNS), rapid.Bool()
	cpus := rapid.Custom(func(t *rapid.T) CPUList {
		l := CPUList(rapid.SliceOfNDistinct(rapid.Int32Range(0, mostCPUs-1), 0, 8, rapid.ID[int32]).Draw(t, "cpus"))
		if len(l) == 0 {
			return nil
		}
		l, _ = ParseCPUs(l.String())
		return l
	})
	s := &Snapshot{Kernel: Kernel{text.Draw(t, "release"), text.Draw(t, "version"), text.Draw(t, "machine")}}
	if yes.Draw(t, "timed") {
		at := rapid.Int64().Draw(t, "time")
		s.TimeNS = &at
	}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 4, rapid.ID[string]).Draw(t, "settings") {
		s.Settings = append(s.Settings, Setting{n, text.Draw(t, "value")})
		s.Features = append(s.Features, Feature{n, yes.Draw(t, "on")})
		s.CGroups = append(s.CGroups, CGroup{Path: n, Weight: rapid.IntRange(0, 10000).Draw(t, "weight"), Idle: yes.Draw(t, "idle"),
			PeriodNS: ns.Draw(t, "period"), BurstNS: ns.Draw(t, "burst"), CPUs: cpus.Draw(t, "cpus"), Partition: text.Draw(t, "partition")})
	}
	for _, n := range rapid.SliceOfNDistinct(rapid.Int32Range(0, mostCPUs-1), 0, 4, rapid.ID[int32]).Draw(t, "numbers") {
		s.CPUs = append(s.CPUs, CPU{CPU: n, Online: yes.Draw(t, "online"), Core: rapid.Int32Min(-1).Draw(t, "core"), LLC: rapid.Int32Min(-1).Draw(t, "llc"),
			Node: rapid.Int32Min(-1).Draw(t, "node"), Siblings: cpus.Draw(t, "siblings"), FairServer: &FairServer{ns.Draw(t, "runtime"), ns.Draw(t, "period")}})
		v := rapid.Int64Range(-mostNS, mostNS).Draw(t, "virtual")
		s.CFSRQs = append(s.CFSRQs, CFSRQ{CPU: n, Group: name.Draw(t, "group"), MinVRuntimeNS: &v, Entity: &GroupEntity{v, ns.Draw(t, "weight")}})
		s.Tasks = append(s.Tasks, Task{PID: n, VRuntimeNS: &v, SliceNS: ns.Draw(t, "slice"), TGID: rapid.Int32Min(0).Draw(t, "tgid"), Comm: text.Draw(t, "comm"), Policy: name.Draw(t, "policy"),
			Priority: rapid.IntRange(0, 99).Draw(t, "priority"), Nice: rapid.IntRange(-20, 19).Draw(t, "nice"), RuntimeNS: ns.Draw(t, "runtime"),
			CPUs: cpus.Draw(t, "cpus"), CGroup: text.Draw(t, "cgroup")})
		s.IRQs = append(s.IRQs, IRQ{Number: int64(n), Name: text.Draw(t, "irq"), CPUs: cpus.Draw(t, "cpus"), Effective: cpus.Draw(t, "effective")})
	}
	return s
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(machineText))
	f.Add([]byte(`{"schema": "whylate.sysinfo/1", "tasks": [{"pid": 7, "policy": "SCHED_FIFO", "cpus": "1,3"}]}`))
	packed, err := Pack(machine())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Unpack(data)
		if err != nil {
			return
		}
		// What could be read can be written, and is the same again.
		var first bytes.Buffer
		if err := Write(&first, s); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
