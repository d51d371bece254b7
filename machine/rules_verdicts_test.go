package machine_test

import (
	"errors"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// TestVerdicts are those of sched_setattr(2), and of admission on a machine of 2 CPUs with
// 95 % for deadline tasks.
func TestVerdicts(t *testing.T) {
	dl := func(runtime, deadline, period event.Time) sched.Attr {
		return sched.Attr{Policy: sched.Deadline, Runtime: runtime, Deadline: deadline, Period: period}
	}
	for _, c := range []struct {
		name string
		a    sched.Attr
		cpus []event.CPU
		want error
	}{
		{"FIFO 0", fifo(0), nil, sched.ErrInval},
		{"FIFO 100", fifo(100), nil, sched.ErrInval},
		{"FIFO 99", fifo(99), nil, nil},
		{"OTHER with a priority", sched.Attr{Priority: 1}, nil, sched.ErrInval},
		{"nice 20", sched.Attr{Nice: 20}, nil, sched.ErrInval},
		{"a policy that does not exist", sched.Attr{Policy: 4}, nil, sched.ErrInval},
		{"a policy of the kernel's own", sched.Attr{Policy: 250}, nil, sched.ErrInval},
		{"no deadline", dl(1*ms, 0, 10*ms), nil, sched.ErrInval},
		{"runtime below a microsecond", dl(1023, 1*ms, 1*ms), nil, sched.ErrInval},
		{"runtime of 1024 ns", dl(1024, 1*ms, 1*ms), nil, nil},
		{"runtime over deadline", dl(2*ms, 1*ms, 10*ms), nil, sched.ErrInval},
		{"deadline over period", dl(1*ms, 10*ms, 5*ms), nil, sched.ErrInval},
		{"period below 100 µs", dl(10*us, 99*us, 99*us), nil, sched.ErrInval},
		{"period of 4.19 s", dl(1*ms, 1*s, 4_194_304_000), nil, nil},
		{"period over 4.19 s", dl(1*ms, 1*s, 4_194_304_001), nil, sched.ErrInval},
		{"deadline with a priority", sched.Attr{Policy: sched.Deadline, Priority: 1, Runtime: 1 * ms, Deadline: 10 * ms}, nil, sched.ErrInval},
		{"not all CPUs", dl(1*ms, 10*ms, 10*ms), []event.CPU{0}, sched.ErrPerm},
		{"95 % of one CPU", dl(95*ms, 100*ms, 100*ms), nil, nil},
		{"a whole CPU", dl(100*ms, 100*ms, 100*ms), nil, nil},
		{"no CPU that exists", sched.Attr{}, []event.CPU{7}, sched.ErrInval},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine.New(quiet(2), event.NewNames(), nil)
			_, err := m.Spawn(0, "t", c.a, c.cpus, &worker{run: s})
			if !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// TestAdmission: what is admitted together may be 95 % of all CPUs; bandwidth comes back at
// the 0-lag time of who leaves, not before.
func TestAdmission(t *testing.T) {
	dl := sched.Attr{Policy: sched.Deadline, Runtime: 90 * ms, Deadline: 100 * ms}
	m := machine.New(quiet(2), event.NewNames(), nil)
	a := spawn(t, m, dl, &worker{run: s})
	spawn(t, m, dl, &worker{run: s})
	small := dl
	small.Runtime = 11 * ms
	if _, err := m.Spawn(0, "t", small, nil, &worker{run: s}); !errors.Is(err, sched.ErrBusy) {
		t.Fatalf("191 %% of two CPUs: %v", err)
	}
	small.Runtime = 10*ms - 1024
	if _, err := m.Spawn(0, "t", small, nil, &worker{run: s}); err != nil {
		t.Fatalf("almost 190 %% of two CPUs: %v", err)
	}
	run(t, m, 45*ms)
	if _, _, err := m.Sched.SetAffinity(0, a.Task, []event.CPU{0}); !errors.Is(err, sched.ErrBusy) {
		t.Errorf("a deadline task on one CPU: %v", err)
	}
	if _, err := m.Sched.SetAttr(0, a.Task, fifo(1)); err != nil {
		t.Fatal(err)
	}
	// Half of its runtime is left: its 0-lag time is half a period before its deadline.
	big := dl
	if _, err := m.Spawn(0, "t", big, nil, &worker{run: s}); !errors.Is(err, sched.ErrBusy) {
		t.Errorf("before the 0-lag time: %v", err)
	}
	run(t, m, 51*ms)
	if _, err := m.Spawn(0, "t", big, nil, &worker{run: s}); err != nil {
		t.Errorf("after the 0-lag time: %v", err)
	}
	cfg := quiet(2)
	cfg.Sched.DLBandwidth = -1
	m = machine.New(cfg, event.NewNames(), nil)
	for range 5 {
		if _, err := m.Spawn(0, "t", dl, []event.CPU{0}, &worker{run: s}); err != nil {
			t.Errorf("without admission control: %v", err)
		}
	}
}
