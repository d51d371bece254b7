package scenario_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// groupedPlan reads a scenario and makes changes to it.
func groupedPlan(t *testing.T, text string, changes ...string) *scenario.Plan {
	t.Helper()
	p, err := scenario.Read("f.json", []byte(text), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := p.Change(c); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestFilesOfGroups: what the files of a group mean, and that those above it are made.
func TestFilesOfGroups(t *testing.T) {
	p := groupedPlan(t, `{"global": {"duration": 1}, "tasks": {"a": {"run": 1}, "b": {"taskgroup": "/x/y", "phases": {"p": {"run": 1, "taskgroup": "/z"}}}, "c": {"run": 1}},
		"whylate": {"cgroups": {"/web/db": {"cpu.max": "20000 50000", "cpu.max.burst": 5000}, "/web": {"cpu.weight": 300}, "/low": {"cpu.idle": 1}, "/nice": {"cpu.weight.nice": 5}},
			"autogroups": {"desk": {"nice": -2}}, "tasks": {"a": {"cgroup": "/web/db"}, "c": {"autogroup": "desk"}}}}`)
	want := []workload.Group{
		{Path: "/x", Parent: -1, Quota: event.NoTime}, {Path: "/x/y", Parent: 0, Quota: event.NoTime}, {Path: "/z", Parent: -1, Quota: event.NoTime},
		{Path: "/web", Parent: -1, Shares: 3072, Quota: event.NoTime}, {Path: "/low", Parent: -1, Idle: true, Quota: event.NoTime},
		{Path: "/nice", Parent: -1, Shares: 335, Quota: event.NoTime},
		{Path: "/web/db", Parent: 3, Quota: 20_000_000, Period: 50_000_000, Burst: 5_000_000},
		{Path: "/autogroup-8", Parent: -1, Auto: true, Nice: -2},
	}
	if diff := cmp.Diff(want, p.Load.Groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	for i, group := range []int{7, 2, 8} {
		if got := p.Load.Tasks[i].Group; got != group {
			t.Errorf("task %s is in group %d, want %d", p.Load.Tasks[i].Name, got, group)
		}
	}
	if got := p.Load.Tasks[1].Phases[0].Group; got != 3 {
		t.Errorf("the phase of b is in group %d, want 3", got)
	}
}

// ran returns how long the tasks of each name have run.
func ran(t *testing.T, p *scenario.Plan) map[string]event.Time {
	t.Helper()
	src := mustSource(t, p)
	events, err := src.Events(event.Options{Want: event.Kinds(event.SchedStatRuntime)})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	total := map[string]event.Time{}
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			return total
		}
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(src.Names().String(ev.TaskComm), "-")
		total[name] += event.Time(ev.Arg)
	}
}

// hogs is a file of two hogs on one CPU for ten seconds, with a "whylate" object.
func hogs(whylate string) string {
	return fmt.Sprintf(`{"global": {"duration": 10}, "tasks": {"a": {"cpus": [0], "run": 1000}, "b": {"cpus": [0], "run": 1000}}, "whylate": {"kernel": "6.12", %s}}`, whylate)
}

// TestSharesOfGroups: what two hogs get of a CPU, by the rules of cgroup-v2.rst: weights among
// siblings count and nothing else, nice values only inside a group, SCHED_IDLE weighs 3, a quota is a limit.
// The first gets so many thousandths of what both run.
func TestSharesOfGroups(t *testing.T) {
	const both = `"tasks": {"a": {"cgroup": "/a"}, "b": {"cgroup": "/b"}}`
	for _, c := range []struct {
		whylate string
		changes []string
		want    int64
	}{
		{`"seed": 1`, nil, 500},
		{`"seed": 1`, []string{"task=a nice=-5"}, 753}, // 3121 : 1024
		{`"cgroups": {"/a": {"cpu.weight": 300}, "/b": {}}, ` + both, nil, 750},
		{`"cgroups": {"/a": {}, "/b": {}}, ` + both, []string{"cgroup=/a cpu.weight=300"}, 750},
		{`"cgroups": {"/a": {}, "/b": {}}, ` + both, []string{"cgroup=/b cpu.weight.nice=5"}, 754},
		{`"cgroups": {"/a": {}, "/b": {}}, ` + both, []string{"cgroup=/b cpu.idle=1"}, 997},
		{`"cgroups": {"/a": {}, "/b": {}}, ` + both, []string{"task=b nice=19"}, 500},
		{`"cgroups": {"/a/x": {"cpu.weight": 10000}, "/b": {}}, "tasks": {"a": {"cgroup": "/a/x"}, "b": {"cgroup": "/b"}}`, nil, 500}, // a weight without siblings
		{`"tasks": {"a": {"autogroup": "one"}, "b": {"autogroup": "two"}}`, []string{"task=b nice=19"}, 500},
		{`"tasks": {"a": {"autogroup": "one"}, "b": {"autogroup": "two"}}`, []string{"task=b nice=19", "set sched_autogroup_enabled=0"}, 986},
		{`"autogroups": {"two": {"nice": 5}}, "tasks": {"a": {"autogroup": "one"}, "b": {"autogroup": "two"}}`, nil, 754},
		{`"cgroups": {"/a": {"cpu.max": "30000 100000"}, "/b": {}}, ` + both, nil, 300},
		{`"cgroups": {"/a": {"cpu.max": "30000 100000"}, "/b": {}}, ` + both, []string{`cgroup=/a cpu.max=max`}, 500},
		{`"seed": 1`, []string{"task=b policy=idle"}, 997},
	} {
		for _, kernel := range []string{"4.11", "6.1", "6.6", "6.12", "6.18"} {
			if strings.Contains(c.whylate+strings.Join(c.changes, ""), "cpu.idle") && kernel == "4.11" {
				continue
			}
			total := ran(t, groupedPlan(t, hogs(c.whylate), append([]string{"kernel=" + kernel}, c.changes...)...))
			// A slice and a tick of ten seconds, and the quota's in its periods.
			if got := int64(total["a"] * 1000 / (total["a"] + total["b"])); got < c.want-4 || got > c.want+4 {
				t.Errorf("%s, %s %v: the first hog gets %d thousandths, want %d", kernel, c.whylate, c.changes, got, c.want)
			}
		}
	}
}

// TestMovesBetweenGroups: a phase with another taskgroup runs in that.
func TestMovesBetweenGroups(t *testing.T) {
	p := groupedPlan(t, `{"global": {"duration": 10}, "tasks": {
		"a": {"cpus": [0], "phases": {"p": {"taskgroup": "/fast", "run": 20000}, "q": {"taskgroup": "/slow", "run": 20000}}}},
		"whylate": {"cgroups": {"/slow": {"cpu.max": "10000 100000"}}}}`)
	// 20 ms in a free group, then 20 ms in one that gets a tenth of the CPU: 200 ms.
	total := ran(t, p)
	if got := total["a"]; got < 1818_000_000 || got > 2105_000_000 {
		t.Errorf("it runs %d ms of 10 s, want 40 of each 190 to 220", got/1_000_000)
	}
}

// TestWhatKernelsDoNotHave: files of groups that came later are refused, with what to do.
func TestWhatKernelsDoNotHave(t *testing.T) {
	for _, c := range []struct{ kernel, files, want string }{
		{"4.11", `"cpu.idle": 1`, "take kernel=6.1 or later, or a cpu.weight of 1"},
		{"4.11", `"cpu.max": "20000", "cpu.max.burst": 1000`, "take kernel=6.1 or later, or a greater quota"},
		{"6.1", `"cpu.rt_runtime_us": 1000`, "set RT_GROUP_SCHED=on"},
	} {
		_, err := groupedPlan(t, hogs(`"cgroups": {"/a": {`+c.files+`}}`), "kernel="+c.kernel).Setup()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s: %v, want %q", c.files, c.kernel, err, c.want)
		}
	}
	if err := groupedPlan(t, hogs(`"cgroups": {"/web": {}}`)).Change("cgroup=/wep cpu.weight=1"); err == nil || !strings.Contains(err.Error(), `did you mean /web?`) {
		t.Errorf("an unknown group: %v", err)
	}
	deep := "/a" + strings.Repeat("/a", 255)
	if _, err := groupedPlan(t, hogs(`"cpus": 4096, "cgroups": {"`+deep+`": {}}`)).Setup(); err == nil || !strings.Contains(err.Error(), "256 control groups on 4096 CPUs") {
		t.Errorf("a million queues: %v", err)
	}
	if _, err := scenario.Read("f.json", []byte(hogs(`"cgroups": {"/`+strings.Repeat("a", 4096)+`": {}}`)), scenario.Options{}); err == nil || !strings.Contains(err.Error(), "at most 4096 bytes") {
		t.Errorf("a path that no kernel takes: %v", err)
	}
	setup, err := groupedPlan(t, hogs(`"cgroups": {"/a": {"cpu.max": "20000", "cpu.max.burst": 30000}}`)).Setup()
	if err != nil {
		t.Fatal(err)
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Events(event.Options{}); !errors.Is(err, sched.ErrInval) || !strings.Contains(err.Error(), "group /a: cpu.max") {
		t.Errorf("a burst above the quota: %v, want EINVAL that names the group", err)
	}
}
