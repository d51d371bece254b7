package explain_test

import (
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
		src, err := trace.Open(filepath.Join(recordings, file+".dat"))
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
