package workload

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// teardown is how far exit_mmap() has come.
type teardown struct {
	begun    bool
	toUnmap  int64      // pages that come before the next are given back
	pinned   bool       // it holds a spinlock that sleeps
	unmapped int64      // pages that are unmapped and not given back yet
	pieces   bool       // the pieces of the address space are done
	left     event.Time // of giving back, for the end
}

// The sizes in which memory is given back; mm/mmu_gather.c, mm/page_alloc.c.
const (
	pageTable = 512  // pages that are unmapped under one lock
	gathered  = 9690 // pages that are unmapped before they are given back: 19 batches of 510
	listBatch = 512  // pages between two cond_resched() while they are given back
	pcpBatch  = 32   // pages that are given back with preemption off; SWAP_CLUSTER_MAX
)

// exitMM gives the memory up, and does the work of exit_mmap() if nobody else uses it;
// mmput(). Unmapping looks after each page whether it should make way, so it can be
// preempted there under every model. Giving back holds a lock of the CPU's free lists:
// for pcpBatch pages where the kernel can be preempted, for listBatch where it cannot
// anyway; on PREEMPT_RT that lock sleeps, and nothing is held off. Kernels that let long
// lists gather empty them at the end with interrupts off: whoever drops the last reference to
// the address space does, here always the dying task.
func (p *thread) exitMM() machine.Step {
	g, d, c := p.group, &p.tear, &p.run.spec.Costs
	if !d.begun {
		d.begun = true
		if g.users--; g.users > 0 || !g.own() {
			p.dying = freed
			return inKernel(0)
		}
		return p.tearDown(c.ExitMM, 0)
	}
	p.unpin()
	if g.touched > 0 && d.toUnmap == 0 && d.unmapped == 0 {
		d.toUnmap = min(g.touched, gathered)
		d.unmapped, g.touched = d.toUnmap, g.touched-d.toUnmap
	}
	switch {
	case d.toUnmap > 0:
		n := p.pin(d.toUnmap, pageTable)
		d.toUnmap -= n
		return p.tearDown(pages(n, c.ExitPage), c.ExitPage)
	case d.unmapped > 0:
		return p.giveBack()
	case !d.pieces:
		d.pieces = true
		return p.tearDown(pages(g.mm.VMAs, c.ExitVMA), c.ExitVMA)
	case d.left > 0:
		step := machine.Step{Kind: machine.StepRun, Mode: machine.IRQsOff, NS: d.left}
		d.left = 0
		return step
	}
	p.dying = freed
	return inKernel(0)
}

// pin takes the lock under which at most `most` of n pages are worked off, and returns how
// many. Only on PREEMPT_RT that is noticed: there the task may be preempted, but stays on
// its CPU, and at the unlock, if it was, it is charged.
func (p *thread) pin(n, most int64) int64 {
	if p.run.m.Preempt() != sched.PreemptRT {
		return n
	}
	p.tear.pinned = true
	p.run.m.Sched.MigrateDisable(p.th.Task.CPU())
	return min(n, most)
}

// unpin releases it.
func (p *thread) unpin() {
	if p.tear.pinned {
		p.tear.pinned = false
		p.run.m.Sched.MigrateEnable(p.th.Task.CPU())
	}
}

// tearDown is a stretch of the teardown with a cond_resched() after each point.
func (p *thread) tearDown(ns, point event.Time) machine.Step {
	s := inKernel(p.run.spec.Teardown.Of(ns))
	s.CondResched = p.run.spec.Teardown.Of(point)
	return s
}

// giveBack gives the unmapped pages back to the allocator.
func (p *thread) giveBack() machine.Step {
	d, r := &p.tear, p.run
	n, step := int64(pcpBatch), machine.Step{Kind: machine.StepRun, Mode: machine.PreemptOff}
	switch r.m.Preempt() {
	case sched.PreemptRT:
		n, step.Mode = p.pin(d.unmapped, pcpBatch), machine.Kernel
	case sched.PreemptNone, sched.PreemptVoluntary:
		n, step.Point = listBatch, true
	}
	n = min(n, d.unmapped)
	d.unmapped -= n
	step.NS = r.spec.Teardown.Of(pages(n, r.spec.Costs.ExitFree))
	if r.spec.DrainsAtOnce && r.m.Preempt() != sched.PreemptRT {
		// The first pages only go into the lists of the CPU; what that saves is paid at the end.
		now := min(step.NS, max(0, r.spec.Teardown.Of(r.spec.Costs.ExitDrain)-d.left))
		d.left += now
		step.NS -= now
	}
	return step
}
