package machine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// periodic is a task with an implicit deadline that is released every period, from offset
// on, and works for cost. It notes its longest response.
type periodic struct {
	offset, period, cost event.Time
	prio                 int
	rr                   bool

	release event.Time
	busy    bool
	worst   event.Time
	jobs    int
}

func (p *periodic) Next(m *machine.Machine, _ *machine.Thread) machine.Step {
	if p.jobs == 0 && !p.busy {
		p.release = p.offset
	}
	if p.busy {
		p.busy = false
		p.worst = max(p.worst, m.Now()-p.release)
		p.jobs++
		p.release += p.period
	}
	if m.Now() < p.release {
		return machine.Step{Kind: machine.StepSleep, NS: p.release}
	}
	p.busy = true
	return machine.Step{Kind: machine.StepRun, NS: p.cost}
}

func (p *periodic) attr() sched.Attr {
	if p.rr {
		return sched.Attr{Policy: sched.RR, Priority: p.prio}
	}
	return sched.Attr{Policy: sched.FIFO, Priority: p.prio}
}

// quiet is a machine without ticks.
func quiet(cpus int) machine.Config {
	return machine.Config{Sched: sched.DefaultConfig(cpus), NoTick: true}
}

// spawn starts a thread at time 0, on CPU 0.
func spawn(t *testing.T, m *machine.Machine, a sched.Attr, p machine.Program) *machine.Thread {
	t.Helper()
	th, err := m.Spawn(0, "task", a, nil, p)
	if err != nil {
		t.Fatal(err)
	}
	m.Start(0, th)
	return th
}

func run(t *testing.T, m *machine.Machine, until event.Time) {
	t.Helper()
	if err := m.RunUntil(until); err != nil {
		t.Fatal(err)
	}
}

// TestResponseTimeAnalysis: with fixed priorities on one CPU, the longest response of a
// task is at the critical instant, when it is released together with all that go before it;
// R = C + Σ ⌈R/T⌉·C over the higher ones (Joseph and Pandya 1986). With other offsets it is
// never longer.
func TestResponseTimeAnalysis(t *testing.T) {
	exact, bounded := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 2 + r.IntN(6)
		tasks := make([]*periodic, n)
		u := 0.0
		for i := range tasks {
			period := event.Time(1+r.IntN(50)) * 1000
			cost := 1 + event.Time(r.Int64N(int64(period)/int64(n)))
			tasks[i] = &periodic{period: period, cost: cost, prio: 90 - i}
			if seed%2 == 1 {
				tasks[i].offset = event.Time(r.Int64N(int64(period)))
			}
			u += float64(cost) / float64(period)
		}
		if u > 0.99 {
			continue
		}
		m := machine.New(quiet(1), event.NewNames(), nil)
		for _, p := range tasks {
			spawn(t, m, p.attr(), p)
		}
		run(t, m, 2*ms)
		for i, p := range tasks {
			want := response(tasks, i)
			if want > p.period {
				break // its next job waits for this one: the analysis ends here
			}
			switch {
			case seed%2 == 1:
				bounded++
				if p.worst > want {
					t.Fatalf("seed %d task %d of %d with offsets: longest response %d, analysis says at most %d", seed, i, n, p.worst, want)
				}
			case p.worst != want:
				t.Fatalf("seed %d task %d of %d: longest response %d, analysis says %d", seed, i, n, p.worst, want)
			default:
				exact++
			}
		}
	}
	if exact < 1000 || bounded < 1000 {
		t.Errorf("only %d and %d tasks were compared", exact, bounded)
	}
}

func response(tasks []*periodic, i int) event.Time {
	r := tasks[i].cost
	for {
		next := tasks[i].cost
		for _, h := range tasks[:i] {
			next += (r + h.period - 1) / h.period * h.cost
		}
		if next == r || next > 1<<40 {
			return r
		}
		r = next
	}
}

// turn says that from at on a task ran; -1: none.
type turn struct {
	at   event.Time
	task int
}

// onPaper computes who runs when on one CPU: the highest priority, of equal ones who became
// ready first, and a preempted task stays in front of its equals. A task under RR that has
// seen slice ticks goes behind its equals.
func onPaper(tasks []*periodic, slice int, tick, until event.Time) []turn {
	type job struct {
		task  int
		left  event.Time
		ticks int
	}
	var ready [100][]*job // by priority, the first runs first
	next := make([]event.Time, len(tasks))
	jobs := make([]*job, len(tasks))
	for i, p := range tasks {
		next[i] = p.offset
		jobs[i] = &job{task: i, ticks: slice}
	}
	highest := func() *job {
		for prio := 99; prio > 0; prio-- {
			if len(ready[prio]) > 0 {
				return ready[prio][0]
			}
		}
		return nil
	}
	var turns []turn
	for now := event.Time(0); now < until; {
		run := highest()
		// The next thing that happens.
		at := until
		for i := range next {
			if jobs[i].left == 0 {
				at = min(at, max(next[i], now))
			}
		}
		if tick > 0 {
			at = min(at, (now/tick+1)*tick)
		}
		if run != nil {
			at = min(at, now+run.left)
			run.left -= at - now
		}
		id := -1
		if run != nil {
			id = run.task
		}
		if at > now && (len(turns) == 0 || turns[len(turns)-1].task != id) {
			turns = append(turns, turn{now, id})
		}
		now = at
		// At one moment: what is done is over, then come releases, then the tick.
		if run != nil && run.left == 0 {
			p := tasks[run.task]
			if next[run.task] += p.period; next[run.task] <= now {
				run.left = p.cost // late: it goes on without a sleep and keeps its place
			} else {
				ready[p.prio] = ready[p.prio][1:]
			}
		}
		run = highest() // the tick is served together with the releases: it hits who was there
		for i, p := range tasks {
			if jobs[i].left == 0 && next[i] <= now && !slices.Contains(ready[p.prio], jobs[i]) {
				jobs[i].left = p.cost
				ready[p.prio] = append(ready[p.prio], jobs[i])
			}
		}
		if tick > 0 && now%tick == 0 && run != nil && tasks[run.task].rr {
			if run.ticks--; run.ticks == 0 {
				run.ticks = slice
				list := ready[tasks[run.task].prio]
				copy(list, list[1:])
				list[len(list)-1] = run
			}
		}
	}
	return turns
}

// TestScheduleOnPaper compares who ran when with a scheduler of forty lines: priorities,
// order of arrival among equals, round robin by ticks, offsets.
func TestScheduleOnPaper(t *testing.T) {
	switches := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := 2 + r.IntN(7)
		tasks := make([]*periodic, n)
		cfg := machine.Config{Sched: sched.DefaultConfig(1), NoTick: seed%3 == 0}
		tick := event.Time(0)
		if !cfg.NoTick {
			cfg.Sched.Tick = event.Time(5+r.IntN(20)) * 1000
			cfg.Sched.RRTimeslice = 1 + r.IntN(3)
			tick = cfg.Sched.Tick
		}
		for i := range tasks {
			// No two releases fall together: who comes first would be a matter of taste.
			period := event.Time(20+r.IntN(80)) * 1000
			tasks[i] = &periodic{period: period, offset: event.Time(r.IntN(50))*1000 + event.Time(i) + 1,
				cost: 1 + event.Time(r.Int64N(int64(period)*2/int64(n))), prio: 1 + r.IntN(4), rr: tick > 0 && r.IntN(2) == 0}
		}
		var got []turn
		m := machine.New(cfg, event.NewNames(), func(ev *event.Event) {
			if ev.Kind != event.SchedSwitch {
				return
			}
			if k := len(got); k > 0 && got[k-1].at == ev.Time {
				got = got[:k-1] // only who is there in the end counts
			}
			id := int(ev.Next) - 1
			if k := len(got); k == 0 || got[k-1].task != id {
				got = append(got, turn{ev.Time, id})
			}
		})
		for _, p := range tasks {
			spawn(t, m, p.attr(), p)
		}
		const until = 1 * ms
		run(t, m, until)
		if len(got) > 0 && got[len(got)-1].at == until {
			got = got[:len(got)-1]
		}
		if k := len(got); k > 1 && got[k-1].task == got[k-2].task {
			got = got[:k-1]
		}
		want := onPaper(tasks, cfg.Sched.RRTimeslice, tick, until)
		if !slices.Equal(got, want) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("seed %d: turn %d is %v, on paper %v", seed, i, got[i], want[i])
				}
			}
			t.Fatalf("seed %d: %d turns, on paper %d: %v, %v", seed, len(got), len(want), got[len(got)-1], want[len(want)-1])
		}
		switches += len(got)
	}
	if switches < 50_000 {
		t.Errorf("only %d turns were compared", switches)
	}
}

// TestRoundRobinTurns: tasks of one priority that never sleep get 100 ms each, in ticks, one
// after the other and all the same; a more important one only delays them.
func TestRoundRobinTurns(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := 2 + r.IntN(6)
		cfg := machine.Config{Sched: sched.DefaultConfig(1)}
		var runs []turn
		m := machine.New(cfg, event.NewNames(), func(ev *event.Event) {
			if ev.Kind == event.SchedSwitch {
				runs = append(runs, turn{ev.Time, int(ev.Next)})
			}
		})
		for range n {
			spawn(t, m, sched.Attr{Policy: sched.RR, Priority: 10}, &worker{run: s})
		}
		disturbed := r.IntN(2) == 0
		if disturbed {
			spawn(t, m, sched.Attr{Policy: sched.FIFO, Priority: 20}, &periodic{period: 7 * ms, offset: event.Time(r.IntN(7000)) * us, cost: 500 * us})
		}
		turns := event.Time(3)
		run(t, m, turns*event.Time(n)*100*ms+10*ms)
		if disturbed {
			// A turn is 25 ticks that hit its owner, so it is longer; but the order stays.
			next := 0
			for _, run := range runs {
				switch i := run.task - 1; {
				case i >= n, i == next:
				case i == (next+1)%n:
					next = i
				default:
					t.Fatalf("seed %d: after task %d of %d it is %d's turn", seed, next, n, i)
				}
			}
			continue
		}
		for i, run := range runs[1:] {
			if want := (i+1)%n + 1; run.task != want || run.at != event.Time(i+1)*100*ms {
				t.Fatalf("seed %d: turn %d begins at %d with %d, want %d", seed, i+1, run.at, run.task, want)
			}
		}
		if len(runs) != int(turns)*n+1 {
			t.Fatalf("seed %d: %d turns of %d tasks", seed, len(runs), n)
		}
	}
}
