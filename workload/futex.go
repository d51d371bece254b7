package workload

import (
	"slices"

	"github.com/whylate/whylate/machine"
)

// enterFutex pays for a futex call before its work is done; false if that is paid, or costs
// nothing.
func (p *thread) enterFutex() (machine.Step, bool) {
	cost := p.run.spec.Costs.Futex
	if cost <= 0 || p.inFutex {
		p.inFutex = false
		return machine.Step{}, false
	}
	p.inFutex = true
	return inKernel(cost), true
}

// releaseAll is what the kernel does with the locks of a task that dies, at the beginning of
// exit_mm(): futex_exit_release(). First the robust list, the newest lock first: each is
// marked, and one waiter of a plain one woken, who finds that its owner died. Then PI locks
// that somebody waits for are handed over. All others stay locked for ever.
func (p *thread) releaseAll() {
	for _, mu := range slices.Backward(slices.Clone(p.robust)) {
		mu.ownerDied = true
		if !mu.pi || len(mu.waiters) == 0 {
			p.release(mu)
		}
	}
	p.robust = nil
	for _, mu := range slices.Clone(p.held) {
		if len(mu.waiters) > 0 {
			p.release(mu)
		}
	}
}

// take makes p the owner of mu, which was open or is handed over to it. Of a robust one
// whose owner died it hears so (EOWNERDEAD) and puts what it protects in order.
func (p *thread) take(mu *mutex) {
	mu.owner = p
	if mu.pi {
		p.held = append(p.held, mu)
	}
	if mu.robust {
		p.robust = append(p.robust, mu)
		if mu.ownerDied {
			mu.ownerDied = false
			p.run.ownerDeaths++
		}
	}
}

// OwnerDeaths is how often a lock of a dead owner was taken over with EOWNERDEAD.
func (r *Run) OwnerDeaths() int { return r.ownerDeaths }
