package sched

import (
	"math/big"
	"testing"

	"github.com/whylate/whylate/event"
)

// exactCFS is CFS by its definitions, in fractions and without any of the kernel's structures: who has
// run least by weight goes first, a period is shared by weight, who wakes is at most half a latency
// ahead, who is new a slice behind. It is slow and knows one queue only.
type exactCFS struct {
	cfg              *FairConfig
	all              []*exactTask
	curr             *exactTask
	least            *big.Rat // min_vruntime
	next, last, skip *exactTask
	// off bounds how far the virtual run times of the model may be from these: each charge rounds
	// once.
	off int64
}

type exactTask struct {
	p   *Task
	v   *big.Rat
	on  bool
	ran event.Time // since it was picked
}

func (q *exactCFS) of(p *Task) *exactTask {
	for _, e := range q.all {
		if e.p == p {
			return e
		}
	}
	return nil
}

func rat(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func (e *exactTask) weight() int64 {
	if e.p.Attr.Policy == Idle {
		return 3
	}
	return niceWeights[e.p.Attr.Nice+20]
}

// virtual is ns of run time by weight.
func (e *exactTask) virtual(ns *big.Rat) *big.Rat {
	return new(big.Rat).Mul(ns, big.NewRat(1024, e.weight()))
}

func (q *exactCFS) running() (n int, weight int64) {
	for _, e := range q.all {
		if e.on {
			n++
			weight += e.weight()
		}
	}
	return n, weight
}

// left is who has run least.
func (q *exactCFS) left() *exactTask {
	var best *exactTask
	for _, e := range q.all {
		if e.on && (best == nil || e.v.Cmp(best.v) < 0) {
			best = e
		}
	}
	return best
}

func (q *exactCFS) settle() {
	if l := q.left(); l != nil && l.v.Cmp(q.least) > 0 {
		q.least = new(big.Rat).Set(l.v)
	}
}

func (q *exactCFS) charge(delta event.Time) {
	if q.curr == nil || delta <= 0 {
		return
	}
	q.curr.v = new(big.Rat).Add(q.curr.v, q.curr.virtual(rat(int64(delta))))
	q.curr.ran += delta
	q.off += virtualError(delta)
	q.settle()
}

// slice is what e may run, and by how much the model may be off there.
func (q *exactCFS) slice(e *exactTask) (*big.Rat, int64) {
	n, weight := q.running()
	if !e.on {
		n++
		weight += e.weight()
	}
	period := int64(q.cfg.Latency)
	if n > 8 {
		period = int64(n) * int64(q.cfg.MinGranularity)
	}
	s := new(big.Rat).Mul(rat(period), big.NewRat(e.weight(), weight))
	least := rat(int64(q.cfg.MinGranularity))
	if idle := e.p.Attr.Policy == Idle; idle && q.cfg.IdleEntities && q.normals() > 0 {
		least = rat(int64(q.cfg.IdleMinGranularity))
	}
	if s.Cmp(least) < 0 {
		s = least
	}
	return s, period*e.weight()>>32 + 2
}

func (q *exactCFS) normals() int {
	n := 0
	for _, e := range q.all {
		if e.on && e.p.Attr.Policy != Idle {
			n++
		}
	}
	return n
}

func (q *exactCFS) clear(e *exactTask) {
	for _, b := range []**exactTask{&q.next, &q.last, &q.skip} {
		if *b == e {
			*b = nil
		}
	}
}

// margin is a − b and whether the model may see it the other way round.
func (q *exactCFS) margin(a, b *big.Rat, more int64) (over, unsure bool) {
	d := new(big.Rat).Sub(a, b)
	over = d.Sign() > 0
	return over, d.Abs(d).Cmp(rat(2*q.off+more)) <= 0
}

func (q *exactCFS) gran(e *exactTask) *big.Rat {
	return e.virtual(rat(int64(q.cfg.WakeupGranularity)))
}

// behind reports whether b is more than its granularity before a.
func (q *exactCFS) behind(a, b *exactTask) (over, unsure bool) {
	return q.margin(new(big.Rat).Sub(a.v, b.v), q.gran(b), 2)
}

// choice is who runs next; unsure: rounding may make it another.
func (q *exactCFS) choice() (best *exactTask, unsure bool) {
	left := q.left()
	for _, e := range q.all {
		if e.on && e != left {
			_, u := q.margin(e.v, left.v, 0)
			unsure = unsure || u
		}
	}
	best = left
	if q.skip == left {
		var second *exactTask
		for _, e := range q.all {
			if e.on && e != left && (second == nil || e.v.Cmp(second.v) < 0) {
				second = e
			}
		}
		if second != nil {
			over, u := q.behind(second, left)
			if unsure = unsure || u; !over {
				best = second
			}
		}
	}
	for _, b := range []*exactTask{q.next, q.last} {
		if b == nil {
			continue
		}
		over, u := q.behind(b, left)
		if unsure = unsure || u; !over {
			return b, unsure
		}
	}
	return best, unsure
}

// exactRun drives the model and the definitions side by side.
type exactRun struct {
	*load
	q                         *exactCFS
	decisions, unsure, differ int
}

func (r *exactRun) advance(ns event.Time) { r.host.now += ns }

// charged lets both charge up to now.
func (r *exactRun) charged() {
	if e := r.q.curr; e != nil {
		r.q.charge(r.host.now - e.p.execStart)
		r.s.ChargeCurrent(0)
	}
}

// decided compares a decision; who is unsure follows the model.
func (r *exactRun) decided(what string, same, unsure bool) {
	r.decisions++
	switch {
	case same:
	case unsure:
		r.unsure++
	default:
		r.differ++
		r.t.Errorf("%s: the definitions have it otherwise", what)
	}
}

func (r *exactRun) asked() bool { return r.s.NeedResched(0) }

func (r *exactRun) wake(e *exactTask, fork bool) {
	q, before := r.q, r.asked()
	r.charged()
	if fork {
		s, off := q.slice(e)
		q.off += off*1024/e.weight() + virtualError(q.cfg.Latency) + 1
		e.v = new(big.Rat).Add(q.least, e.virtual(s))
		parent := new(big.Rat) // a task that nobody forks begins at 0
		if q.curr != nil {
			parent.Set(q.curr.v)
		}
		if parent.Cmp(e.v) > 0 {
			e.v = parent
		}
		r.s.ForceFork(0, e.p)
		r.s.WakeUpNewTask(0, e.p)
	} else {
		ahead := q.cfg.Latency
		if e.p.Attr.Policy == Idle && q.cfg.IdleEntities {
			ahead = q.cfg.MinGranularity
		}
		if v := new(big.Rat).Sub(q.least, rat(int64(ahead)/2)); v.Cmp(e.v) > 0 {
			e.v = v
		}
		r.s.TryToWakeUp(0, e.p)
	}
	many, _ := q.running()
	e.on = true
	many++
	if q.curr == nil || before {
		return
	}
	over, unsure := q.behind(q.curr, e)
	switch c := q.curr.p.Attr.Policy; {
	case c == Idle && e.p.Attr.Policy != Idle:
		over, unsure = true, false
	case e.p.Attr.Policy != Normal:
		over, unsure = false, false
	}
	r.decided("preemption at a wake", r.asked() == over, unsure)
	if !r.asked() {
		return
	}
	if q.curr.p.Attr.Policy != Idle {
		q.next = e
		if many >= 8 {
			q.last = q.curr
		}
	}
}

func (r *exactRun) ticks() {
	q, before := r.q, r.asked()
	r.charged()
	r.s.SchedulerTick(0)
	n, _ := q.running()
	if q.curr == nil || n < 2 {
		return
	}
	e := q.curr
	s, off := q.slice(e)
	ran := rat(int64(e.ran))
	over, unsure := q.margin(ran, s, off-2*q.off)
	ends := over
	if !over && e.ran >= q.cfg.MinGranularity {
		var first *exactTask
		for _, o := range q.all {
			if o.on && o != e && (first == nil || o.v.Cmp(first.v) < 0) {
				first = o
			}
		}
		ahead, u := q.margin(new(big.Rat).Sub(e.v, first.v), s, off)
		over, unsure = ahead, unsure || u
	}
	if !before {
		r.decided("preemption at a tick", r.asked() == over, unsure)
	}
	if ends {
		q.clear(e)
	}
}

// schedules lets the model choose and compares.
func (r *exactRun) schedules(sleep bool) {
	q := r.q
	r.charged()
	prev := q.curr
	if sleep && prev != nil {
		prev.on = false
		q.clear(prev)
		q.curr = nil
		q.settle()
		r.s.Block(0, event.StateSleeping)
	}
	if q.left() == nil {
		r.s.Schedule(0, false)
		q.curr = nil
		return
	}
	want, unsure := q.choice()
	r.s.Schedule(0, false)
	got := q.of(r.s.Curr(0))
	r.decided("choice", got == want, unsure)
	if got == nil {
		return
	}
	if got != prev {
		q.clear(got)
		got.ran = 0
	}
	q.curr = got
}

// near looks whether all virtual run times are where they should be.
func (r *exactRun) near(what string) {
	for _, e := range r.q.all {
		p := e.p
		d := new(big.Rat).Sub(rat(p.se.vruntime), e.v)
		if e.on && d.Abs(d).Cmp(rat(r.q.off)) > 0 {
			r.t.Fatalf("after %s: task %d has %d, exactly %s, and rounding is at most %d", what, p.PID, p.se.vruntime, e.v.FloatString(1), r.q.off)
		}
	}
}

func (r *exactRun) fork() {
	p, err := r.s.NewTask(event.PID(len(r.tasks)+1), 0, r.attr(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.tasks = append(r.tasks, p)
	e := &exactTask{p: p, v: new(big.Rat)}
	r.q.all = append(r.q.all, e)
	r.wake(e, true)
}

func (r *exactRun) nice(e *exactTask) {
	nice := r.r.IntN(40) - 20
	if nice == e.p.Attr.Nice {
		return // nothing happens then
	}
	r.charged()
	if _, err := r.s.SetUserNice(0, e.p, nice); err != nil {
		r.t.Fatal(err)
	}
	if e.on {
		r.q.clear(e)
	}
	if e == r.q.curr {
		e.ran = 0
	}
}

// TestCFSDecidesAsDefined: the model, which computes as the kernel does, and the definitions in
// fractions decide alike, but where two are nearer to each other than rounding can tell.
func TestCFSDecidesAsDefined(t *testing.T) {
	for seed := range uint64(8) {
		cfg := DefaultConfig(1)
		r := &exactRun{load: newLoad(t, seed, cfg)}
		r.q = &exactCFS{cfg: &r.s.cfg.Fair, least: rat(-1 << 20)}
		most := 2 + int(seed)*2
		for n := 0; n < 1500 && !t.Failed(); n++ {
			r.advance(event.Time(r.r.IntN(1_500_000)))
			what := "a tick"
			switch k := r.r.IntN(16); {
			case k < 5:
				r.ticks()
			case k < 7 && len(r.tasks) > 0:
				what = "a wake"
				if e := r.q.all[r.r.IntN(len(r.q.all))]; !e.on {
					r.wake(e, false)
				}
			case k == 7 && r.q.curr != nil:
				what = "a sleep"
				r.schedules(true)
			case k == 8 && r.q.curr != nil:
				what = "a yield"
				r.charged()
				if n, _ := r.q.running(); n > 1 {
					r.q.clear(r.q.curr)
					r.q.skip = r.q.curr
				}
				r.s.Yield(0)
				r.schedules(false)
			case k == 9 && len(r.tasks) < most:
				what = "a fork"
				r.fork()
			case k == 10 && len(r.tasks) > 0 && r.r.IntN(4) == 0:
				what = "a nice value"
				r.nice(r.q.all[r.r.IntN(len(r.q.all))])
			}
			if r.s.NeedResched(0) && r.r.IntN(3) > 0 {
				r.schedules(false)
			}
			r.near(what)
		}
		t.Logf("seed %d, %d tasks: %d decisions, %d too near to tell, %d differ; virtual run times at most %d ns off", seed, len(r.tasks), r.decisions, r.unsure, r.differ, r.q.off)
		if r.decisions < 300 || r.unsure*50 > r.decisions {
			t.Errorf("seed %d: %d decisions, %d too near to tell", seed, r.decisions, r.unsure)
		}
	}
}
