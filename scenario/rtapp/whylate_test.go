package rtapp

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/whylate/whylate/event"
)

const us = event.Time(1000)

// extra reads a file with one task and the object "whylate" with body.
func extra(t *testing.T, body string) *Whylate {
	t.Helper()
	f, warnings := parsed(t, `{"tasks":{"a":{"run":1}},"whylate":{`+body+`}}`, Options{})
	if warnings != "" {
		t.Errorf("%s: %s", body, warnings)
	}
	return f.Whylate
}

func TestWhylateIsOptional(t *testing.T) {
	if f, _ := parsed(t, inTask(`"run":1`), Options{}); f.Whylate != nil {
		t.Errorf("got %+v", f.Whylate)
	}
	if d := cmp.Diff(&Whylate{Pos: Pos{1, 36}}, extra(t, ``)); d != "" {
		t.Error(d)
	}
}

func TestWhylateValues(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		body string
		want Whylate
	}{
		{`"kernel":"6.12","seed":0`, Whylate{Kernel: "6.12", HasSeed: true}},
		{`"kernel":"6.1.176-rt","seed":9223372036854775807`, Whylate{Kernel: "6.1.176-rt", Seed: math.MaxInt64, HasSeed: true}},
		{`"cpus":6,"topology":{"threads_per_core":2}`, Whylate{CPUs: 6, Topology: &Topology{ThreadsPerCore: 2, CoresPerLLC: 3, LLCsPerNode: 1, Nodes: 1}}},
		{`"topology":{"cores_per_llc":4,"nodes":2}`, Whylate{CPUs: 8, Topology: &Topology{ThreadsPerCore: 1, CoresPerLLC: 4, LLCsPerNode: 1, Nodes: 2}}},
		{`"topology":{"capacity":[300]}`, Whylate{CPUs: 1, Topology: &Topology{ThreadsPerCore: 1, CoresPerLLC: 1, LLCsPerNode: 1, Nodes: 1, Capacity: []int{300}}}},
		{`"settings":{"b":-1,"a":true,"c":"full","d":007}`, Whylate{Settings: []Setting{{Name: "b", Value: "-1"}, {Name: "a", Value: "true"}, {Name: "c", Value: "full"}, {Name: "d", Value: "7"}}}},
		{`"features":{"RUN_TO_PARITY":False}`, Whylate{Features: []Setting{{Name: "RUN_TO_PARITY", Value: "false"}}}},
		{`"costs":{"tick":2,"ipi":["1us",3]}`, Whylate{Costs: []Cost{{Name: "tick", Span: Span{2 * us, 2 * us}}, {Name: "ipi", Span: Span{us, 3 * us}}}}},
		{`"cost_table":"qemu"`, Whylate{CostTable: "qemu"}},
		{`"cgroups":{"/a":{}}`, Whylate{CGroups: []CGroup{{Path: "/a", Quota: event.NoTime}}}},
		{`"cgroups":{"/a/b":{"cpu.max":"20000"}}`, Whylate{CGroups: []CGroup{{Path: "/a/b", Quota: 20 * ms, Period: 100 * ms}}}},
		{`"cgroups":{"/a":{"cpu.max":"max 50000","cpu.max.burst":3,"cpu.idle":1}}`, Whylate{CGroups: []CGroup{{Path: "/a", Quota: event.NoTime, Period: 50 * ms, Burst: 3 * us, Idle: true}}}},
		{`"cgroups":{"/a":{"cpu.weight.nice":-3}},"autogroups":{"x":{"nice":4},"y":{}}`, Whylate{CGroups: []CGroup{{Path: "/a", Quota: event.NoTime, WeightNice: new(int(-3))}},
			Autogroups: []Autogroup{{Name: "x", Nice: 4}, {Name: "y"}}}},
		{`"cgroups":{"/a":{"cpuset.cpus":[1],"cpu.shares":2}}`, Whylate{CGroups: []CGroup{{Path: "/a", Quota: event.NoTime, CPUs: []int{1}, Shares: 2}}}},
		{`"irqs":{"x":{"policy":"SCHED_RR","threaded":false}}`, Whylate{IRQs: []IRQ{{Name: "x", Policy: RR, Priority: 50, Threaded: &no}}}},
		{`"irqs":{"x":{"policy":"SCHED_OTHER","priority":-5,"threaded":true}}`, Whylate{IRQs: []IRQ{{Name: "x", Policy: Other, Priority: -5, Threaded: &yes}}}},
		{`"irqs":{"x":{"policy":"SCHED_IDLE","cpus":"0-2,5"}}`, Whylate{IRQs: []IRQ{{Name: "x", Policy: Idle, CPUs: []int{0, 1, 2, 5}}}}},
		{`"tasks":{"a":{}}`, Whylate{Tasks: []TaskExtra{{Name: "a"}}}},
		{`"tasks":{"a":{"mlockall":false,"mm_bytes":4096,"exit":{}}}`, Whylate{Tasks: []TaskExtra{{Name: "a", MLockAll: &no, MMBytes: 4096, Exit: &Exit{After: event.NoTime}}}}},
		{`"changes":["x","y z"]`, Whylate{Changes: []string{"x", "y z"}}},
		{`"variants":{"b":["x","y"],"a":[]}`, Whylate{Variants: []Variant{{Name: "b", Changes: []string{"x", "y"}}, {Name: "a"}}}},
	} {
		if d := cmp.Diff(&c.want, extra(t, c.body), ignorePos); d != "" {
			t.Errorf("%s: %s", c.body, d)
		}
	}
}

func TestWhylateErrors(t *testing.T) {
	for _, c := range []struct{ body, want string }{ // columns count from the "{" of "whylate"
		{`"kernl":"6.1"`, `2 whylate.kernl: unknown key; did you mean "kernel"?`},
		{`"seed":1,"seed":2`, `11 whylate.seed: duplicate key`},
		{`"seed":null`, `9 whylate.seed: must not be null; leave the key out`},
		{`"kernel":"6.2"`, `11 whylate.kernel: unknown kernel "6.2"; did you mean "6.1"?; there are 3.4-rt, 4.11, 6.1, 6.1-rt, 6.6, 6.12, 6.12-rt, 6.18`},
		{`"kernel":""`, `11 whylate.kernel: must not be empty`},
		{`"kernel":6.1`, `11 whylate.kernel: must be a string, not 6.1 with a point or an exponent`},
		{`"seed":-1`, `9 whylate.seed: must be 0 to 9223372036854775807, not -1`},
		{`"seed":9223372036854775808`, `9 whylate.seed: must be 0 to 9223372036854775807, not 9223372036854775808`},
		{`"cpus":0`, `9 whylate.cpus: must be 1 to 4096, not 0`},
		{`"cpus":5,"topology":{"threads_per_core":2}`, `22 whylate.topology: describes 4 CPUs, "cpus" says 5`},
		{`"topology":{"nodes":64,"llcs_per_node":4096}`, `13 whylate.topology: 262144 CPUs, more than 4096`},
		{`"topology":{"nodes":65}`, `22 whylate.topology.nodes: must be 1 to 64, not 65`},
		{`"cpus":2,"topology":{"capacity":[1024]}`, `34 whylate.topology.capacity: 1 capacities for 2 CPUs`},
		{`"topology":[]`, `13 whylate.topology: must be an object, not an array`},
		{`"settings":{"HZ":1.5}`, `19 whylate.settings.HZ: must be an integer, a string, true or false, not 1.5 with a point or an exponent`},
		{`"settings":{"HZ":1,"HZ":2}`, `21 whylate.settings.HZ: duplicate key`},
		{`"settings":{"":1}`, `14 whylate.settings."": a name must not be empty`},
		{`"costs":{"tick":-1}`, `18 whylate.costs.tick: must be 0 to 9223372036854775, not -1`},
		{`"costs":{"tick":9223372036854776}`, `18 whylate.costs.tick: must be 0 to 9223372036854775, not 9223372036854776`},
		{`"costs":{"tick":1.5}`, `18 whylate.costs.tick: must be an integer of µs or a string like "1.5ms", not 1.5 with a point or an exponent`},
		{`"costs":{"tick":"1.5"}`, `18 whylate.costs.tick: must be a length of time like "250ns", "1.5ms" or "2s"`},
		{`"costs":{"tick":[1]}`, `18 whylate.costs.tick: must be a length of time or two of them, [min, max]`},
		{`"costs":{"tick":[2,1]}`, `18 whylate.costs.tick: the first must not be more than the second`},
		{`"idle_states":{"C1":{"latency":"1.0005us"}}`, `33 whylate.idle_states.C1.latency: "1.0005us" is no whole number of ns`},
		{`"cgroups":{"a":{}}`, `17 whylate.cgroups.a: a group is named like "/web" or "/web/db"`},
		{`"cgroups":{"/a":{"cpu.weight":0}}`, `32 whylate.cgroups."/a"."cpu.weight": must be 1 to 10000, not 0`},
		{`"cgroups":{"/a":{"cpu.weight":1,"cpu.shares":2}}`, `47 whylate.cgroups."/a"."cpu.shares": is the old name of cpu.weight: only one of them`},
		{`"cgroups":{"/a":{"cpu.weight":1,"cpu.weight.nice":2}}`, `52 whylate.cgroups."/a"."cpu.weight.nice": is the weight in another scale: only one of them`},
		{`"cgroups":{"/a":{"cpu.weight.nice":20}}`, `37 whylate.cgroups."/a"."cpu.weight.nice": must be -20 to 19, not 20`},
		{`"cgroups":{"/a":{}},"tasks":{"a":{"cgroup":"/a","autogroup":"x"}}`, `62 whylate.tasks.a.autogroup: a task in a control group has none: only one of them`},
		{`"cgroups":{"/a":{"cpu.max":"1"}}`, `29 whylate.cgroups."/a"."cpu.max": a quota is at least 1000 µs`},
		{`"cgroups":{"/a":{"cpu.max":"5000 2000000"}}`, `29 whylate.cgroups."/a"."cpu.max": must be "max" or "QUOTA PERIOD" in µs, with a period of 1000 to 1000000`},
		{`"cgroups":{"/a":{"cpu.max":"much"}}`, `29 whylate.cgroups."/a"."cpu.max": must be "max" or "QUOTA PERIOD" in µs, with a period of 1000 to 1000000`},
		{`"cgroups":{"/a":{"cpuset.cpus":"0-"}}`, `33 whylate.cgroups."/a"."cpuset.cpus": must be a list of CPUs up to 8191, like "0-3,8"`},
		{`"cpus":2,"cgroups":{"/a":{"cpuset.cpus":"0-2"}}`, `42 whylate.cgroups."/a"."cpuset.cpus": must be a list of CPUs up to 1, like "0-3,8"`},
		{`"cpus":2,"irqs":{"x":{"cpus":[2]}}`, `32 whylate.irqs.x.cpus[0]: must be 0 to 1, not 2`},
		{`"topology":{"nodes":5,"distances":[[10,11,12,13,14],[11,10,15,16,17],[12,15,10,18,19],[13,16,18,10,20],[14,17,19,20,10]]}`,
			`36 whylate.topology.distances: 10 different distances between nodes, more than 8`},
		{`"topology":{"nodes":2,"distances":[[10,20]]}`, `36 whylate.topology.distances: 1 rows for 2 nodes`},
		{`"topology":{"nodes":2,"distances":[[10,20],[20]]}`, `36 whylate.topology.distances: row 1 has 1 distances for 2 nodes`},
		{`"topology":{"nodes":2,"distances":[[10,20],[30,10]]}`, `36 whylate.topology.distances: nodes 0 and 1: must be 10 from itself, more from others, and the same both ways`},
		{`"irqs":{"x":{"cpus":[]}}`, `22 whylate.irqs.x.cpus: must name a CPU`},
		{`"irqs":{"x":{"policy":"SCHED_DEADLINE"}}`, `24 whylate.irqs.x.policy: the thread of an interrupt cannot be SCHED_DEADLINE`},
		{`"irqs":{"x":{"priority":5}}`, `26 whylate.irqs.x.priority: needs a policy that has one`},
		{`"irqs":{"x":{"policy":"SCHED_FIFO","priority":0}}`, `48 whylate.irqs.x.priority: must be 1 to 99, not 0`},
		{`"irqs":{"x":{"softirq":"NET"}}`, `25 whylate.irqs.x.softirq: unknown word "NET"; there are HI, TIMER, NET_TX, NET_RX, BLOCK, IRQ_POLL, TASKLET, SCHED, HRTIMER, RCU`},
		{`"irqs":{"x":{"softirq_work":1}}`, `30 whylate.irqs.x.softirq_work: needs a "softirq"`},
		{`"irqs":{"x":{"jitter":1}}`, `24 whylate.irqs.x.jitter: needs an "every" of more than 0`},
		{`"irqs":{"x":{"every":0}}`, `23 whylate.irqs.x.every: must be more than 0`},
		{`"irqs":{"x":{"every":5,"random":true,"jitter":1}}`, `48 whylate.irqs.x.jitter: random distances have none`},
		{`"irqs":{"x":{"threaded":1}}`, `26 whylate.irqs.x.threaded: must be true or false, not 1`},
		{`"devices":{"d":{"bytes_per_irq":1}}`, `17 whylate.devices.d: needs an "irq"`},
		{`"irqs":{"disk":{}},"devices":{"d":{"irq":"dsk","bytes_per_irq":1}}`, `32 whylate.devices.d.irq: no "dsk" in "irqs"; did you mean "disk"?`},
		{`"irqs":{"x":{}},"devices":{"d":{"irq":"x"}}`, `33 whylate.devices.d.bytes_per_irq: must be there and more than 0: else no request would end`},
		{`"irqs":{"x":{}},"devices":{"d":{"irq":"x","bytes_per_irq":1,"start":5}}`, `70 whylate.devices.d.start: needs "bytes", the size of the requests`},
		{`"irqs":{"x":{}},"devices":{"d":{"irq":"x","bytes_per_irq":1,"bytes":"5XB"}}`, `70 whylate.devices.d.bytes: must be a number of bytes or a string like "512KiB", "64MiB" or "1GiB"`},
		{`"steal":{"h":{"length":5}}`, `15 whylate.steal.h: needs an "every" of more than 0`},
		{`"steal":{"h":{"every":5}}`, `15 whylate.steal.h: needs a "length" of more than 0`},
		{`"tasks":{"b":{}}`, `11 whylate.tasks.b: no such task`},
		{`"tasks":{"a":{"cgroup":"/x"}}`, `11 whylate.tasks.a.cgroup: no group "/x" in "cgroups"`},
		{`"tasks":{"a":{"mm_bytes":1,"mm_pages":1}}`, `40 whylate.tasks.a.mm_pages: only one of mm_bytes and mm_pages`},
		{`"tasks":{"a":{"mm_bytes":"99999999999GiB"}}`, `27 whylate.tasks.a.mm_bytes: "99999999999GiB" is more than any address space`},
		{`"tasks":{"a":{"kernel_sections":[{"kind":"irqs_off"}]}}`, "35 whylate.tasks.a.kernel_sections[0]: needs a \"length\"\n35 whylate.tasks.a.kernel_sections[0]: needs a \"every\""},
		{`"tasks":{"a":{"kernel_sections":[{"kind":"off","length":1,"every":0}]}}`, "43 whylate.tasks.a.kernel_sections[0].kind: unknown word \"off\"; there are kernel, preempt_off, irqs_off, bh_off\n68 whylate.tasks.a.kernel_sections[0].every: must be more than 0"},
		{`"tasks":{"a":{"kernel_sections":{}}}`, `34 whylate.tasks.a.kernel_sections: must be an array, not an object`},
		{`"tasks":{"a":{"exit":{"after":1,"signal":"SIGKILL","core_bytes":1}}}`, `66 whylate.tasks.a.exit.core_bytes: needs a signal that dumps core, like SIGSEGV`},
		{`"tasks":{"a":{"exit":{"signal":"SIGKILL"}}}`, `33 whylate.tasks.a.exit.signal: needs an "after": when it comes`},
		{`"tasks":{"a":{"exit":{"signal":"SIGSTOP","after":1}}}`, `33 whylate.tasks.a.exit.signal: unknown word "SIGSTOP"; there are SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ, SIGALRM, SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2`},
		{`"locks":{"m":{}}`, `11 whylate.locks.m: no event uses this mutex`},
		{`"locks":{"m":{"protocol":"protect"}}`, "11 whylate.locks.m: no event uses this mutex\n27 whylate.locks.m.protocol: protect needs a \"ceiling\""},
		{`"locks":{"m":{"ceiling":5,"protocol":"inherit"}}`, "11 whylate.locks.m: no event uses this mutex\n26 whylate.locks.m.ceiling: needs the protocol \"protect\""},
		{`"locks":{"m":{"kind":"spinlock","robust":true}}`, "11 whylate.locks.m: no event uses this mutex\n43 whylate.locks.m.robust: a spinlock is no mutex of user space: it has none"},
		{`"variants":{"a b":[]}`, `14 whylate.variants."a b": a variant's name has neither spaces nor commas`},
		{`"variants":{"a":"set HZ=1"}`, `18 whylate.variants.a: must be an array of changes like "set HZ=1000", not the string "set HZ=1"`},
		{`"variants":{"a":["ok"," ",1]}`, "24 whylate.variants.a[1]: must be a change like \"set HZ=1000\", not the string \" \"\n28 whylate.variants.a[2]: must be a change like \"set HZ=1000\", not 1"},
	} {
		const before = 35
		_, _, err := Parse("f", []byte(`{"tasks":{"a":{"run":1}},"whylate":{`+c.body+`}}`), Options{Workgen: strings.Contains(c.body, `"seed":2`)})
		var want []string
		for line := range strings.SplitSeq(c.want, "\n") {
			column, rest, _ := strings.Cut(line, " ")
			n := 0
			fmt.Sscan(column, &n)
			want = append(want, fmt.Sprintf("f:1:%d: %s", n+before, rest))
		}
		if err == nil || err.Error() != strings.Join(want, "\n") {
			t.Errorf("%s\ngot  %v\nwant %s", c.body, err, strings.Join(want, "\n"))
		}
	}
}

func TestWhylateMustBeAnObject(t *testing.T) {
	_, _, err := Parse("f", []byte(`{"whylate":5,"tasks":{"a":{"run":1}}}`), Options{})
	if err == nil || err.Error() != "f:1:12: whylate: must be an object, not 5" {
		t.Error(err)
	}
}

func TestNamesOfOtherRooms(t *testing.T) {
	const src = `{"tasks":{"a":{"run":1}},"whylate":{"settings":{"hz":1},"features":{"F":true},"costs":{"tick":1}}}`
	parsed(t, src, Options{})
	parsed(t, src, Options{Settings: []string{"hz"}, Features: []string{"F"}, Costs: []string{"tick"}})
	_, _, err := Parse("f", []byte(src), Options{Settings: []string{"HZ"}, Features: []string{}, Costs: []string{"ticks"}})
	want := `f:1:49: whylate.settings.hz: unknown name; did you mean "HZ"?
f:1:69: whylate.features.F: unknown name
f:1:88: whylate.costs.tick: unknown name; did you mean "ticks"?`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestTimesAreExact(t *testing.T) {
	for text, want := range map[string]event.Time{
		"0ns": 0, "250ns": 250, "1us": us, "1.5µs": 1500, "2μs": 2 * us, "1.25ms": 1_250_000, "0.000001ms": 1, "3 s": 3e9, "007ms": 7 * ms,
		"1.000000000000s": 1e9, "9223372036.854775807s": math.MaxInt64, "9223372036854775807ns": math.MaxInt64,
	} {
		if got, err := parseTime(text); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "s", "5", ".5s", "5.s", "-1s", "+1s", "1e3s", "1 000s", "0x1s", "1m", "1h", "0.5ns", "1.0000000001s",
		"9223372036.854775808s", "9223372037s", "9223372036854775808ns", "99999999999999999999s", "5  s", "5s "} {
		if got, err := parseTime(text); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
}

func TestCPUListsAreBounded(t *testing.T) {
	list, err := parseCPUs("0-1,3,5-5", 9)
	if d := cmp.Diff([]int{0, 1, 3, 5}, list); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	for _, text := range []string{"", "1-", "-1", "2-1", "a", "1,", "0-10", "1 2", strings.Repeat("0-9,", 10000) + "0", "99999999999"} {
		if list, err := parseCPUs(text, 9); err == nil {
			t.Errorf("%.20q: %d CPUs", text, len(list))
		}
	}
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `"%d":{"cpus":"0-8191"},`, i)
	}
	_, _, err = Parse("f", []byte(`{"tasks":{"a":{"run":1}},"whylate":{"irqs":{`+b.String()+`}}}`), Options{})
	if err == nil || !strings.Contains(err.Error(), "too many CPUs in all lists together") {
		t.Errorf("got %v", err)
	}
}

// whole is a file in which every key stands at least once.
func whole(t *testing.T) *File {
	t.Helper()
	src, err := os.ReadFile("testdata/whole.json")
	if err != nil {
		t.Fatal(err)
	}
	f, warnings := parsed(t, string(src), Options{})
	if warnings != "" {
		t.Error(warnings)
	}
	return f
}

// TestEveryFieldIsRead: the file with every key fills every field of every struct.
func TestEveryFieldIsRead(t *testing.T) {
	filled, all := make(map[string]bool), make(map[string]bool)
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				name := v.Type().Name() + "." + v.Type().Field(i).Name
				all[name] = true
				filled[name] = filled[name] || !v.Field(i).IsZero()
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(whole(t)))
	filled["Global.CalibrationCPU"] = true // stands in the place of NsPerLoop
	if len(all) < 100 {
		t.Errorf("only %d fields", len(all))
	}
	for name := range all {
		if !filled[name] {
			t.Errorf("%s is never filled", name)
		}
	}
}

func TestWholeWhylate(t *testing.T) {
	yes := true
	want := &Whylate{
		Description: "everything", Kernel: "6.1-rt", Seed: 42, HasSeed: true, CPUs: 4,
		Topology:   &Topology{ThreadsPerCore: 2, CoresPerLLC: 1, LLCsPerNode: 2, Nodes: 1, Distances: [][]int{{10}}, Capacity: []int{1024, 1024, 446, 446}},
		IdleStates: []IdleState{{"C1", 2 * us, 2 * us}, {"C6", 133 * us, 600 * us}},
		Steals:     []Steal{{Name: "host", CPUs: []int{0, 1}, Every: Span{ms, 10 * ms}, Length: Span{200 * us, 200 * us}}},
		Settings:   []Setting{{Name: "sched_rt_runtime_us", Value: "960000"}, {Name: "HZ", Value: "1000"}, {Name: "preempt", Value: "rt"}},
		CostTable:  "qemu",
		Features:   []Setting{{Name: "RT_RUNTIME_SHARE", Value: "false"}, {Name: "exit_normalize", Value: "rt"}},
		Costs:      []Cost{{Name: "switch", Span: Span{1250, 1250}}, {Name: "exit_page", Span: Span{90, 250}}},
		CGroups: []CGroup{
			{Path: "/web", Weight: 200, Quota: 50 * ms, Period: 100 * ms, Burst: 10 * ms, CPUs: []int{0, 1, 3}, Partition: "member", RealTime: true, RTRuntime: 20 * ms, RTPeriod: 100 * ms},
			{Path: "/old", Shares: 2048, Idle: true, Quota: event.NoTime},
			{Path: "/polite", WeightNice: new(int(5)), Quota: event.NoTime},
		},
		Autogroups: []Autogroup{{Name: "desk", Nice: -5}},
		IRQs: []IRQ{
			{Name: "14-pata", CPUs: []int{0}, Threaded: &yes, Policy: FIFO, Priority: 22, Hard: Span{3 * us, 3 * us}, Work: Span{40 * us, 60 * us},
				Softirq: "BLOCK", SoftirqWork: Span{5 * us, 5 * us}, Post: "done"},
			{Name: "eth0", Hard: Span{4 * us, 4 * us}, Every: ms, Offset: 250 * us, Jitter: 10 * us, Count: 100},
			{Name: "usb", Hard: Span{4 * us, 4 * us}, Every: 2 * ms, Random: true},
		},
		Devices: []Device{{Name: "cf", IRQ: "14-pata", BytesPerIRQ: 4096, Gap: Span{2 * us, 2 * us}, Path: "/dev/cf",
			Bytes: 6 << 20, Start: 100 * ms, Every: 1000 * ms, Count: 3, Post: "read"}},
		Locks: []LockExtra{{Name: "m", Kind: "mutex", Protocol: "protect", Ceiling: 60, Robust: true}},
		Tasks: []TaskExtra{
			{Name: "ctl", CGroup: "/web", MMBytes: 256 << 20, VMAs: 120, MLockAll: &yes,
				KernelSections: []KernelSection{{Kind: "preempt_off", Length: Span{5 * us, 20 * us}, Every: Span{ms, ms}}},
				Exit:           &Exit{After: 1500 * ms, Signal: "SIGSEGV", CoreBytes: 16 << 20, Post: "dead"}},
			{Name: "dl", MMPages: 16384},
			{Name: "child", Autogroup: "desk"},
		},
		Programs: []Program{{Name: "bench", Run: "schbench -m 2 -t 16", CGroup: "/web"}},
		Changes:  []string{"cpus=4"},
		Variants: []Variant{{Name: "A", Changes: []string{"set exit_normalize=rt"}}, {Name: "fast", Changes: []string{"set HZ=1000", "task=ctl policy=fifo prio=91"}}},
	}
	if d := cmp.Diff(want, whole(t).Whylate, ignorePos, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}
