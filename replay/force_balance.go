package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// forcedMove is a recorded migration of a waiting task, which the model is asked about.
type forcedMove struct {
	at       event.Time
	task     *forced
	from, to event.CPU
	done     bool // the model did it by itself
	counted  bool // it is a decision of the balancing
	// charged: a charge that turned the order of deadline tasks is told just before the move that made it.
	charged bool
	// wanted: the model wanted it before it was recorded; turn, by a counter.
	wanted, turn bool
}

// Move lets the model do what the trace has, and nothing else.
func (f *forcer) Move(p *sched.Task, from, to event.CPU) bool {
	f.proposed = proposal{p, from, to}
	for i := range f.moves {
		if m := &f.moves[i]; !m.done && m.task.task == p && m.from == from && m.to == to {
			m.done = true
			return true
		}
	}
	if t, ok := p.Data.(*forced); ok {
		t.refused = refusal{from: from, to: to, turn: f.sched.TookTurn(), switches: f.cpus[from].switches, on: true}
	}
	return false
}

// refusal is the last move of a task that the model wanted and the trace did not have yet. To take
// a task from its queue charges the current one there, so that the kernel, which is about to do
// it, shows a state that it decided before.
type refusal struct {
	from, to event.CPU
	turn, on bool
	switches int64 // of the CPU where it waits
}

// wanted reports whether the model has wanted to move m's task like that since the last switch there.
func (f *forcer) wanted(m *forcedMove) (yes, turn bool) {
	r := &m.task.refused
	yes = r.on && r.from == m.from && r.to == m.to && r.switches == f.cpus[m.from].switches
	r.on = false
	return yes, r.turn
}

// turned is the last charge by which a deadline task lost its place: of the current task of cpu, by
// the event at of the run of another CPU, or the same.
type turned struct {
	cpu, by event.CPU
	at      int64
}

// proposal is the last move that the model wanted.
type proposal struct {
	task     *sched.Task
	from, to event.CPU
}

// moved follows the migration of a waiting task. A push is asked for at once; a CPU pulls amid its
// choice of the next task, and that is what the model then does, too.
func (f *forcer) moved(ev *event.Event, t *forced) {
	p := t.task
	m := forcedMove{at: f.now, task: t, from: p.CPU(), to: ev.Target}
	curr := f.sched.Curr(ev.CPU)
	rank := p.Rank()
	if rank == sched.RankFair {
		f.movedFair(ev, t)
		return
	}
	switch {
	case rank != sched.RankDL && rank != sched.RankRT || !f.mayUse(t, m.from):
		// Who may not stay has to go.
	case curr.Rank() == sched.RankStop:
		f.scores.row(rank, Balance).undecide("by_the_stopper")
	case t.unsure:
		f.scores.row(rank, Balance).undecide(reasonUnseen)
	default:
		m.counted = true
		if m.wanted, m.turn = f.wanted(&m); m.wanted {
			break
		}
		m.charged = f.turned.cpu == m.from && f.turned.by == ev.CPU && f.turned.at == f.cpus[ev.CPU].runEvents-1
		f.proposed = proposal{}
		if f.pulling(&m) && ev.CPU == m.to {
			f.moves = append(f.moves, m)
			return
		}
		f.moves = append(f.moves, m)
		f.sched.AskPush(ev.CPU, m.from, p, ev.CPU == m.from)
		last := &f.moves[len(f.moves)-1]
		if !last.done && ev.CPU == m.to && len(f.moves) <= mostForcedCPUs {
			return // it waits for the switch; a CPU pulls no more than one task from each
		}
		m = *last
		f.moves = f.moves[:len(f.moves)-1]
	}
	f.settleMove(&m, ev.CPU, curr.Rank() == sched.RankStop)
}

// settleMove scores a move and makes it, if the model has not.
func (f *forcer) settleMove(m *forcedMove, at event.CPU, stopped bool) {
	p := m.task.task
	if m.counted {
		f.scoreMove(m, at)
	}
	if !m.done {
		f.sched.ForceMove(at, p, m.to)
		// Who pushes or pulls has looked whether the task will run; who changes its affinity
		// asks whether it should.
		if stopped || !f.mayUse(m.task, m.from) {
			f.sched.ForceCheck(at, p)
		}
	}
	f.relist(m.task)
	f.disturb(m.task)
}

// scoreMove compares a recorded move with what the model wanted.
func (f *forcer) scoreMove(m *forcedMove, at event.CPU) {
	rank := m.task.task.Rank()
	row := f.scores.row(rank, Balance)
	w := f.proposed
	if m.wanted && m.turn || !m.wanted && w.task == m.task.task && w.from == m.from && f.sched.TookTurn() {
		row.undecide("counter_unseen")
		return
	}
	longest := m.task.list != nil && m.task.list.head == m.task
	if m.done {
		longest = m.longestOf(f)
	}
	if m.charged {
		row.undecide("charged_meanwhile")
		return
	}
	row.count(m.done || m.wanted, longest)
	if m.done || m.wanted {
		return
	}
	r, model := f.chose(m.task.task), Choice{PID: event.NoPID, CPU: event.NoCPU, From: event.NoCPU}
	r.From, r.CPU = m.from, m.to
	if w.task != nil {
		model = f.chose(w.task)
		model.From, model.CPU = w.from, w.to
	}
	f.miss(rank, Balance, at, r, model, m.task.task)
}

// longestOf reports whether nobody of the class waits longer where the task came from.
func (m *forcedMove) longestOf(f *forcer) bool {
	head := f.cpus[m.from].waiting[m.task.task.Rank()].head
	return head == nil || head == m.task || head.since >= m.task.since
}

// settleMoves settles the moves that still wait for a switch of c, or with NoCPU those that have
// waited too long.
func (f *forcer) settleMoves(c event.CPU) {
	for i := 0; i < len(f.moves); {
		m := f.moves[i]
		if c == event.NoCPU && f.now-m.at < longPull || c != event.NoCPU && m.to != c {
			i++
			continue
		}
		if !m.done {
			f.sched.AskPull(m.to, m.task.task)
			m = f.moves[i]
		}
		f.moves = append(f.moves[:i], f.moves[i+1:]...)
		f.settleMove(&m, m.to, false)
	}
}

// pulls reports whether a move of t to c waits for the switch there.
func (f *forcer) pulls(t *forced, c event.CPU) bool {
	for i := range f.moves {
		if f.moves[i].task == t && f.moves[i].to == c {
			return true
		}
	}
	return false
}

// pulling reports whether the CPU to which m goes is pulling: another move there waits for its switch.
func (f *forcer) pulling(m *forcedMove) bool {
	for i := range f.moves {
		if o := &f.moves[i]; !o.done && o.to == m.to && o.from != m.from && len(f.moves) < mostForcedCPUs {
			return true
		}
	}
	return false
}

// longPull is how long before the switch of a CPU it may have pulled.
const longPull event.Time = 100_000

// amidPick are the kinds that are recorded between a pull and the switch.
var amidPick = event.Kinds(event.SchedSwitch, event.SchedStatRuntime, event.SchedMigrateTask, event.HrtimerStart, event.HrtimerCancel)

// flushMoves settles moves that cannot wait for a switch any longer: something else happens to
// the task, or where it came from.
func (f *forcer) flushMoves(ev *event.Event, step timeline.Step) {
	f.settleMoves(event.NoCPU)
	for i := 0; i < len(f.moves); i++ {
		m := &f.moves[i]
		waits := ev.CPU != m.to || amidPick.Has(ev.Kind)
		about := (step.Task == m.task.tl || step.Next == m.task.tl) && !(ev.Kind == event.SchedSwitch && ev.CPU == m.to)
		if waits && !about && !(ev.Kind == event.SchedSwitch && ev.CPU == m.from) {
			continue
		}
		f.settleMoves(m.to)
		i = -1
	}
}
