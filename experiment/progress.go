package experiment

import "sync"

// progress counts runs that are done, from several goroutines.
type progress struct {
	mu          sync.Mutex
	tell        func(done, total int64)
	have, total int64
}

func newProgress(o Options, all []*trial) *progress {
	p := &progress{tell: o.Progress}
	for _, t := range all {
		p.total += int64(len(t.runs))
		if !o.NoWorst {
			p.total++
		}
	}
	return p
}

func (p *progress) done(n int) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.have += int64(n)
	p.tell(p.have, p.total)
}
