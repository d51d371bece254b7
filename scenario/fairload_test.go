package scenario_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// fairTask is a task of a description of replay/testdata/fair, as fairload runs it: the rule of its
// draws and the meaning of its words are those at the head of fairload.c.
type fairTask struct {
	x     uint64
	ops   []string
	start event.Time // T0 + START
	loops []fairLoop
	pc    int
}

// fairLoop is an open N*( .
type fairLoop struct {
	begin int
	left  int64 // −1: for ever
}

func (f *fairTask) draw(word string) event.Time {
	from, to, ok := strings.Cut(word, "-")
	a, _ := strconv.ParseInt(from, 10, 64)
	if !ok {
		return event.Time(a)
	}
	b, _ := strconv.ParseInt(to, 10, 64)
	f.x = f.x*6364136223846793005 + 1442695040888963407
	return event.Time(a + int64((f.x>>33)%uint64(b-a+1)))
}

// Next is the next of the task's words that takes time.
func (f *fairTask) Next(m *machine.Machine, _ *machine.Thread) machine.Step {
	if m.Now() < f.start {
		return machine.Step{Kind: machine.StepSleep, NS: f.start}
	}
	for f.pc < len(f.ops) {
		word := f.ops[f.pc]
		f.pc++
		switch {
		case strings.HasSuffix(word, "*("):
			n := int64(-1)
			if word != "*(" {
				n = int64(f.draw(strings.TrimSuffix(word, "*(")))
			}
			f.loops = append(f.loops, fairLoop{f.pc, n})
		case word == ")":
			l := &f.loops[len(f.loops)-1]
			if l.left > 0 {
				l.left--
			}
			if l.left == 0 {
				f.loops = f.loops[:len(f.loops)-1]
				continue
			}
			f.pc = l.begin
		case word[0] == 'r':
			return machine.Step{Kind: machine.StepRun, NS: f.draw(word[1:]) * us}
		case word[0] == 'z':
			return machine.Step{Kind: machine.StepSleep, NS: m.Now() + f.draw(word[1:])*us}
		case word[0] == 'p':
			every := f.draw(word[1:]) * us
			return machine.Step{Kind: machine.StepSleep, NS: f.start + ((m.Now()-f.start)/every+1)*every}
		}
	}
	return machine.Step{Kind: machine.StepExit}
}

// truthOf is what the recorded kernel said at the end.
type truthOf struct {
	Tasks []struct {
		Name string `json:"name"`
		CPU  int64  `json:"cpu_ns"`
	} `json:"tasks"`
	CGroups []struct {
		Path      string `json:"path"`
		Throttled int64  `json:"nr_throttled"`
	} `json:"cgroups"`
}

// fairRan is what became of a description: the CPU time of each task within the second from T0, and
// which group it was in.
type fairRan struct {
	m      *machine.Machine
	cpu    map[string]event.Time
	in     map[string]string
	groups map[string]*sched.Group
	quotas bool // some have one
}

// fairRun runs a description on a kernel of the model.
func fairRun(t *testing.T, kernel, name string) fairRan {
	t.Helper()
	p := groupedPlan(t, `{"global": {"duration": 1}, "tasks": {"a": {"run": 1}}, "whylate": {"kernel": "`+kernel+`", "cpus": 1, "cost_table": "qemu"}}`)
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	m := machine.New(setup.Machine, event.NewNames(), nil)
	out := fairRan{m: m, cpu: map[string]event.Time{}, in: map[string]string{}, groups: map[string]*sched.Group{}}
	text, err := os.ReadFile(filepath.Join("..", "replay", "testdata", "fair", name+".load"))
	if err != nil {
		t.Fatal(err)
	}
	const t0 = 1000 * ms
	seed, line := uint64(1), uint64(0)
	threads := map[string]*machine.Thread{}
	for _, l := range strings.Split(string(text), "\n") {
		w := strings.Fields(l)
		if len(w) == 0 || w[0][0] == '#' {
			continue
		}
		switch w[0] {
		case "seed":
			seed, _ = strconv.ParseUint(w[1], 10, 64)
		case "group":
			out.quotas = fairGroup(t, m, out.groups, w) || out.quotas
		case "task":
			f := &fairTask{x: seed*1000003 + line, ops: w[5:]}
			line++
			f.start = t0 + f.draw(w[2])*us
			th, err := m.Spawn(0, w[1], fairPolicy(w[3]), nil, f)
			if err != nil {
				t.Fatal(err)
			}
			if g := out.groups[w[4]]; g != nil {
				out.in[w[1]] = w[4]
				if _, err := m.Sched.Attach(0, th.Task, g); err != nil {
					t.Fatal(err)
				}
			}
			threads[w[1]] = th
			m.Start(0, th)
		}
	}
	if err := m.RunUntil(t0 + 1000*ms); err != nil {
		t.Fatal(err)
	}
	m.Sched.ChargeCurrent(0)
	for name, th := range threads {
		out.cpu[name] = th.Task.SumExecRuntime()
	}
	return out
}

// fairGroup makes a group, PATH KEY=VALUE…, and reports whether it has a quota.
func fairGroup(t *testing.T, m *machine.Machine, groups map[string]*sched.Group, w []string) bool {
	t.Helper()
	above := groups[w[1][:max(0, strings.LastIndexByte(w[1], '/'))]]
	g := m.Sched.NewGroup(above)
	groups[w[1]] = g
	quota, period, burst := event.Time(-1), 100*ms, event.Time(0)
	for _, kv := range w[2:] {
		key, value, _ := strings.Cut(kv, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch key {
		case "weight":
			if err := m.Sched.SetShares(g, (n*1024+50)/100); err != nil {
				t.Fatal(err)
			}
		case "idle":
			if err := m.Sched.SetIdle(g, n == 1); err != nil {
				t.Fatal(err)
			}
		case "max":
			q, p, _ := strings.Cut(value, "/")
			a, _ := strconv.ParseInt(q, 10, 64)
			b, _ := strconv.ParseInt(p, 10, 64)
			quota, period = event.Time(a)*us, event.Time(b)*us
		case "burst":
			burst = event.Time(n) * us
		}
	}
	if quota < 0 {
		return false
	}
	if _, err := m.Sched.SetQuota(0, g, quota, period, burst); err != nil {
		t.Fatal(err)
	}
	return true
}

// fairPolicy is what a description calls a policy: o5, o0/3000 with a slice in µs, b0, i.
func fairPolicy(word string) sched.Attr {
	word, slice, _ := strings.Cut(word, "/")
	nice, _ := strconv.Atoi(word[1:])
	asked, _ := strconv.ParseInt(slice, 10, 64)
	a := sched.Attr{Nice: nice, Slice: event.Time(asked) * us}
	switch word[0] {
	case 'b':
		a.Policy = sched.Batch
	case 'i':
		a.Policy = sched.Idle
	}
	return a
}

// TestSharesAsRecorded runs the loads of replay/testdata/fair from their descriptions alone, with nothing of the
// recordings, and compares the CPU time of each task within the second with what the kernel said. Without
// quotas it is within 1 % of the CPU. With quotas who runs when they are used up differs, but the tasks
// of a group with a quota have together what they had, within a slice and a tick; and on 6.1, where periods
// begin at multiples of their length, as many of them were throttled, but for one.
// What is missed stands in misses, with the reason as far as it is known.
func TestSharesAsRecorded(t *testing.T) {
	misses := map[string]string{
		"6.1 sleepers: s5": "13.6 ms: it sleeps for times that begin when a job of up to 10 ms ends; two jobs less. Why it waits longer is not known",
		"6.1 pool: out/in": "11.3 ms: its two tasks sleep for times of their own, and do not always want the 200 ms that it may use",
	}
	miss := func(what string, said, is event.Time) {
		if misses[what] == "" {
			t.Errorf("%s had %d µs, in the model %d", what, said/us, is/us)
		}
	}
	const near, given = 10 * ms, 9 * ms
	tasks, groups := 0, 0
	for _, kernel := range []string{"6.1", "6.12"} {
		for _, name := range []string{"nice", "groups", "nested", "policy", "slices", "sleepers", "quota", "pool"} {
			text, err := os.ReadFile(filepath.Join("..", "replay", "testdata", "fair", "v"+strings.ReplaceAll(kernel, ".", "")+"-"+name+".truth.json"))
			if err != nil {
				t.Fatal(err)
			}
			var truth truthOf
			if err := json.Unmarshal(text, &truth); err != nil {
				t.Fatal(err)
			}
			r := fairRun(t, kernel, name)
			said, model := map[string]event.Time{}, map[string]event.Time{} // of groups
			for _, x := range truth.Tasks {
				d := r.cpu[x.Name] - event.Time(x.CPU)
				if tasks++; !r.quotas && max(d, -d) > near {
					miss(kernel+" "+name+": "+x.Name, event.Time(x.CPU), r.cpu[x.Name])
				}
				for path := r.in[x.Name]; path != ""; path = path[:max(0, strings.LastIndexByte(path, '/'))] {
					said[path] += event.Time(x.CPU)
					model[path] += r.cpu[x.Name]
				}
			}
			for _, x := range truth.CGroups {
				path := strings.TrimPrefix(x.Path, "/")
				g := r.groups[path]
				if g == nil {
					continue
				}
				if quota, _, _ := g.Quota(); quota < 0 {
					continue
				}
				groups++
				if d := model[path] - said[path]; max(d, -d) > given {
					miss(kernel+" "+name+": "+path, said[path], model[path])
				}
				if d := r.m.Sched.QuotaStat(g).Throttled - x.Throttled; kernel == "6.1" && max(d, -d) > 1 {
					t.Errorf("%s %s: %s was throttled in %d periods, in the model in %d", kernel, name, path, x.Throttled, x.Throttled+d)
				}
			}
		}
	}
	if tasks < 100 || groups != 14 {
		t.Errorf("%d tasks and %d groups with a quota: too little was compared", tasks, groups)
	}
}
