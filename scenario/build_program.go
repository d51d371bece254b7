package scenario

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/workload"
)

// programs puts the programs of a file beside its tasks. How long they run is for the file to say.
func (b *builder) programs(w *rtapp.Whylate) error {
	p := b.plan
	if len(w.Programs) > 0 && len(p.Load.Tasks) == 0 {
		// Without rt-app nobody waits until all threads are there.
		p.Load.Comm, p.Load.Free = "sh", true
	}
	sized := p.CPUs > 0
	for i := range w.Programs {
		prog := &w.Programs[i]
		load, err := programLoad(prog)
		if err != nil {
			return fmt.Errorf("%s: program %s: %w", prog.Pos, prog.Name, err)
		}
		if !sized {
			p.CPUs = max(p.CPUs, load.CPUs)
		}
		for j := range load.Load.Tasks {
			t := &load.Load.Tasks[j]
			t.Name = prog.Name + "-" + t.Name
			if prog.CGroup != "" {
				t.Group = b.group(prog.CGroup)
			}
			for k := range t.Phases {
				moveQueues(t.Phases[k].Ops, p.Load.Queues)
			}
			p.Load.Tasks = append(p.Load.Tasks, *t)
		}
		p.Load.Queues += load.Load.Queues
	}
	return nil
}

// programLoad is the load of a program alone.
func programLoad(prog *rtapp.Program) (*Plan, error) {
	words := strings.Fields(prog.Run)
	if len(words) == 0 {
		words = []string{""}
	}
	var known []string
	for i := range templates {
		t := &templates[i]
		known = append(known, t.Name)
		if t.Name != words[0] {
			continue
		}
		o, err := parseOptions(words[1:])
		if err != nil {
			return nil, err
		}
		for _, opt := range o.list {
			if opt.name == t.lasts {
				return nil, fmt.Errorf("-%s: how long it runs is the \"duration\" of \"global\"", opt.name)
			}
		}
		return FromTemplate(t.Name, words[1:])
	}
	return nil, nearest.Unknown("program", words[0], known)
}

// moveQueues gives queues other numbers, first and on.
func moveQueues(ops []workload.Op, first int) {
	for i := range ops {
		switch ops[i].Kind {
		case workload.OpEnqueue, workload.OpRelease, workload.OpAwait:
			ops[i].Ref += first
		}
	}
}
