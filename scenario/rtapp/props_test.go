package rtapp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/whylate/whylate/event"
)

const ms = event.Time(1_000_000)

// The expected values are what rt-app printed with all its messages on (-l 100).
func TestTaskProperties(t *testing.T) {
	other := func(change func(*Props)) Props {
		p := Props{Policy: Other, HasPriority: true, UtilMin: -1, UtilMax: -1}
		if change != nil {
			change(&p)
		}
		return p
	}
	dl := func(runtime, deadline, period event.Time) func(*Props) {
		return func(p *Props) { p.Policy, p.HasDL, p.DL = Deadline, true, DLParams{runtime, deadline, period} }
	}
	slice := func(runtime, deadline, period event.Time) func(*Props) {
		return func(p *Props) { p.HasDL, p.DL = true, DLParams{runtime, deadline, period} }
	}
	for _, c := range []struct {
		text string
		want Props
	}{
		{`"policy":null,"priority":null`, other(nil)},
		{`"priority":-20`, other(func(p *Props) { p.Priority = -20 })},
		{`"policy":"SCHED_BATCH","priority":19`, other(func(p *Props) { p.Policy, p.Priority = Batch, 19 })},
		{`"policy":"SCHED_IDLE"`, other(func(p *Props) { p.Policy = Idle })},
		{`"policy":"SCHED_FIFO"`, other(func(p *Props) { p.Policy, p.Priority = FIFO, 10 })},
		{`"policy":"SCHED_RR","priority":99`, other(func(p *Props) { p.Policy, p.Priority = RR, 99 })},
		{`"policy":"SCHED_DEADLINE","dl-runtime":1000,"dl-period":10000`, other(dl(1*ms, 10*ms, 10*ms))},
		{`"policy":"SCHED_DEADLINE","dl-runtime":1000,"dl-deadline":4000,"dl-period":10000`, other(dl(1*ms, 4*ms, 10*ms))},
		{`"policy":"SCHED_DEADLINE","dl-runtime":1000`, other(dl(1*ms, 1*ms, 1*ms))},
		{`"policy":"SCHED_DEADLINE","runtime":1000,"period":10000`, other(dl(1*ms, 10*ms, 10*ms))},
		{`"policy":"SCHED_DEADLINE","runtime":1000,"deadline":5000,"period":10000`, other(dl(1*ms, 5*ms, 10*ms))},
		{`"policy":"SCHED_DEADLINE","dl-runtime":2000,"period":10000`, other(dl(2*ms, 2*ms, 2*ms))},
		{`"policy":"SCHED_DEADLINE","dl-period":9000,"runtime":2000,"period":10000`, other(dl(2*ms, 9*ms, 9*ms))},
		{`"policy":"SCHED_DEADLINE","dl-runtime":0,"dl-deadline":5000,"runtime":2000,"period":10000`, other(dl(2*ms, 5*ms, 10*ms))},
		{`"policy":"SCHED_DEADLINE","dl-runtime":2000,"dl-period":10000,"period":"x"`, other(dl(2*ms, 10*ms, 10*ms))},
		{`"dl-runtime":3000`, other(slice(3*ms, 3*ms, 3*ms))},
		{`"runtime":3000`, other(slice(3*ms, 3*ms, 3*ms))},
		{`"runtime1":3000`, other(nil)},
		{`"dl-runtime":5000,"dl-period":500`, other(slice(5*ms, ms/2, ms/2))},
		{`"util_min":0,"util_max":1024`, other(func(p *Props) { p.UtilMin, p.UtilMax = 0, 1024 })},
		{`"util_min":-1`, other(nil)},
		{`"cpus":[2,0,2]`, other(func(p *Props) { p.CPUs = []int{2, 0, 2} })},
		{`"cpus":["1","x","1x"," 1","1.5","0x1",0.9,1.9,1e0,true,null,[7],{}]`,
			other(func(p *Props) { p.CPUs = []int{1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0} })},
		{`"cpus":null`, other(nil)},
		{`"nodes_membind":[]`, other(func(p *Props) { p.NodesMembind = []int{} })},
		{`"nodes_membind":[1]`, other(func(p *Props) { p.NodesMembind = []int{1} })},
		{`"taskgroup":"/a/b"`, other(func(p *Props) { p.Taskgroup = "/a/b" })},
		{`"taskgroup":"","policy":"SCHED_FIFO"`, other(func(p *Props) { p.Policy, p.Priority = FIFO, 10 })},
	} {
		a := taskOf(t, c.text+`,"run":1`)
		if d := cmp.Diff(c.want, a.Props); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
	}
}

func TestPhaseProperties(t *testing.T) {
	for _, c := range []struct {
		text string
		want Props
		sets bool
	}{
		{``, Props{}, false},
		{`"cpus":[1],`, Props{CPUs: []int{1}}, false},
		{`"taskgroup":"/a",`, Props{Taskgroup: "/a"}, false},
		{`"priority":7,`, Props{Priority: 7, HasPriority: true}, true},
		{`"policy":"SCHED_OTHER",`, Props{Policy: Other, HasPriority: true}, true},
		{`"policy":"SCHED_FIFO",`, Props{Policy: FIFO, Priority: 10, HasPriority: true}, true},
		{`"dl-runtime":3000,`, Props{HasDL: true, DL: DLParams{3 * ms, 3 * ms, 3 * ms}}, true},
		{`"util_max":500,`, Props{UtilMax: 501}, true},
		{`"period":3000,"deadline":4000,`, Props{}, false}, // old names count in tasks only
	} {
		a := taskOf(t, `"phases":{"p":{`+c.text+`"run":1}}`)
		got := a.Phases[0].Props
		got.UtilMin, got.UtilMax = got.UtilMin+1, got.UtilMax+1
		if d := cmp.Diff(c.want, got); d != "" || a.Phases[0].Props.SetsScheduling() != c.sets {
			t.Errorf("%s: sets %v %s", c.text, a.Phases[0].Props.SetsScheduling(), d)
		}
	}
}

func TestDefaultPolicyIsThatOfTasksNotOfPhases(t *testing.T) {
	f, _ := parsed(t, `{"global":{"default_policy":"SCHED_RR"},"tasks":{"a":{"phases":{"p":{"run":1}}},"b":{"priority":5,"run":1}}}`, Options{})
	a, b := &f.Tasks[0], &f.Tasks[1]
	if a.Props.Policy != RR || a.Props.Priority != 10 || b.Props.Priority != 5 || a.Phases[0].Props.Policy != Keep {
		t.Errorf("got %+v, %+v, %+v", a.Props, a.Phases[0].Props, b.Props)
	}
}

func TestThreadsAreNumberedOverTheFile(t *testing.T) {
	f, warnings := parsed(t, `{"tasks":{"a":{"instance":2,"run":1},"tmpl":{"instance":0,"run":1},"abcdefghijklm":{"run":1},"abcdefghijklmn":{"run":1}}}`, Options{})
	var got []string
	for i := range f.Tasks {
		for k := range f.Tasks[i].Instances {
			got = append(got, f.Tasks[i].Comm(k))
		}
	}
	if s := strings.Join(got, " "); s != "a-0 a-1 abcdefghijklm-2 rt-app" {
		t.Error(s)
	}
	if f.Threads() != 4 || f.Task("tmpl").ForkName(4, 1) != "tmpl-4-0001" || f.Task("none") != nil {
		t.Errorf("%d threads", f.Threads())
	}
	if want := `f.json:1:94: tasks.abcdefghijklmn: "abcdefghijklmn-3" is longer than 15 characters: ` +
		"Linux does not set it, and traces will show rt-app"; warnings != want {
		t.Errorf("got  %s\nwant %s", warnings, want)
	}
}

func TestBarriersCountInstances(t *testing.T) {
	f, warnings := parsed(t, `{"tasks":{"a":{"instance":3,"barrier":"x"},"b":{"barrier":"x","barrier2":"y"}}}`, Options{})
	if d := cmp.Diff(map[string]int{"x": 4, "y": 1}, f.BarrierUsers()); d != "" || warnings != "" {
		t.Errorf("%s%s", d, warnings)
	}
}
