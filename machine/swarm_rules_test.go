package machine_test

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// highest reports whether the best task of each CPU runs there, unless the current one
// cannot be made to leave.
func (s *swarm) highest() error {
	for c := range event.CPU(s.m.CPUs()) {
		curr := s.m.Sched.Curr(c)
		if !s.free || s.kept[c] || !s.m.Preemptible(c) {
			continue
		}
		for _, p := range s.tasks {
			if !p.OnRQ() || p.CPU() != c || p == curr || p.Throttled() {
				continue
			}
			if p.Parked() || p.QuotaThrottled() || p.Prio().RealTime() && s.m.Sched.RTThrottled(c) || s.served(c, p) {
				continue
			}
			if goesBefore(p, curr) {
				return fmt.Errorf("CPU %d runs %d (prio %d) while %d (prio %d) waits there", c, curr.PID, curr.Prio(), p.PID, p.Prio())
			}
		}
	}
	return nil
}

// served reports whether the current task of c runs by the fair server, which goes before p:
// a real-time task, or a deadline task whose deadline is no earlier.
func (s *swarm) served(c event.CPU, p *sched.Task) bool {
	if !s.m.Sched.FairServed(c) {
		return false
	}
	server, _ := s.m.Sched.FairServer(c).Deadline()
	own, _ := p.Deadline()
	return !p.Prio().Deadline() || server <= own
}

// goesBefore reports whether p is of a higher class or priority than curr.
func goesBefore(p, curr *sched.Task) bool {
	switch {
	case strings.HasPrefix(policyOf(curr), "stop"):
		return false
	case curr.PID == 0:
		return true
	case curr.Throttled():
		return true
	case p.Prio().Deadline() && curr.Prio().Deadline():
		a, _ := p.Deadline()
		b, _ := curr.Deadline()
		return a < b
	case p.Prio().Fair() && curr.Prio().Fair():
		return false
	}
	return p.Prio() < curr.Prio()
}

// policyOf tells the stopper, which has the priority of FIFO 99.
func policyOf(p *sched.Task) string {
	if p.Attr.Policy > sched.Deadline {
		return "stop"
	}
	return p.Attr.Policy.String()
}
