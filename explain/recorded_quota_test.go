package explain_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/trace"
)

// quotaMachine is what the README of the recordings says of their groups, for the tasks of src.
func quotaMachine(t *testing.T, src explain.Source) *sysinfo.Snapshot {
	t.Helper()
	l, err := explain.Latency(src, explain.Options{From: event.NoTime, To: event.NoTime})
	if err != nil {
		t.Fatal(err)
	}
	snap := &sysinfo.Snapshot{CGroups: []sysinfo.CGroup{{Path: "/q", QuotaNS: 20_000_000, PeriodNS: 100_000_000}}}
	seen := map[int32]bool{}
	for _, row := range l.Tasks {
		if seen[row.PID] {
			continue
		}
		seen[row.PID] = true
		group := "/"
		if strings.HasPrefix(row.Comm, "q") { // qspin1, qspin2, qper
			group = "/q"
		}
		snap.Tasks = append(snap.Tasks, sysinfo.Task{PID: row.PID, TGID: row.PID, Comm: row.Comm, Policy: sysinfo.Other, CGroup: group})
	}
	snap.Sort()
	return snap
}

// quotaOf is what l has of cfs_quota, by verdict.
func quotaOf(l *result.Late) (proven, likely int64) {
	for _, c := range l.Causes {
		switch {
		case c.Kind != "cfs_quota":
		case c.Verdict == "proven":
			proven += c.NS
		default:
			likely += c.NS
		}
	}
	return proven, likely
}

// TestQuotaBySnapshot: with the machine's snapshot every wait of the recordings with a group out
// of quota is proven, and as long as throttle_cfs_rq and unthrottle_cfs_rq say, but for the way
// to the switch; nobody else is said to wait for a quota.
func TestQuotaBySnapshot(t *testing.T) {
	waits := 0
	for _, file := range []string{"quota-idle-v61", "quota-idle-v612", "quota-busy-v61", "quota-busy-v612"} {
		throttled := throttledSpans(t, file)
		src, err := trace.Open(filepath.Join(recordings, file+".dat.xz"))
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		src.SetSnapshot(quotaMachine(t, src))
		r, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Over: 1})
		if err != nil {
			t.Fatal(err)
		}
		checkSums(t, r)
		for i := range r.Late {
			l := &r.Late[i]
			proven, likely := quotaOf(l)
			var truth int64
			from := r.Input.StartNS + l.WokenNS
			for _, s := range throttled {
				truth += max(0, min(from+l.WaitNS, s[1])-max(from, s[0]))
			}
			if !strings.HasPrefix(l.Comm, "q") {
				truth = 0
			}
			if d := proven - truth; d < -us(20) || d > us(20) || likely != 0 {
				t.Errorf("%s: wait %s of %s has %d ns of proven and %d of likely cfs_quota, the truth is %d", file, l.ID, l.Comm, proven, likely, truth)
			}
			if truth > 0 {
				waits++
			}
		}
	}
	if waits < 80 {
		t.Errorf("only %d waits without quota", waits)
	}
}

// throttledByCPU returns from when to when a group was throttled on each CPU, by the functions.
func throttledByCPU(t *testing.T, src event.Source) map[event.CPU][][2]int64 {
	t.Helper()
	s, err := src.Events(event.Options{Want: event.Kinds(event.FuncEntry)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	spans, since := map[event.CPU][][2]int64{}, map[event.CPU]int64{}
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch s.Names().String(e.Func) {
		case "throttle_cfs_rq":
			since[e.CPU] = int64(e.Time)
		case "unthrottle_cfs_rq":
			if since[e.CPU] > 0 {
				spans[e.CPU] = append(spans[e.CPU], [2]int64{since[e.CPU], int64(e.Time)})
			}
			delete(since, e.CPU)
		}
	}
	for c, from := range since { // the trace ends before
		spans[c] = append(spans[c], [2]int64{from, 1<<63 - 1})
	}
	return spans
}

// TestQuotaOnTwoCPUs: a group on two CPUs of a machine whose ticks come late; nothing proven is
// beyond what the functions say, and most of that is proven.
func TestQuotaOnTwoCPUs(t *testing.T) {
	src, err := trace.Open(filepath.Join(recordings, "quota-smp-v612.dat.xz"))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	throttled := throttledByCPU(t, src)
	if len(throttled[0]) != 3 || len(throttled[1]) != 6 {
		t.Fatalf("throttled at %v", throttled)
	}
	r, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Over: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	var all, told int64
	for i := range r.Late {
		l := &r.Late[i]
		proven, _ := quotaOf(l)
		var truth int64
		from := r.Input.StartNS + l.WokenNS
		for _, s := range throttled[event.CPU(l.CPU)] {
			truth += max(0, min(from+l.WaitNS, s[1])-max(from, s[0]))
		}
		if l.PID != 155 && l.PID != 156 {
			truth = 0
		}
		if proven > truth+us(20) {
			t.Errorf("wait %s of %s has %d ns of proven cfs_quota, the truth is %d", l.ID, l.Comm, proven, truth)
		}
		all, told = all+truth, told+proven
	}
	if all < 600_000_000 || told*100 < all*90 {
		t.Errorf("%d of %d ns without quota are proven", told, all)
	}
}

// TestSnapshotOfARealMachine: what the script found on it, by docs/sysinfo.md, is what it was.
func TestSnapshotOfARealMachine(t *testing.T) {
	src, err := trace.Open(filepath.Join(recordings, "quota-smp-v612.dat.xz"))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s := src.Snapshot()
	if s == nil || s.Kernel.Release != src.Info().Kernel || len(s.CPUs) != 2 || s.CPUs[0].FairServer == nil || s.CPUs[0].FairServer.RuntimeNS != 50_000_000 {
		t.Fatalf("%+v", s)
	}
	if v, _ := s.Setting("preempt"); v != "voluntary" {
		t.Errorf("preempt is %q", v)
	}
	if on, known := s.Feature("RT_RUNTIME_SHARE"); on || !known {
		t.Error("RT_RUNTIME_SHARE is not off")
	}
	if g := s.CGroup("/web"); g == nil || g.QuotaNS != 20_000_000 || g.PeriodNS != 100_000_000 || g.Weight != 50 {
		t.Errorf("/web is %+v", g)
	}
	policies := map[string]int{}
	for i := range s.Tasks {
		task := &s.Tasks[i]
		policies[task.Policy]++
		if task.Comm == "migration/1" && (task.Policy != sysinfo.FIFO || task.Priority != 99 || !task.Kernel || task.CPUs.String() != "1") {
			t.Errorf("%+v", task)
		}
	}
	if policies[sysinfo.Deadline] != 1 || policies[sysinfo.Batch] != 1 || policies[sysinfo.Idle] != 1 {
		t.Errorf("policies %v", policies)
	}
	if ctl := s.Task(158); ctl == nil || ctl.CGroup != "/rt" || ctl.CPUs.String() != "1" {
		t.Errorf("ctl is %+v", ctl)
	}
	for _, q := range s.IRQs {
		if q.Name != "acpi" {
			continue
		}
		if th := s.Task(q.Thread); q.Number != 9 || th == nil || th.Comm != "irq/9-acpi" || th.Policy != sysinfo.FIFO || th.Priority != 50 {
			t.Errorf("%+v with thread %+v", q, th)
		}
		return
	}
	t.Errorf("no acpi in %+v", s.IRQs)
}
