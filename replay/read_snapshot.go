package replay

import (
	"slices"
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// preemptModels are the kernel's words for its preemption models, as the setting preempt has them.
var preemptModels = map[string]kernel.Preempt{"none": kernel.PreemptNone, "voluntary": kernel.PreemptVoluntary,
	"full": kernel.PreemptFull, "rt": kernel.PreemptRT}

// elsewhere are settings that a load has fields for, or that need what it has not: control groups.
var elsewhere = []string{"HZ", "preempt", "RT_GROUP_SCHED", "exit_normalize", "defer_put_prev", "co_kernel"}

// settings takes over what the snapshot knows of the kernel's settings and features. What the model
// does not know, or its kernel would refuse, is left out and counted.
func (r *reader) settings() {
	snap := r.snap
	if snap == nil {
		return
	}
	if word, ok := snap.Setting("preempt"); ok {
		if p, known := preemptModels[word]; known {
			r.l.Preempt = p
		}
	}
	r.l.Hardware = scenario.HardwareOf(snap, r.l.CPUs)
	var list []scenario.Value
	for _, s := range snap.Settings {
		list = append(list, scenario.Value{Name: s.Name, To: s.Value})
	}
	for _, f := range snap.Features {
		value := "off"
		if f.On {
			value = "on"
		}
		list = append(list, scenario.Value{Name: f.Name, To: value})
	}
	if len(snap.CPUs) > 0 && snap.CPUs[0].FairServer != nil && r.x.Facts.FairServer == kernel.Yes {
		server := snap.CPUs[0].FairServer
		same := !slices.ContainsFunc(snap.CPUs, func(c sysinfo.CPU) bool { return c.FairServer == nil || *c.FairServer != *server })
		if _, told := snap.Setting("fair_server_runtime_ns"); same && !told {
			list = append(list, scenario.Value{Name: "fair_server_runtime_ns", To: strconv.FormatInt(server.RuntimeNS, 10)},
				scenario.Value{Name: "fair_server_period_ns", To: strconv.FormatInt(server.PeriodNS, 10)})
		}
	}
	list = append(list, r.l.Hardware.Values...)
	// What fits only together with another one, a runtime and its period, is taken after that.
	for left := len(list) + 1; len(list) < left; {
		left = len(list)
		list = slices.DeleteFunc(list, r.setting)
	}
	for range list {
		r.guess.add(settingRefused)
	}
}

// setting adds a value; it reports whether that is done with, false where the model's kernel does
// not take it.
func (r *reader) setting(v scenario.Value) bool {
	name := v.Name
	if slices.Contains(elsewhere, name) || !slices.ContainsFunc(scenario.Settings(), func(s scenario.Setting) bool { return s.Name == name }) {
		return true
	}
	values := slices.Clone(r.l.Values)
	if i := slices.IndexFunc(values, func(v scenario.Value) bool { return v.Name == name }); i >= 0 {
		values[i] = v // the snapshot knows better than what events seem to show
	} else {
		values = append(values, v)
	}
	p := scenario.Plan{Name: "replay", Kernel: r.l.Kernel, CPUs: r.l.CPUs, Values: values}
	if _, err := p.Setup(); err != nil {
		return false
	}
	r.l.Values = values
	return true
}

// snapshotOf is what the snapshot says of s: it must have lived then.
func (r *reader) snapshotOf(s *script, comm string) *sysinfo.Task {
	if r.snap == nil {
		return nil
	}
	t := r.snap.Task(int32(r.tr.Task(s.id).PID))
	if t == nil || !t.Named(comm) && s.begin == BeginNew {
		return nil
	}
	return t
}

// policyByName are the scheduler's numbers.
var policyByName = map[string]sched.Policy{sysinfo.Other: sched.Normal, sysinfo.FIFO: sched.FIFO, sysinfo.RR: sched.RR,
	sysinfo.Batch: sched.Batch, sysinfo.Idle: sched.Idle, sysinfo.Deadline: sched.Deadline}

// fromSnapshot fills in what a priority does not tell: the policy, the parameters of a deadline
// task and the affinity. At another time the task may have had another priority: then only what
// fits is taken.
func (r *reader) fromSnapshot(s *script, t *Task, snap *sysinfo.Task) {
	policy, known := policyByName[snap.Policy]
	fill := func(a *sched.Attr) bool {
		if isFair(a) {
			a.Slice = event.Time(snap.SliceNS)
		}
		switch {
		case !known, policy == sched.Deadline && (snap.RuntimeNS <= 0 || snap.DeadlineNS <= 0): // /proc does not tell them
			return false
		case policy == sched.Deadline && a.Policy == sched.Deadline:
			a.Runtime, a.Deadline, a.Period = event.Time(snap.RuntimeNS), event.Time(snap.DeadlineNS), event.Time(snap.PeriodNS)
		case (policy == sched.FIFO || policy == sched.RR) && (a.Policy == sched.FIFO || a.Policy == sched.RR) && a.Priority == snap.Priority:
			a.Policy = policy
		case (policy == sched.Batch || policy == sched.Idle) && a.Policy == sched.Normal && a.Nice == snap.Nice:
			a.Policy = policy
		default:
			return a.Policy == policy
		}
		return true
	}
	if fill(&t.Attr) {
		t.AttrBy = FromSnapshot
	}
	for i := range s.ops {
		if op := &s.ops[i]; op.Kind == OpAttr && fill(&op.Attr) {
			op.By = FromSnapshot
		}
	}
	for i := range s.in {
		if op := &s.in[i].op; op.Kind == OpAttr && fill(&op.Attr) {
			op.By = FromSnapshot
		}
	}
	if s.birth != event.NoCPU {
		return // a fair task is kept where it was seen
	}
	t.CPUs, t.CPUsBy = nil, FromSnapshot
	for _, c := range snap.CPUs {
		if int(c) < r.l.CPUs {
			t.CPUs = append(t.CPUs, event.CPU(c))
		}
	}
}

// quotaStart is a start of the period timer of the group of a task.
type quotaStart struct {
	id      timeline.TaskID
	expires event.Time // on the clock of the trace
}

// mostQuotaStarts bounds those that are kept.
const mostQuotaStarts = 1 << 12

// farPeriod is how far a period may end from its start, ns: periods are at most 1 s.
const farPeriod event.Time = 2_000_000_000

// quotaStarted notes when a period of a quota ends: a task that takes from it for the first time in a while
// starts its timer.
func (r *reader) quotaStarted(ev *event.Event) {
	c := r.tr.CPU(ev.CPU)
	if ev.Flags.InInterrupt() || c == nil || c.Current == nil || c.Current.Idle() || len(r.quotas) >= mostQuotaStarts ||
		farFrom(event.Time(ev.Arg3), ev.Time) > farPeriod || r.x.Names.String(ev.Func) != "sched_cfs_period_timer" {
		return
	}
	r.quotas = append(r.quotas, quotaStart{c.Current.ID, event.Time(ev.Arg3)})
}

// fair finds where the fair tasks stood, and decides by which rules they take turns in a run: by those of
// the kernel's fair class where a snapshot tells that.
func (r *reader) fair() {
	l := r.l
	if r.snap != nil {
		l.groups(func(i int) *sysinfo.Task {
			if l.Tasks[i].Begin == BeginNew || l.Tasks[i].Stopper {
				return nil
			}
			return r.snapshotOf(&r.tasks[i], l.Names.String(l.Tasks[i].Comm))
		})
	}
	for _, q := range r.quotas {
		if s := r.script(q.id); s != nil && l.Tasks[s.index].Group > 0 {
			for n := l.Tasks[s.index].Group; n > 0; n = l.Groups[n-1].Parent + 1 {
				if g := &l.Groups[n-1]; g.Period > 0 {
					g.PeriodEnd = q.expires
					break
				}
			}
		}
	}
	for i := range l.Tasks {
		t, s := &l.Tasks[i], &r.tasks[i]
		if t.Virtual == (sched.VirtualTime{}) {
			t.VirtualBy = Assumed
		}
		if f := &s.fair; t.VirtualBy == Assumed && f.seen && f.cpu == t.CPU && t.Begin != BeginNew {
			t.Virtual.VRuntime, t.VirtualBy = f.vruntime-sched.VirtualRun(f.ran, t.Attr), FromEvents
		}
	}
	l.FairClass = l.FairKnown > 0
}
