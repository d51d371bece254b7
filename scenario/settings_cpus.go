package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/workload"
)

// nohzFullSetting is nohz_full= of the command line.
var nohzFullSetting = Setting{Name: "nohz_full", Values: "CPUs, like 2-3,5; empty: none", Default: "none",
	Meaning: "CPUs that do without their tick for one task alone, too; the kernel's command line",
	set: func(t *tuning, v string) error {
		list, err := t.cpuList(v)
		if err != nil {
			return err
		}
		t.machine.NoHZFullCPUs = list
		if t.machine.NoHZ = machine.NoHZFull; len(list) == 0 {
			t.machine.NoHZ = machine.NoHZIdle
		}
		return nil
	},
	get: func(t *tuning) string {
		if t.machine.NoHZ != machine.NoHZFull {
			return ""
		}
		return cpuText(t.machine.NoHZFullCPUs)
	}}

// isolcpusSetting is isolcpus= of the command line.
var isolcpusSetting = Setting{Name: "isolcpus", Values: "[domain,]CPUs, like 2-3,5; empty: none", Default: "none",
	Meaning: "CPUs without load balancing, which only tasks use that are told to; the kernel's command line",
	set: func(t *tuning, v string) error {
		list, err := t.cpuList(strings.TrimPrefix(v, "domain,"))
		if err == nil && len(list) == t.config.CPUs {
			err = errors.New("no CPU is left for all others")
		}
		t.isolcpus = list
		return err
	},
	get: func(t *tuning) string { return cpuText(t.isolcpus) }}

// cpuList reads a list of CPUs of the machine, in their order; "": none.
func (t *tuning) cpuList(v string) ([]event.CPU, error) {
	if v == "" {
		return nil, nil
	}
	list, err := parseCPUs(v)
	if err != nil {
		return nil, err
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if last := list[len(list)-1]; int(last) >= t.config.CPUs {
		return nil, fmt.Errorf("CPU %d is not one of the %d of this machine", last, t.config.CPUs)
	}
	return list, nil
}

// cpuText is what cpuList reads.
func cpuText(cpus []event.CPU) string { return sysinfo.ListOf(cpus).String() }

// partition makes the scheduler's partitions of what the machine, isolcpus= and the cpusets of the load say, and
// takes isolated CPUs away from tasks that nobody gave any.
func (s *Setup) partition(p *Plan, isolcpus []event.CPU) error {
	cfg := &s.Machine.Sched
	sets, err := workload.CpusetsOf(s.Load.Groups, cfg.CPUs)
	if err != nil {
		return err
	}
	s.cpusets, s.isolcpus = sets, isolcpus
	cfg.Partitions = append(sets.Partitions, p.Partitions...)
	cfg.Isolated = slices.Concat(isolcpus, sets.Isolated, p.Isolated)
	if len(isolcpus) == 0 {
		return nil
	}
	for c := range event.CPU(cfg.CPUs) {
		if !slices.Contains(isolcpus, c) {
			s.Load.CPUs = append(s.Load.CPUs, c)
		}
	}
	return nil
}
