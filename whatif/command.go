package whatif

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
)

// Command is what makes the change on a running machine, for a shell; "": no command does. A
// comment in it says when, where that matters.
func (k *Known) Command(c *scenario.Change) string {
	switch c.Kind {
	case scenario.ChangeTask:
		return k.taskCommand(c)
	case scenario.ChangeIRQ:
		return k.irqCommand(c)
	case scenario.ChangeSet:
		return setCommand(c)
	case scenario.ChangeRemove:
		return forEach(k.pids(c), "kill %s")
	case scenario.ChangeCGroup:
		return groupCommand(c)
	}
	return ""
}

// groupCommand writes the files of a control group; of a unit of systemd, which writes them again, it sets the properties.
func groupCommand(c *scenario.Change) string {
	path := strings.Trim(c.Pattern, "/")
	unit := path[strings.LastIndexByte(path, '/')+1:]
	managed := strings.HasSuffix(unit, ".service") || strings.HasSuffix(unit, ".slice") || strings.HasSuffix(unit, ".scope")
	var parts, properties []string
	for _, v := range c.Values {
		if p := unitProperty(v); managed && p != "" {
			properties = append(properties, p)
			continue
		}
		parts = append(parts, fmt.Sprintf("echo %s >%s", shell(v.To), shell("/sys/fs/cgroup/"+path+"/"+v.Name)))
	}
	if len(properties) > 0 {
		parts = append([]string{"systemctl set-property --runtime " + shell(unit) + " " + strings.Join(properties, " ")}, parts...)
	}
	return strings.Join(parts, "; ")
}

// unitProperty is a file of a control group as a property of systemd.resource-control(5), "": there is none.
func unitProperty(v scenario.Value) string {
	switch v.Name {
	case "cpu.weight":
		return "CPUWeight=" + v.To
	case "cpu.idle":
		if v.To == "1" {
			return "CPUWeight=idle"
		}
	case "cpu.max":
		quota, period, _ := strings.Cut(v.To, " ")
		q, err := strconv.ParseInt(quota, 10, 64)
		p, err2 := strconv.ParseInt(period, 10, 64)
		switch {
		case quota == "max":
			return "CPUQuota="
		case err == nil && err2 == nil && p > 0 && q*100%p == 0:
			return fmt.Sprintf("CPUQuota=%d%% CPUQuotaPeriodSec=%dus", q*100/p, p)
		}
	}
	return ""
}

// shell is a word as a shell takes it for one.
func shell(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-,:@%+", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// pids are those of the tasks that a change means.
func (k *Known) pids(c *scenario.Change) []string {
	var list []string
	for i := range k.Tasks {
		t := &k.Tasks[i]
		pid := fmt.Sprint(t.PID)
		if c.Matches(t.Comm, pid, t.Comm+"/"+pid) {
			list = append(list, pid)
		}
	}
	return list
}

// mostPIDs bounds how many a command names.
const mostPIDs = 8

// forEach is command, which has %s for the pid, for one or for several.
func forEach(pids []string, command string) string {
	switch {
	case len(pids) == 0:
		return ""
	case len(pids) == 1:
		return fmt.Sprintf(command, pids[0])
	case len(pids) > mostPIDs:
		pids = append(pids[:mostPIDs:mostPIDs], "…")
	}
	return fmt.Sprintf("for p in %s; do %s; done", strings.Join(pids, " "), fmt.Sprintf(command, "$p"))
}

// taskCommand is chrt or taskset, or both.
func (k *Known) taskCommand(c *scenario.Change) string {
	pids := k.pids(c)
	if len(pids) == 0 {
		return ""
	}
	var was sched.Attr
	for i := range k.Tasks {
		if fmt.Sprint(k.Tasks[i].PID) == pids[0] {
			was = k.Tasks[i].Attr
		}
	}
	var parts []string
	switch to := c.Alter(was); {
	case !c.AltersAttr():
	case to.Policy == was.Policy && to.Nice != was.Nice && to.Slice == was.Slice:
		parts = append(parts, forEach(pids, fmt.Sprintf("renice -n %d -p %%s", to.Nice)))
	default:
		parts = append(parts, forEach(pids, chrt(to)))
	}
	if list := c.AllowedCPUs(); list != nil {
		parts = append(parts, forEach(pids, "taskset -cp "+cpuList(list)+" %s"))
	}
	command := strings.Join(parts, "; ")
	if _, ok := c.ExitNormalize(); ok && command == "" {
		command = forEach(pids, "chrt -o -p 0 %s") + "   # before it exits"
	}
	return command
}

// chrt sets attributes; %s is the pid. A nice value is not chrt's.
func chrt(a sched.Attr) string {
	switch a.Policy {
	case sched.FIFO:
		return fmt.Sprintf("chrt -f -p %d %%s", a.Priority)
	case sched.RR:
		return fmt.Sprintf("chrt -r -p %d %%s", a.Priority)
	case sched.Deadline:
		return fmt.Sprintf("chrt -d -T %d -D %d -P %d -p 0 %%s", a.Runtime, a.Deadline, a.Period)
	case sched.Batch:
		return renice(a, "chrt -b -p 0 %s")
	case sched.Idle:
		return "chrt -i -p 0 %s"
	}
	if a.Slice > 0 {
		return renice(a, fmt.Sprintf("chrt -o -T %d -p 0 %%s", a.Slice))
	}
	return renice(a, "chrt -o -p 0 %s")
}

func renice(a sched.Attr, command string) string {
	if a.Nice == 0 {
		return command
	}
	return fmt.Sprintf("%s && renice -n %d -p %%[1]s", strings.Replace(command, "%s", "%[1]s", 1), a.Nice)
}

func cpuList(list []event.CPU) string { return sysinfo.ListOf(list).String() }

// irqCommand moves the interrupt, and changes its thread.
func (k *Known) irqCommand(c *scenario.Change) string {
	bare := *c
	bare.Pattern = strings.TrimPrefix(c.Pattern, "irq/")
	var parts []string
	if list := c.AllowedCPUs(); list != nil {
		for _, q := range k.IRQs {
			if bare.Matches(q.Name, fmt.Sprint(q.Number), fmt.Sprintf("%d-%s", q.Number, q.Name)) {
				parts = append(parts, fmt.Sprintf("echo %s >/proc/irq/%d/smp_affinity_list", cpuList(list), q.Number))
			}
		}
	}
	if c.AltersAttr() {
		for i := range k.Tasks {
			t := &k.Tasks[i]
			name, is := strings.CutPrefix(t.Comm, "irq/")
			_, short, _ := strings.Cut(name, "-")
			if is && bare.Matches(name, short) {
				parts = append(parts, fmt.Sprintf(chrt(c.Alter(t.Attr)), fmt.Sprint(t.PID)))
			}
		}
	}
	return strings.Join(parts, "; ")
}

// setCommand writes settings to where they live, in the order of the change. The kernel looks
// at each write by itself.
func setCommand(c *scenario.Change) string {
	var sysctls, servers, others []string
	for _, v := range c.Values {
		switch v.Name {
		case "sched_rt_runtime_us", "sched_rt_period_us", "sched_rr_timeslice_ms":
			sysctls = append(sysctls, "kernel."+v.Name+"="+v.To)
		case "fair_server_runtime_ns":
			servers = append(servers, "echo "+v.To+" >$d/runtime")
		case "fair_server_period_ns":
			servers = append(servers, "echo "+v.To+" >$d/period")
		case "preempt":
			others = append(others, "echo "+v.To+" >/sys/kernel/debug/sched/preempt")
		case "sched_cfs_bandwidth_slice_us", "sched_autogroup_enabled":
			sysctls = append(sysctls, "kernel."+v.Name+"="+v.To)
		case "latency_ns", "min_granularity_ns", "idle_min_granularity_ns", "wakeup_granularity_ns", "base_slice_ns", "migration_cost_ns", "nr_migrate":
			others = append(others, "echo "+v.To+" >/sys/kernel/debug/sched/"+v.Name)
		default:
			if _, fair := sched.FeatureNamed(v.Name); !fair && !otherFeatures[v.Name] {
				continue
			}
			word := v.Name
			if v.To == "off" || v.To == "0" || v.To == "false" {
				word = "NO_" + word
			}
			others = append(others, "echo "+word+" >/sys/kernel/debug/sched/features")
		}
	}
	if len(sysctls) > 0 {
		others = append(others, "sysctl -w "+strings.Join(sysctls, " "))
	}
	if len(servers) > 0 {
		others = append(others, "for d in /sys/kernel/debug/sched/fair_server/cpu*; do "+strings.Join(servers, "; ")+"; done")
	}
	return strings.Join(others, "; ")
}

// otherFeatures are features of the scheduler that are not of the fair class.
var otherFeatures = map[string]bool{"HRTICK": true, "HRTICK_DL": true, "RT_PUSH_IPI": true, "RT_RUNTIME_SHARE": true, "TTWU_QUEUE": true}
