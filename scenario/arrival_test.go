package scenario_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
)

const arriving = `{"global":{"duration":1,"default_policy":"SCHED_FIFO"},
"tasks":{"ctl":{"priority":60,"delay":100,"run":1000,"timer":{"ref":"unique","period":10000,"mode":"absolute"}},
 "work":{"priority":50,"run":500,"sleep":7000}},
"whylate":{"cost_table":"zero","irqs":{"14-pata":{"every":3000,"hard":10}}}}`

func arrivingPlan(t *testing.T) *scenario.Plan {
	t.Helper()
	p, err := scenario.Read("x.json", []byte(arriving), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func jobsOf(t *testing.T, s *scenario.Setup) []scenario.Job {
	t.Helper()
	var jobs []scenario.Job
	p := scenario.Probe{Job: func(j scenario.Job) { jobs = append(jobs, j) }}
	if err := p.Run(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		jobs[i].Released -= p.Zero
	}
	return jobs
}

// TestArrivalsAreChanged: what a change says is what Arrive makes, and the releases are where
// they say.
func TestArrivalsAreChanged(t *testing.T) {
	p := arrivingPlan(t)
	list := []scenario.Arrival{{Index: 0, Delay: 2_345_678, Later: []event.Time{0, 1_500, 0, 2_000_000}}, {Index: 1, Delay: event.NoTime, Later: []event.Time{9}}, {IRQ: true, Index: 0, Delay: 1_001}}
	changes := p.ArrivalChanges(list)
	want := []string{"arrivals=ctl delay=2345.678us later=2:1.500us,4:2000us", "arrivals=work later=1:0.009us", "arrivals=irq/pata delay=1.001us"}
	if d := cmp.Diff(want, changes); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	before := jobsOf(t, setup)
	arrived := jobsOf(t, setup.Arrive(list))
	if d := cmp.Diff(before, jobsOf(t, setup)); d != "" {
		t.Errorf("Arrive changed the setup that it was asked of:\n%s", d)
	}
	for _, c := range changes {
		if err := p.Change(c); err != nil {
			t.Fatal(err)
		}
	}
	changed, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(arrived, jobsOf(t, changed)); d != "" {
		t.Errorf("(-Arrive +Change)\n%s", d)
	}
	var got []event.Time
	for _, j := range arrived {
		if j.Task == 0 && len(got) < 5 {
			got = append(got, j.Released)
		}
	}
	first := event.Time(2_345_678 + 10_000_000)
	if d := cmp.Diff([]event.Time{first, first + 10_001_500, first + 20_001_500, first + 32_001_500, first + 42_001_500}, got); d != "" {
		t.Errorf("releases (-want +got)\n%s", d)
	}
}

func TestArrivalsThatMakeNoSenseAreRefused(t *testing.T) {
	for change, want := range map[string]string{
		"arrivals=ctl":                       "says nothing about the task or interrupt",
		"arrivals=ctl delay=-1us":            `"-1us" is no time such as 20us`,
		"arrivals=ctl delay=1.0001us":        `"1.0001us" is no time such as 20us`,
		"arrivals=ctl delay=90000s":          `"90000s" is no time such as 20us`,
		"arrivals=ctl later=0:1us":           "later wants NUMBER:TIME",
		"arrivals=ctl later=4000000:1us":     "later wants NUMBER:TIME",
		"arrivals=ctl later=1:1us,,":         "later wants NUMBER:TIME",
		"arrivals=ctl policy=fifo":           "no word of this change",
		"arrivals=clt delay=1us":             `no task of the scenario is called "clt"`,
		"arrivals=irq/pat delay=1us":         "did you mean",
		"arrivals=irq/14-pata later=1:1us":   "an interrupt has no sleeps",
		"arrivals=irq/14-pata delay=xx":      "is no time",
		"arrivals=ctl delay=9999999999999ms": "is no time",
	} {
		err := arrivingPlan(t).Change(change)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}
